/*
 * Random sequences of API calls: three interfaces in one process, with right and with wrong
 * handles, sizes, indices and options from the input. Nothing may be read or written outside what
 * it was given (the sanitizers watch), the invariant checker finds nothing, and when everything was
 * unlinked nothing is left.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "portals3.h"
#include "portals3_ext.h"

/* Declared in the CRAY flavour only. */
int PtlGetPutRegion(ptl_handle_md_t, ptl_size_t, ptl_handle_md_t, ptl_size_t, ptl_size_t,
                    ptl_process_id_t, ptl_pt_index_t, ptl_ac_index_t, ptl_match_bits_t, ptl_size_t,
                    ptl_hdr_data_t);

#define INTERFACES 3
#define HANDLES 48
#define ARENA 1024

struct input {
    const uint8_t *data;
    size_t size;
};

static ptl_handle_ni_t nis[INTERFACES];
static ptl_process_id_t ids[INTERFACES];
static uint8_t *arenas[INTERFACES];
static ptl_handle_any_t handles[HANDLES];
static int made;
static ptl_md_iovec_t segments[4];

static uint64_t number(struct input *in, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes && in->size > 0; i++, in->data++, in->size--)
        value = value << 8 | *in->data;
    return value;
}

static void must(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s: %s\n", what, PtlExtError());
        abort();
    }
}

/* One that was made before (it may be gone), or any number at all. */
static ptl_handle_any_t handle(struct input *in)
{
    uint32_t which = (uint32_t)number(in, 1);

    if (which >= 250)
        return (uint32_t)number(in, 4);
    if (which >= 240)
        return which & 1 ? PTL_INVALID_HANDLE : PTL_EQ_NONE;
    return made ? handles[which % (uint32_t)made] : PTL_INVALID_HANDLE;
}

static void keep(int code, ptl_handle_any_t handle)
{
    if (code == PTL_OK)
        handles[made < HANDLES ? made++ : (int)(handle % HANDLES)] = handle;
}

static ptl_process_id_t process(struct input *in)
{
    uint32_t which = (uint32_t)number(in, 1);

    if (which < 200)
        return ids[which % INTERFACES];
    if (which < 240)
        return (ptl_process_id_t){PTL_NID_ANY, which & 1 ? PTL_PID_ANY : ids[0].pid};
    return (ptl_process_id_t){(uint32_t)number(in, 1), (uint32_t)number(in, 2)};
}

static uint64_t size(struct input *in)
{
    uint32_t which = (uint32_t)number(in, 1);

    return which < 230 ? which % 100 : which < 250 ? number(in, 2) : number(in, 8);
}

/* Memory that is really there, or a region that cannot be one. */
static ptl_md_t descriptor(struct input *in, int ni)
{
    uint64_t start = number(in, 2) % ARENA;
    ptl_md_t md = {.start = arenas[ni] + start,
                   .length = size(in) % (ARENA - start + 1),
                   .threshold = (int8_t)number(in, 1) % 5,
                   .max_size = size(in),
                   .options = (uint32_t)number(in, 1) | (uint32_t)(number(in, 1) & 0x0f) << 8,
                   .user_ptr = arenas[ni],
                   .eq_handle = handle(in)};

    if (number(in, 1) < 20)
        md.eq_handle = PTL_EQ_NONE;
    if (number(in, 1) < 4)
        md.start = NULL;
    if (md.options & PTL_MD_IOVEC) {
        md.length %= 5;
        md.start = segments;
        for (uint32_t i = 0; i < 4; i++)
            segments[i] = (ptl_md_iovec_t){arenas[ni] + i * 64, number(in, 1) % 65};
    }
    return md;
}

static int side(struct input *in)
{
    return (int)(number(in, 1) % INTERFACES);
}

/* ---- calls ---- */

static void make_entry(struct input *in)
{
    ptl_handle_me_t me = 0;
    ptl_match_bits_t bits = number(in, 1) % 4, ignore = number(in, 1) % 4;
    ptl_process_id_t id = process(in);
    ptl_pt_index_t index = (uint32_t)number(in, 1) % 10;
    ptl_unlink_t unlink = number(in, 1) & 1 ? PTL_UNLINK : PTL_RETAIN;
    ptl_ins_pos_t position = number(in, 1) & 1 ? PTL_INS_AFTER : PTL_INS_BEFORE;
    int code;

    switch (number(in, 1) % 3) {
    case 0:
        code = PtlMEAttach(nis[side(in)], index, id, bits, ignore, unlink, position, &me);
        break;
    case 1:
        code = PtlMEInsert(handle(in), id, bits, ignore, unlink, position, &me);
        break;
    default:
        code = PtlMEAttachAny(nis[side(in)], &index, id, bits, ignore, unlink, &me);
    }
    keep(code, me);
}

static void make_descriptor(struct input *in)
{
    ptl_handle_md_t handle_of = 0;
    ptl_unlink_t unlink = number(in, 1) & 1 ? PTL_UNLINK : PTL_RETAIN;
    ptl_handle_me_t me = handle(in);
    int ni = side(in);
    ptl_handle_ni_t owner = PTL_INVALID_HANDLE;
    int code;

    /* Foreign memory or toolkit memory: the arena of the interface that the entry belongs to. */
    if (number(in, 1) & 1) {
        if (PtlNIHandle(me, &owner) == PTL_OK)
            for (int i = 0; i < INTERFACES; i++)
                ni = nis[i] == owner ? i : ni;
        code = PtlMDAttach(me, descriptor(in, ni), unlink, &handle_of);
    } else {
        code = PtlMDBind(nis[ni], descriptor(in, ni), unlink, &handle_of);
    }
    keep(code, handle_of);
}

static void change(struct input *in)
{
    ptl_md_t old = {0}, next = descriptor(in, side(in));
    ptl_handle_eq_t eq = 0;

    switch (number(in, 1) % 7) {
    case 0:
        (void)PtlMEUnlink(handle(in));
        break;
    case 1:
        (void)PtlMDUnlink(handle(in));
        break;
    case 2:
        (void)PtlEQFree(handle(in));
        break;
    case 3:
        (void)PtlMDUpdate(handle(in), number(in, 1) & 1 ? &old : NULL,
                          number(in, 1) % 4 ? &next : NULL, handle(in));
        break;
    case 4:
        (void)PtlACEntry(nis[side(in)], (uint32_t)number(in, 1) % 18, process(in),
                         number(in, 1) % 4 ? PTL_UID_ANY : (uint32_t)number(in, 1), PTL_JID_ANY,
                         number(in, 1) % 4 ? PTL_PT_INDEX_ANY : (uint32_t)number(in, 1));
        break;
    default:
        keep(PtlEQAlloc(nis[side(in)], size(in) % 40, PTL_EQ_HANDLER_NONE, &eq), eq);
    }
}

static void move(struct input *in)
{
    ptl_handle_md_t md = handle(in);
    ptl_process_id_t to = process(in);
    uint32_t index = (uint32_t)number(in, 1) % 10, access = (uint32_t)(number(in, 1) & 1);
    uint64_t bits = number(in, 1) % 4, remote = size(in);

    switch (number(in, 1) % 6) {
    case 0:
        (void)PtlPut(md, PTL_ACK_REQ, to, index, access, bits, remote, 1);
        break;
    case 1:
        (void)PtlPutRegion(md, size(in), size(in), PTL_NO_ACK_REQ, to, index, access, bits, remote,
                           2);
        break;
    case 2:
        (void)PtlGet(md, to, index, access, bits, remote);
        break;
    case 3:
        (void)PtlGetRegion(md, size(in), size(in), to, index, access, bits, remote);
        break;
    case 4:
        (void)PtlGetPut(md, handle(in), to, index, access, bits, remote, 3);
        break;
    default:
        (void)PtlGetPutRegion(md, size(in), handle(in), size(in), size(in), to, index, access, bits,
                              remote, 4);
    }
}

static void look(struct input *in)
{
    ptl_handle_eq_t queues[3] = {handle(in), handle(in), handle(in)};
    ptl_event_t event;
    ptl_handle_ni_t owner;
    ptl_sr_value_t value;
    unsigned long distance;
    int which;

    switch (number(in, 1) % 6) {
    case 0:
    case 1:
        (void)PtlEQGet(queues[0], &event);
        break;
    case 2:
        (void)PtlEQPoll(queues, (int)(number(in, 1) % 5) - 1, 0, &event, &which);
        break;
    case 3:
        (void)PtlNIStatus(handle(in), (uint32_t)number(in, 1), &value);
        (void)PtlNIStatus(nis[side(in)], (uint32_t)number(in, 1), &value);
        break;
    case 4:
        (void)PtlNIHandle(queues[0], &owner);
        (void)PtlNIDist(nis[side(in)], process(in), &distance);
        break;
    default:
        (void)PtlErrorStr((uint32_t)number(in, 2));
        (void)PtlEventKindStr((ptl_event_kind_t)(number(in, 1) % 14));
        (void)PtlNIFailStr(nis[0], (uint32_t)number(in, 1));
    }
}

/* ---- one input ---- */

static void expect_nothing_left(void)
{
    char text[256];

    for (int i = 0; i < made; i++) {
        (void)PtlMEUnlink(handles[i]);
        (void)PtlMDUnlink(handles[i]);
        (void)PtlEQFree(handles[i]);
    }
    for (int i = 0; i < INTERFACES; i++) {
        must(PtlExtCheck(nis[i], text, sizeof(text)) == 0, text);
        for (uint32_t k = 0; k < 16; k++)
            (void)PtlACEntry(nis[i], k, (ptl_process_id_t){PTL_NID_ANY, PTL_PID_ANY}, PTL_UID_ANY,
                             PTL_JID_ANY, PTL_PT_INDEX_ANY);
    }
}

static void expect_registers(void)
{
    static const uint32_t registers[] = {PTL_SR_MES_CUR, PTL_SR_MDS_CUR, PTL_SR_EQS_CUR};
    ptl_sr_value_t value;

    for (int i = 0; i < INTERFACES; i++)
        for (int k = 0; k < 3; k++)
            must(PtlNIStatus(nis[i], registers[k], &value) == PTL_OK && value == 0,
                 "objects are left");
}

static void open_all(void)
{
    ptl_ni_limits_t limits = {64, 64, 16, 15, 7, 4, 48, 64};
    int interfaces;

    must(PtlInit(&interfaces) == PTL_OK, "PtlInit");
    for (int i = 0; i < INTERFACES; i++) {
        ptl_ext_options_t options = {.flavor = i == 1 ? PTL_EXT_CRAY : PTL_EXT_REF,
                                     .event_slots = 1024,
                                     .initiators_max = 8};

        must(PtlExtNIOpen(&options, &limits, NULL, &nis[i], NULL, 0) == PTL_OK, "PtlExtNIOpen");
        must(PtlGetId(nis[i], &ids[i]) == PTL_OK, "PtlGetId");
        if (i < 2)
            must(PtlExtMemoryAlloc(nis[i], ARENA, 0, (void **)&arenas[i]) == PTL_OK, "memory");
        else
            arenas[i] = malloc(ARENA);
    }
}

/* ---- inputs to begin with, written into the corpus folder ---- */

#define ENTRY(index, bits) 0, bits, 0, 240, index, 0, 1, 0, 0
#define ATTACH(which, options) 1, 0, which, 0, 1, 0, 0, 50, 4, 0, options, 0, 0, 0, 9
#define BIND 1, 0, 0, 1, 0, 0, 0, 40, 4, 0, 0, 0, 0, 0, 9

static void write_seed(const char *folder, const char *name, const uint8_t *data, size_t size)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL)
        return;
    fwrite(data, 1, size, file);
    fclose(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const uint8_t put[] = {
        ENTRY(3, 1), ATTACH(0, 1), BIND, 4, 2, 0, 3, 0, 1, 0, 0, 4, 2, 0, 3, 0, 1, 0, 0, 0};
    static const uint8_t get[] = {ENTRY(3, 1), ATTACH(0, 3), BIND, 4, 2, 0, 3, 0, 1, 0, 2, 3, 0};
    static const uint8_t swap[] = {
        ENTRY(3, 1), ATTACH(0, 7), BIND, BIND, 4, 2, 0, 3, 0, 1, 0, 4, 3, 2, 5, 0};

    for (int i = 1; i < *argc; i++)
        if ((*argv)[i][0] != '-') {
            write_seed((*argv)[i], "seed-put", put, sizeof(put));
            write_seed((*argv)[i], "seed-get", get, sizeof(get));
            write_seed((*argv)[i], "seed-swap", swap, sizeof(swap));
            break;
        }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct input in = {data, length};

    if (arenas[0] == NULL)
        open_all();
    made = 0;
    while (in.size > 0) {
        switch (number(&in, 1) % 8) {
        case 0:
            make_entry(&in);
            break;
        case 1:
            make_descriptor(&in);
            break;
        case 2:
            change(&in);
            break;
        case 3:
            look(&in);
            break;
        default:
            move(&in);
        }
        if (made == HANDLES)
            break;
    }
    expect_nothing_left();
    expect_registers();
    return 0;
}
