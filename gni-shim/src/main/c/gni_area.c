/* Layout, rings and memory handles; nothing here knows a NIC, so that it can be fuzzed alone. */
#include "gni_area.h"
#include <errno.h>
#include <string.h>

#define RING_TRIES 100000

static uint64_t segments_at(void)
{
    return sizeof(struct gni_area) + (uint64_t)GNI_MDHS * sizeof(struct gni_mdh);
}

static uint64_t datagrams_at(void)
{
    return segments_at() + (uint64_t)GNI_SEGMENTS * sizeof(struct gni_segment);
}

uint64_t gni_area_bytes(void)
{
    return datagrams_at() + (uint64_t)GNI_DATAGRAMS * sizeof(struct gni_datagram);
}

void gni_area_build(void *memory, uint32_t ptag, uint32_t cookie, uint32_t pe, uint32_t inst)
{
    struct gni_area *area = memory;

    area->magic = GNI_AREA_MAGIC;
    area->version = GNI_AREA_VERSION;
    area->ptag = ptag;
    area->cookie = cookie;
    area->pe = pe;
    area->inst = inst;
    area->bytes = gni_area_bytes();
}

int gni_view_open(struct gni_view *view, void *memory, uint64_t bytes)
{
    uint8_t *at = memory;
    const struct gni_area *area = memory;

    if (bytes < gni_area_bytes() || area->magic != GNI_AREA_MAGIC ||
        area->version != GNI_AREA_VERSION || area->bytes != gni_area_bytes())
        return -EPROTO;
    view->area = memory;
    view->mdh = (struct gni_mdh *)(void *)(at + sizeof(struct gni_area));
    view->segment = (struct gni_segment *)(void *)(at + segments_at());
    view->datagram = (struct gni_datagram *)(void *)(at + datagrams_at());
    return 0;
}

int gni_mdh_copy(const struct gni_view *view, uint32_t index, uint32_t entropy,
                 struct gni_mdh *copy)
{
    const struct gni_mdh *mdh = &view->mdh[index & (GNI_MDHS - 1)];
    /* Partner: the release store in gni_mdh_publish; the fence orders the copy before the second
     * look. */
    uint32_t before = atomic_load_explicit(&mdh->generation, memory_order_acquire);

    if (!(before & 1) || ((before >> 1) & GNI_ENTROPY_MASK) != entropy)
        return -ESTALE;
    memcpy((void *)copy, (const void *)mdh, sizeof(*copy));
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&mdh->generation, memory_order_relaxed) == before ? 0 : -ESTALE;
}

/* ---- rings ---- */

static uint64_t round_up(uint64_t capacity)
{
    uint64_t slots = 4;

    while (slots < capacity)
        slots *= 2;
    return slots;
}

static _Atomic uint64_t *word_of(struct gni_ring *ring, uint64_t slots, uint64_t position)
{
    uint8_t *base = (uint8_t *)ring + GNI_RING_HEADER;

    return (_Atomic uint64_t *)(void *)(base + (position & (slots - 1)) * 8);
}

uint64_t gni_ring_bytes(uint64_t capacity)
{
    return GNI_RING_HEADER + round_up(capacity) * 8;
}

void gni_ring_build(struct gni_ring *ring, uint64_t capacity)
{
    ring->slots = round_up(capacity);
    ring->capacity = capacity;
    for (uint64_t i = 0; i < ring->slots; i++)
        atomic_store_explicit(word_of(ring, ring->slots, i), gni_ring_empty(i),
                              memory_order_relaxed);
}

int gni_ring_append(struct gni_ring *ring, uint64_t slots, uint64_t event)
{
    uint64_t capacity = ring->capacity;

    if (capacity > slots)
        capacity = slots;
    for (int tries = 0; tries < RING_TRIES; tries++) {
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        /* Before the word: an event that lies there afterwards, in a ring that is not full, is the
         * one of this very position. Partner: the release store in gni_ring_take. */
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
        uint64_t next = tail + 1, seen = gni_ring_empty(tail);

        SNIC_STEP("gni.event.place");
        if (tail - head >= capacity) {
            if (atomic_load_explicit(&ring->tail, memory_order_acquire) != tail)
                continue;
            break;
        }
        /* Release: partner is the acquire load in gni_ring_take. Sequence: claims and publishes. */
        if (atomic_compare_exchange_strong_explicit(word_of(ring, slots, tail), &seen, event,
                                                    memory_order_release, memory_order_acquire)) {
            SNIC_STEP("gni.event.stored");
            atomic_compare_exchange_strong_explicit(&ring->tail, &tail, next, memory_order_release,
                                                    memory_order_relaxed);
            return 0;
        }
        if (gni_ring_is_event(seen))
            atomic_compare_exchange_strong_explicit(&ring->tail, &tail, next, memory_order_release,
                                                    memory_order_relaxed);
    }
    SNIC_STEP("gni.event.lost");
    atomic_store_explicit(&ring->overrun, 1, memory_order_release);
    return 1;
}

int gni_ring_has_event(struct gni_ring *ring, uint64_t slots)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    return gni_ring_is_event(
        atomic_load_explicit(word_of(ring, slots, head), memory_order_acquire));
}

int gni_ring_waits(struct gni_ring *ring, uint64_t slots)
{
    if (atomic_load_explicit(&ring->overrun, memory_order_acquire))
        return 2;
    return gni_ring_has_event(ring, slots);
}

int gni_ring_take(struct gni_ring *ring, uint64_t slots, uint64_t *event)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    _Atomic uint64_t *word = word_of(ring, slots, head);
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

    if (!gni_ring_is_event(seen))
        return 0;
    /* The tail must not stay behind the head, also if its writer died. */
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail == head)
        atomic_compare_exchange_strong_explicit(&ring->tail, &tail, head + 1, memory_order_release,
                                                memory_order_relaxed);
    SNIC_STEP("gni.event.taken");
    atomic_store_explicit(word, gni_ring_empty(head + slots), memory_order_relaxed);
    SNIC_STEP("gni.event.emptied");
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    *event = seen;
    return 1;
}

/* ---- memory handles ---- */

/* Polynomial 0x8c, least bit first, by half bytes. */
static uint8_t crc8(const gni_mem_handle_t *handle)
{
    static const uint8_t half[16] = {0x00, 0x9d, 0x23, 0xbe, 0x46, 0xdb, 0x65, 0xf8,
                                     0x8c, 0x11, 0xaf, 0x32, 0xca, 0x57, 0xe9, 0x74};
    uint8_t crc = 0;

    for (int i = 0; i < 15; i++) {
        crc ^= (uint8_t)((i < 8 ? handle->qword1 >> (8 * i) : handle->qword2 >> (8 * (i - 8))));
        crc = (uint8_t)(half[crc & 15] ^ crc >> 4);
        crc = (uint8_t)(half[crc & 15] ^ crc >> 4);
    }
    return crc;
}

void gni_handle_make(gni_mem_handle_t *handle, uint32_t inst, uint64_t incarnation, uint32_t index,
                     uint32_t entropy, uint32_t flags)
{
    handle->qword1 = (incarnation & GNI_INCARNATION_MASK) | (uint64_t)entropy << 44;
    handle->qword2 =
        inst | (uint64_t)(flags & 0xffu) << 34 | (uint64_t)(index & (GNI_MDHS - 1)) << 42;
    handle->qword2 |= (uint64_t)crc8(handle) << 56;
}

int gni_handle_is_valid(const gni_mem_handle_t *handle)
{
    return handle->qword2 != 0 && (gni_handle_flags(handle) & GNI_HANDLE_NEW) &&
           (uint8_t)(handle->qword2 >> 56) == crc8(handle);
}
