/*
 * Fuzzes what is read out of shared memory without a NIC: the area's head, registrations,
 * datagrams, rings, memory handles, entries of queues. Bytes of the input lie scattered over a
 * valid area; it is exactly as long as it must be, so that the sanitizer sees the first byte too
 * far.
 */
#include "area_check.h"
#include "gni_remote.h"
#include "fuzz_input.h"

#define SLOTS 16u
#define CHANGES 64

static uint8_t *area, *ring;
static uint8_t *changed[CHANGES], before[CHANGES];
static int changes;

static void put_byte(uint8_t *at, uint8_t value)
{
    if (changes == CHANGES)
        return;
    changed[changes] = at;
    before[changes++] = *at;
    *at = value;
}

static void restore(void)
{
    while (changes > 0) {
        changes--;
        *changed[changes] = before[changes];
    }
    memset(ring, 0, gni_ring_bytes(SLOTS));
    gni_ring_build((struct gni_ring *)(void *)ring, SLOTS);
}

static void build(void)
{
    struct gni_view view;

    area = aligned_alloc(64, (gni_area_bytes() + 63) & ~63ull);
    ring = aligned_alloc(64, gni_ring_bytes(SLOTS));
    must(area != NULL && ring != NULL, "memory");
    memset(area, 0, gni_area_bytes());
    gni_area_build(area, 33, 0x4242, 1, 2);
    must(gni_view_open(&view, area, gni_area_bytes()) == 0, "a valid area is refused");
    for (uint32_t i = 0; i < 4; i++) {
        view.mdh[i] = (struct gni_mdh){.address = 4096,
                                       .length = 300,
                                       .base = 4096,
                                       .key = {i, 1, 7},
                                       .ring = {1, 1, 0, gni_ring_bytes(SLOTS)},
                                       .ring_slots = SLOTS};
        atomic_store(&view.mdh[i].generation, 2 * i + 1);
        atomic_store(&view.datagram[i].state, GNI_EXCHANGE_LOCAL_READY);
        view.datagram[i].pe = i;
    }
    view.mdh[3].segment_count = 3;
    view.mdh[3].address = view.mdh[3].base = 0;
    for (uint32_t i = 0; i < 3; i++)
        view.segment[i] = (struct gni_segment){i * 100, 100, 0, {i, 1, 9}};
    atomic_store(&view.area->datagrams_high, 4);
    restore();
}

/* Over the first records of a table, or anywhere. */
static void scatter(struct input *in)
{
    struct gni_view view;
    uint8_t *const place[] = {area, NULL, NULL, NULL, ring};
    static const size_t reach[] = {128, 8 * sizeof(struct gni_mdh), 8 * sizeof(struct gni_segment),
                                   8 * sizeof(struct gni_datagram), GNI_RING_HEADER + SLOTS * 8};
    uint32_t which = (uint32_t)number(in, 1) % 6;

    if (which == 5) {
        put_byte(area + wild(in) % gni_area_bytes(), (uint8_t)number(in, 1));
        return;
    }
    view = (struct gni_view){.area = (struct gni_area *)(void *)area};
    uint8_t *at = place[which];
    if (at == NULL)
        at = area + sizeof(*view.area) + (which > 1 ? GNI_MDHS * sizeof(struct gni_mdh) : 0) +
             (which > 2 ? GNI_SEGMENTS * sizeof(struct gni_segment) : 0);
    uint64_t offset = number(in, 2) % (reach[which] / 8) * 8, value = wild(in);
    for (int i = 0; i < 8; i++)
        put_byte(at + offset + i, (uint8_t)(value >> 8 * i));
}

static void use_area(struct input *in)
{
    struct gni_view view;
    struct gni_mdh copy;
    char text[256];
    struct gni_findings f = {text, number(in, 1) % sizeof(text), 0, 0};

    if (gni_view_open(&view, area, gni_area_bytes()) != 0)
        return;
    for (uint32_t i = 0; i < 8; i++)
        (void)gni_mdh_copy(&view, (uint32_t)number(in, 1) << i, i, &copy);
    gni_area_check(&view, &f);
}

/* As an initiator does it: the number of places was checked against the memory. */
static void use_ring(struct input *in)
{
    struct gni_ring *r = (struct gni_ring *)(void *)ring;
    char text[256];
    struct gni_findings f = {text, sizeof(text), 0, 0};
    uint64_t event;

    switch (number(in, 1) % 4) {
    case 0:
        (void)gni_ring_append(r, SLOTS, number(in, 7) | 5ull << 56);
        break;
    case 1:
        (void)gni_ring_take(r, SLOTS, &event);
        break;
    case 2:
        (void)gni_ring_waits(r, SLOTS);
        break;
    default:
        gni_ring_check(r, gni_ring_bytes(SLOTS), &f);
    }
}

static void use_words(struct input *in)
{
    gni_mem_handle_t handle = {number(in, 8), number(in, 8)};
    gni_cq_entry_t entry = wild(in);
    char text[64];
    uint32_t recoverable;

    if (gni_handle_is_valid(&handle))
        must(gni_handle_index(&handle) < GNI_MDHS, "an index out of the table");
    gni_handle_make(&handle, (uint32_t)wild(in), wild(in), (uint32_t)wild(in), (uint32_t)wild(in),
                    GNI_HANDLE_NEW | (uint32_t)number(in, 1));
    must(gni_handle_is_valid(&handle), "a handle that was made is refused");
    handle.qword1 ^= 1ull << number(in, 1) % 64;
    must(!gni_handle_is_valid(&handle), "a flipped bit was not noticed");
    (void)GNI_CqErrorStr(entry, text, (uint32_t)number(in, 1) % sizeof(text));
    (void)GNI_CqErrorRecoverable(entry, &recoverable);
    gni_cq_set_tid(&entry, wild(in));
    gni_cq_set_inst_id(&entry, wild(in));
    (void)gni_amo_apply((uint32_t)number(in, 2) & 0x3ff, wild(in), wild(in), wild(in));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const uint8_t seed[] = {0, 1, 0, 0, 7, 1, 9, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 1, 2,
                                   3, 4, 5, 6, 7, 2, 1, 2, 3, 0, 5, 3, 1, 2, 3, 4, 5, 6, 7};

    write_seed(*argc, *argv, "seed-area", seed, sizeof(seed));
    write_long_seed(*argc, *argv);
    build();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};

    while (in.size > 0) {
        switch (number(&in, 1) % 4) {
        case 0:
            scatter(&in);
            break;
        case 1:
            use_area(&in);
            break;
        case 2:
            use_ring(&in);
            break;
        default:
            use_words(&in);
        }
    }
    restore();
    return 0;
}
