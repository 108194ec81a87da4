/*
 * Random sequences of API calls over three NIC handles in one process, with right and with wrong
 * handles, sizes, modes and descriptors from the input. Nothing may be read or written outside what
 * was named (the sanitizers watch), the checker finds nothing between the calls, and when
 * everything was destroyed nothing is left.
 */
#define _GNU_SOURCE
#include "area_check.h"
#include "gni_library.h"
#include "fuzz_input.h"
#include <fcntl.h>

#define NICS 3
#define OBJECTS 24
#define ARENA 4096u
#define DESCRIPTORS 512

static gni_cdm_handle_t cdms[NICS];
static gni_nic_handle_t nics[NICS];
static uint32_t addresses[NICS];
static uint8_t *arenas[NICS];
static void *objects[OBJECTS]; /* endpoints, queues, channels, subscriptions, in the order made */
static gni_mem_handle_t memories[OBJECTS];
static int made, registered, posted;
static gni_post_descriptor_t descriptors[DESCRIPTORS];
static uint8_t buffers[8][GNI_DATAGRAM_MAXSIZE];

static void expect_sound(void)
{
    char text[512];

    for (int i = 0; i < NICS; i++)
        must(nic_check(nics[i], text, sizeof(text)) == 0, text);
}

/* ---- handles: one that was made (it may be gone), a NIC's, none, or any number ---- */

static void *any(struct input *in)
{
    uint32_t which = (uint32_t)number(in, 1);

    if (which >= 250)
        return (void *)(uintptr_t)number(in, 8);
    if (which >= 244)
        return NULL;
    if (which >= 240)
        return (void *)nics[which % NICS];
    return made ? objects[which % (uint32_t)made] : NULL;
}

static void keep(gni_return_t code, void *object)
{
    if (code == GNI_RC_SUCCESS)
        objects[made++] = object;
}

static gni_mem_handle_t memory(struct input *in)
{
    uint32_t which = (uint32_t)number(in, 1);
    gni_mem_handle_t handle = {number(in, which >= 250 ? 8 : 0), 0};

    if (which < 250 && registered > 0)
        handle = memories[which % (uint32_t)registered];
    if (which >= 230 && which < 250)
        handle.qword2 ^= 1ull << number(in, 1) % 64;
    return handle;
}

/* ---- making ---- */

static void make_memory(struct input *in, int at)
{
    gni_mem_segment_t segments[3];
    uint64_t start = number(in, 2) % ARENA, length = wild(in);
    gni_mem_handle_t handle;
    uint32_t flags = number(in, 1) % 4 == 0 ? GNI_MEM_READ_ONLY : GNI_MEM_READWRITE;
    gni_return_t code;

    if (registered == OBJECTS)
        return;
    if (length < 1ull << 40)
        length %= ARENA - start + 1;
    for (uint32_t i = 0; i < 3; i++)
        segments[i] = (gni_mem_segment_t){(uint64_t)(uintptr_t)arenas[at] + i * 1024 + start % 64,
                                          number(in, 1) * 4};
    if (number(in, 1) & 1)
        code = GNI_MemRegister(nics[at], (uint64_t)(uintptr_t)arenas[at] + start, length, any(in),
                               flags, (uint32_t)-1, &handle);
    else
        code = GNI_MemRegisterSegments(nics[at], segments, (uint32_t)number(in, 1) % 4, any(in),
                                       flags, (uint32_t)-1, &handle);
    if (code == GNI_RC_SUCCESS)
        memories[registered++] = handle;
}

static void make(struct input *in)
{
    int at = (int)(number(in, 1) % NICS);
    gni_ep_handle_t ep = NULL;
    gni_cq_handle_t cq = NULL;
    gni_comp_chan_handle_t chan = NULL;
    gni_err_handle_t err = NULL;
    gni_return_t code;
    int fd;

    if (made == OBJECTS)
        return;
    switch (number(in, 1) % 8) {
    case 0:
    case 1:
        code = GNI_EpCreate(nics[at], any(in), &ep);
        if (code == GNI_RC_SUCCESS)
            (void)GNI_EpBind(ep, addresses[0], (uint32_t)number(in, 1) % (NICS + 2));
        keep(code, (void *)ep);
        break;
    case 2:
    case 3:
        code = GNI_CqCreate(nics[at], (uint32_t)number(in, 1) % 40, 0,
                            number(in, 1) & 1 ? GNI_CQ_BLOCKING : GNI_CQ_NOBLOCK, NULL, NULL, &cq);
        keep(code, (void *)cq);
        break;
    case 4:
        code = GNI_CompChanCreate(nics[at], &chan);
        if (code == GNI_RC_SUCCESS && GNI_CompChanFd(chan, &fd) == GNI_RC_SUCCESS)
            (void)fcntl(fd, F_SETFL, O_NONBLOCK);
        keep(code, (void *)chan);
        break;
    case 5:
        code = GNI_SubscribeErrors(nics[at], 0, (gni_error_mask_t)number(in, 1),
                                   (uint32_t)number(in, 1) % 5, &err);
        keep(code, (void *)err);
        break;
    default:
        make_memory(in, at);
    }
}

/* ---- changing ---- */

static void connect_mailbox(struct input *in)
{
    gni_smsg_attr_t attr[2];

    memset(attr, 0, sizeof(attr));
    for (int i = 0; i < 2; i++) {
        attr[i].msg_type = GNI_SMSG_TYPE_MBOX;
        attr[i].mem_hndl = memory(in);
        attr[i].msg_buffer = number(in, 1) & 1 ? NULL : arenas[number(in, 1) % NICS];
        attr[i].mbox_offset = (uint32_t)number(in, 2) % ARENA & ~7u;
        attr[i].mbox_maxcredit = (uint16_t)(1 + number(in, 1) % 4);
        attr[i].msg_maxsize = 64;
    }
    attr[1].mbox_maxcredit = attr[0].mbox_maxcredit;
    if (number(in, 1) < 16)
        attr[1].msg_maxsize = (uint32_t)wild(in);
    (void)GNI_SmsgInit(any(in), &attr[0], &attr[1]);
}

static void change(struct input *in)
{
    void *object = any(in);
    gni_cq_handle_t queues[2] = {any(in), any(in)};
    gni_mem_handle_t handle;

    switch (number(in, 1) % 12) {
    case 0:
        (void)GNI_EpDestroy(object);
        break;
    case 1:
        (void)GNI_CqDestroy(object);
        break;
    case 2:
        (void)GNI_CompChanDestroy(object);
        break;
    case 3:
        (void)GNI_ReleaseErrors(object);
        break;
    case 4:
        (void)GNI_EpUnbind(object);
        break;
    case 5:
        (void)GNI_EpBind(object, addresses[0], (uint32_t)number(in, 1) % (NICS + 2));
        break;
    case 6:
        (void)GNI_EpSetEventData(object, (uint32_t)wild(in), (uint32_t)wild(in));
        break;
    case 7:
        (void)GNI_CqAttachCompChan(object, any(in));
        break;
    case 8:
        (void)GNI_CqArmCompChan(queues, 1 + (uint32_t)number(in, 1) % 2);
        break;
    case 9:
        connect_mailbox(in);
        break;
    default:
        handle = memory(in);
        (void)GNI_MemDeregister(nics[number(in, 1) % NICS], &handle);
    }
}

/* ---- moving ---- */

/* FMA reads what the descriptor names: that must be there. Everything else may be anything. */
static gni_post_descriptor_t *descriptor(struct input *in)
{
    static const gni_post_type_t types[] = {GNI_POST_RDMA_PUT,
                                            GNI_POST_RDMA_GET,
                                            GNI_POST_FMA_PUT,
                                            GNI_POST_FMA_GET,
                                            GNI_POST_AMO,
                                            GNI_POST_AMO_W_FLAG,
                                            GNI_POST_FMA_PUT_W_SYNCFLAG,
                                            GNI_POST_FMA_GET_W_FLAG,
                                            GNI_POST_CQWRITE};
    gni_post_descriptor_t *d = &descriptors[posted++];
    uint32_t how = (uint32_t)number(in, 1);

    memset(d, 0, sizeof(*d));
    d->type = types[number(in, 1) % 9];
    d->cq_mode = (uint16_t)(how & 7);
    d->length = how & 8 ? wild(in) : number(in, 1) % 16 * 4;
    d->local_mem_hndl = memory(in);
    d->local_addr = (uint64_t)(uintptr_t)arenas[number(in, 1) % NICS] + number(in, 1) * 4;
    if (d->type == GNI_POST_FMA_PUT || d->type == GNI_POST_FMA_PUT_W_SYNCFLAG)
        d->length %= ARENA / 2;
    else if (how & 16)
        d->local_addr = wild(in);
    d->remote_mem_hndl = memory(in);
    d->remote_addr =
        how & 32 ? wild(in) : (uint64_t)(uintptr_t)arenas[number(in, 1) % NICS] + number(in, 1) * 4;
    d->sync_flag_addr = d->remote_addr + wild(in);
    d->sync_flag_value = number(in, 2);
    d->amo_cmd = (gni_fma_cmd_type_t)(number(in, 2) & 0x3ff);
    d->cqwrite_value = wild(in);
    if (how & 64)
        d->src_cq_hndl = any(in);
    return d;
}

static void move(struct input *in)
{
    gni_ct_put_post_descriptor_t next;
    gni_ep_handle_t ep = any(in);
    gni_post_descriptor_t *d;

    if (posted == DESCRIPTORS)
        return;
    d = descriptor(in);
    switch (number(in, 1) % 6) {
    case 0:
        (void)GNI_PostCqWrite(ep, d);
        break;
    case 1:
        memset(&next, 0, sizeof(next));
        next.ep_hndl = any(in);
        next.length = number(in, 1) % 64;
        next.remote_addr = d->remote_addr + 64;
        next.remote_mem_hndl = memory(in);
        next.local_addr = (uint64_t)(uintptr_t)arenas[0];
        next.next_descr = number(in, 1) < 8 ? &next : NULL; /* bites its tail */
        d->type = GNI_POST_FMA_PUT;
        d->length %= ARENA / 2;
        d->local_addr = (uint64_t)(uintptr_t)arenas[1];
        d->next_descr = &next;
        (void)GNI_CtPostFma(ep, d);
        break;
    case 2:
    case 3:
        (void)GNI_PostRdma(ep, d);
        break;
    default:
        (void)GNI_PostFma(ep, d);
    }
}

static void talk(struct input *in)
{
    static uint8_t bytes[256];
    gni_ep_handle_t ep = any(in);
    uint32_t which = (uint32_t)number(in, 1) % 8, pe, inst;
    uint64_t id = number(in, 1) % 4;
    uint8_t *out = buffers[number(in, 1) % 8];
    gni_post_state_t state;
    void *got;

    if (which == 0)
        (void)GNI_SmsgSendWTag(ep, bytes, (uint32_t)number(in, 1) % 80, bytes,
                               (uint32_t)number(in, 1) % 8, 1, (uint8_t)number(in, 1));
    else if (which == 1)
        (void)GNI_SmsgGetNext(ep, &got);
    else if (which == 2)
        (void)GNI_SmsgRelease(ep);
    else if (which == 3)
        (void)GNI_EpPostData(ep, bytes, (uint16_t)number(in, 1), out, (uint16_t)number(in, 1));
    else if (which == 4)
        (void)GNI_EpPostDataWId(ep, bytes, (uint16_t)number(in, 1), out, (uint16_t)number(in, 1),
                                id);
    else if (which == 5)
        (void)(number(in, 1) & 1 ? GNI_EpPostDataTest(ep, &state, &pe, &inst)
                                 : GNI_EpPostDataTestById(ep, id, &state, &pe, &inst));
    else if (which == 6)
        (void)(number(in, 1) & 1 ? GNI_EpPostDataCancel(ep) : GNI_EpPostDataCancelById(ep, id));
    else
        (void)GNI_PostDataProbe(nics[number(in, 1) % NICS], &pe, &inst);
}

static void look(struct input *in)
{
    void *object = any(in);
    gni_post_descriptor_t *done;
    gni_cq_entry_t entry = 0;
    gni_error_event_t event;
    gni_cq_handle_t cq;
    gni_mem_handle_t handle = memory(in);
    uint64_t address, length;

    switch (number(in, 1) % 8) {
    case 0:
        (void)GNI_GetErrorEvent(object, &event);
        break;
    case 1:
        (void)GNI_CompChanGetEvent(object, &cq);
        break;
    case 2:
        (void)GNI_MemQueryHndls(nics[number(in, 1) % NICS], -1, &handle, &address, &length);
        break;
    case 3:
        (void)GNI_GetCompleted(object, number(in, 8), &done);
        break;
    default:
        if (GNI_CqGetEvent(object, &entry) != GNI_RC_NOT_DONE && number(in, 1) < 200)
            (void)GNI_GetCompleted(object, entry, &done);
    }
}

/* ---- one input ---- */

static void expect_nothing_left(void)
{
    for (int i = 0; i < made; i++)
        (void)GNI_EpDestroy(objects[i]);
    for (int i = 0; i < registered; i++)
        for (int k = 0; k < NICS; k++)
            (void)GNI_MemDeregister(nics[k], &memories[i]);
    for (int i = 0; i < made; i++) {
        (void)GNI_CqDestroy(objects[i]);
        (void)GNI_ReleaseErrors(objects[i]);
    }
    for (int i = 0; i < made; i++)
        (void)GNI_CompChanDestroy(objects[i]);
    expect_sound();
    for (int i = 0; i < NICS; i++) {
        struct gni_nic *nic = gni_handle_find(nics[i], GNI_KIND_NIC);

        must(nic->eps == NULL && nic->cqs == NULL && nic->chans == NULL && nic->errors == NULL,
             "objects are left");
        must(nic->mdh_used == 0 && nic->undelivered == 0, "registrations or datagrams are left");
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const uint8_t put[] = {0, 0, 2,   9, 0, 0, 0, 6, 0, 0, 0, 200, 1, 0, 0,
                                  0, 1, 244, 1, 0, 0, 0, 0, 1, 1, 5, 0,   5, 0, 5};

    write_seed(*argc, *argv, "seed-put", put, sizeof(put));
    write_long_seed(*argc, *argv);
    for (int i = 0; i < NICS; i++) {
        void *room = NULL;

        setenv("GNI_SHIM_DEFER", i == 2 ? "1" : "0", 1);
        must(GNI_CdmCreate((uint32_t)i, 33, 0x888, i == 1 ? GNI_CDM_MODE_DUAL_EVENTS : 0,
                           &cdms[i]) == GNI_RC_SUCCESS,
             "a domain");
        must(GNI_CdmAttach(cdms[i], 0, &addresses[i], &nics[i]) == GNI_RC_SUCCESS, GNI_ExtError());
        if (i < 2)
            must(GNI_ExtMemAlloc(nics[i], ARENA, &room) == GNI_RC_SUCCESS, "memory");
        else
            room = calloc(1, ARENA);
        arenas[i] = room;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const does[])(struct input *) = {make, make, change, look,
                                                   move, move, talk,   look};
    struct input in = {data, size};

    made = registered = posted = 0;
    for (int i = 0; i < NICS; i++)
        memset(arenas[i], 0, ARENA);
    while (in.size > 0)
        does[number(&in, 1) % 8](&in);
    expect_sound();
    expect_nothing_left();
    return 0;
}
