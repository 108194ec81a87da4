/*
 * Fuzzes NIC handles that meet hostile bytes: between any two calls of either, the input writes
 * into the shared parts of both (registrations, segments, datagrams, rings) and into their
 * mailboxes. They get answers; nothing is touched that they did not register; put right, everything
 * works.
 */
#include "area_check.h"
#include "gni_library.h"
#include "fuzz_input.h"

#define ARENA 8192u
#define MAILBOX 1024u /* of it */
#define CREDITS 4
#define RECORDS 6u /* of each table that are damaged and put right */

struct side {
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic_handle;
    struct gni_nic *nic;
    gni_cq_handle_t cq, dst;
    struct gni_cq *ring_of;
    gni_ep_handle_t ep, datagrams;
    uint8_t *memory;
    gni_mem_handle_t handle, pieces;
    uint32_t pe;
};
static struct side side[2];
static gni_post_descriptor_t descriptors[64];
static unsigned next_descriptor;
volatile uint64_t fuzz_sum; /* of bytes that are only to be read */
static struct gni_mdh kept_mdh[2][RECORDS];
static struct gni_segment kept_segment[2][RECORDS];

static gni_smsg_attr_t mailbox(const struct side *s)
{
    return (gni_smsg_attr_t){.msg_type = GNI_SMSG_TYPE_MBOX,
                             .msg_buffer = s->memory,
                             .buff_size = MAILBOX,
                             .mem_hndl = s->handle,
                             .mbox_maxcredit = CREDITS,
                             .msg_maxsize = 64};
}

static void ok(gni_return_t code, const char *what)
{
    if (code != GNI_RC_SUCCESS)
        fprintf(stderr, "%s (%s)\n", gni_err_str[code], GNI_ExtError());
    must(code == GNI_RC_SUCCESS, what);
}

static void open_side(struct side *s, uint32_t inst)
{
    gni_mem_segment_t segments[2];
    void *memory;

    ok(GNI_CdmCreate(inst, 33, 0x777, 0, &s->cdm), "create");
    ok(GNI_CdmAttach(s->cdm, 0, &s->pe, &s->nic_handle), "attach");
    s->nic = gni_handle_find(s->nic_handle, GNI_KIND_NIC);
    ok(GNI_CqCreate(s->nic_handle, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &s->cq), "queue");
    ok(GNI_CqCreate(s->nic_handle, 16, 0, GNI_CQ_NOBLOCK, NULL, NULL, &s->dst), "queue");
    ok(GNI_ExtMemAlloc(s->nic_handle, ARENA, &memory), "memory");
    s->memory = memory;
    ok(GNI_MemRegister(s->nic_handle, (uint64_t)(uintptr_t)memory, ARENA, s->dst, 0, (uint32_t)-1,
                       &s->handle),
       "registration");
    segments[0] = (gni_mem_segment_t){(uint64_t)(uintptr_t)memory + 2048, 100};
    segments[1] = (gni_mem_segment_t){(uint64_t)(uintptr_t)memory + 4096, 1000};
    ok(GNI_MemRegisterSegments(s->nic_handle, segments, 2, NULL, 0, (uint32_t)-1, &s->pieces),
       "segments");
    s->ring_of = gni_handle_find(s->dst, GNI_KIND_CQ);
}

static void connect_sides(void)
{
    gni_smsg_attr_t attr[2] = {mailbox(&side[0]), mailbox(&side[1])};

    for (int i = 0; i < 2; i++) {
        memset(side[i].memory, 0, MAILBOX);
        ok(GNI_EpCreate(side[i].nic_handle, side[i].cq, &side[i].ep), "endpoint");
        ok(GNI_EpBind(side[i].ep, side[1 - i].pe, (uint32_t)(2 - i)), "binding");
        ok(GNI_SmsgInit(side[i].ep, &attr[i], &attr[1 - i]), "mailbox");
        ok(GNI_EpCreate(side[i].nic_handle, NULL, &side[i].datagrams), "endpoint");
        ok(GNI_EpBind(side[i].datagrams, side[1 - i].pe, (uint32_t)(2 - i)), "binding");
    }
}

/* ---- damage ---- */

static void damage(struct input *in)
{
    struct side *s = &side[number(in, 1) & 1];
    struct gni_view *v = &s->nic->view;
    uint8_t *const place[] = {(uint8_t *)v->mdh,
                              (uint8_t *)v->segment,
                              (uint8_t *)v->datagram,
                              (uint8_t *)&v->area->datagrams_high,
                              s->memory,
                              (uint8_t *)s->ring_of->ring,
                              (uint8_t *)s->ring_of->ring + GNI_RING_HEADER};
    static const size_t reach[] = {RECORDS * sizeof(struct gni_mdh),
                                   RECORDS * sizeof(struct gni_segment),
                                   RECORDS * sizeof(struct gni_datagram),
                                   8,
                                   MAILBOX,
                                   GNI_RING_HEADER,
                                   512};
    uint32_t which = (uint32_t)number(in, 1) % 7;
    uint64_t offset = number(in, 2) % (reach[which] / 4) * 4, value = wild(in);

    memcpy(place[which] + offset, &value, offset + 8 <= reach[which] ? 8 : 4);
}

static void put_right(void)
{
    for (int i = 0; i < 2; i++) {
        struct gni_view *v = &side[i].nic->view;

        memcpy((void *)v->mdh, kept_mdh[i], sizeof(kept_mdh[i]));
        memcpy(v->segment, kept_segment[i], sizeof(kept_segment[i]));
        memset((void *)v->datagram, 0, 64 * sizeof(*v->datagram)); /* more are never used */
        atomic_store(&v->area->datagrams_high, 0);
        memset((void *)side[i].ring_of->ring, 0, GNI_RING_HEADER);
        gni_ring_build(side[i].ring_of->ring, side[i].ring_of->capacity);
    }
}

/* ---- use ---- */

static void drain(struct side *s)
{
    gni_post_descriptor_t *done;
    gni_cq_entry_t entry;
    gni_return_t code;

    for (int i = 0; i < 1000; i++) {
        code = GNI_CqGetEvent(s->cq, &entry);
        if (code == GNI_RC_NOT_DONE)
            return;
        if (gni_cq_get_type(entry) == GNI_CQ_EVENT_TYPE_POST)
            (void)GNI_GetCompleted(s->cq, entry, &done);
    }
    must(0, "a queue without an end");
}

/* Any type, address, length and handle; bytes that are read or written here are in the arena. */
static void post(struct input *in, struct side *s)
{
    static const gni_post_type_t types[] = {
        GNI_POST_RDMA_PUT, GNI_POST_RDMA_GET,           GNI_POST_FMA_PUT, GNI_POST_FMA_GET,
        GNI_POST_AMO,      GNI_POST_FMA_PUT_W_SYNCFLAG, GNI_POST_CQWRITE, GNI_POST_AMO_W_FLAG};
    struct side *far = &side[1 - (s - side)];
    gni_post_descriptor_t *d = &descriptors[next_descriptor++ % 64];
    uint32_t how = (uint32_t)number(in, 1);

    memset(d, 0, sizeof(*d));
    d->type = types[how & 7];
    d->cq_mode = GNI_CQMODE_GLOBAL_EVENT | (how & 8 ? GNI_CQMODE_REMOTE_EVENT : 0);
    d->length = how & 16 ? number(in, 1) * 4 : wild(in) % (ARENA / 2);
    d->local_mem_hndl = s->handle;
    d->local_addr = (uint64_t)(uintptr_t)s->memory + 2048 + number(in, 1) * 4;
    d->remote_mem_hndl = how & 32 ? far->pieces : far->handle;
    d->remote_addr = how & 32   ? wild(in)
                     : how & 64 ? wild(in) + (uint64_t)(uintptr_t)far->memory
                                : (uint64_t)(uintptr_t)far->memory + 2048;
    d->sync_flag_addr = d->remote_addr + number(in, 1) * 8;
    d->sync_flag_value = d->cqwrite_value = number(in, 2);
    d->amo_cmd = (gni_fma_cmd_type_t)(number(in, 2) & 0x3ff);
    if (how & 128)
        ((uint8_t *)&d->remote_mem_hndl)[number(in, 1) % 16] ^= (uint8_t)number(in, 1);
    if (d->type == GNI_POST_CQWRITE)
        (void)GNI_PostCqWrite(s->ep, d);
    else if (d->type == GNI_POST_RDMA_PUT || d->type == GNI_POST_RDMA_GET)
        (void)GNI_PostRdma(s->ep, d);
    else
        (void)GNI_PostFma(s->ep, d);
    drain(s);
}

static void exchange(struct input *in, struct side *s)
{
    static uint8_t bytes[GNI_DATAGRAM_MAXSIZE];
    uint8_t *out = malloc(32); /* exactly what was told */
    gni_post_state_t state;
    uint32_t pe, inst;

    if (GNI_EpPostData(s->datagrams, bytes, (uint16_t)(number(in, 1) % 129), out, 32) ==
        GNI_RC_SUCCESS) {
        (void)GNI_PostDataProbe(s->nic_handle, &pe, &inst);
        (void)GNI_EpPostDataTest(s->datagrams, &state, &pe, &inst);
        (void)GNI_EpPostDataCancel(s->datagrams);
        (void)GNI_EpPostDataTest(s->datagrams, &state, &pe, &inst);
    }
    /* Whatever became of it, nobody writes there any more once the endpoint is gone. */
    ok(GNI_EpDestroy(s->datagrams), "destroying");
    free(out);
    ok(GNI_EpCreate(s->nic_handle, NULL, &s->datagrams), "endpoint");
    ok(GNI_EpBind(s->datagrams, side[1 - (s - side)].pe, (uint32_t)(2 - (s - side))), "binding");
}

static void message(struct input *in, struct side *s)
{
    static uint8_t bytes[256];
    void *got;

    switch (number(in, 1) % 3) {
    case 0:
        (void)GNI_SmsgSend(s->ep, bytes, (uint32_t)number(in, 1) % 100, NULL, 0, 1);
        break;
    case 1:
        if (GNI_SmsgGetNext(s->ep, &got) == GNI_RC_SUCCESS)
            for (int i = 0; i < 64; i++) /* as many as may have come */
                fuzz_sum += ((uint8_t *)got)[i];
        break;
    default:
        (void)GNI_SmsgRelease(s->ep);
    }
    drain(s);
}

static void use(struct input *in)
{
    uint32_t what = (uint32_t)number(in, 1);
    struct side *s = &side[what & 1];
    gni_cq_entry_t entry;
    char text[256];

    switch (what >> 1 & 7) {
    case 0:
        exchange(in, s);
        break;
    case 1:
    case 2:
        message(in, s);
        break;
    case 3:
        for (int i = 0; i < 40 && GNI_CqGetEvent(s->dst, &entry) != GNI_RC_NOT_DONE; i++)
            ;
        (void)GNI_CqTestEvent(s->dst);
        break;
    case 4:
        (void)nic_check(s->nic_handle, text, sizeof(text));
        break;
    default:
        post(in, s);
    }
}

/* ---- one input ---- */

static void expect_working(void)
{
    gni_post_descriptor_t *d = &descriptors[0], *done;
    gni_cq_entry_t entry;
    char text[512];
    void *got;

    memset(d, 0, sizeof(*d));
    d->type = GNI_POST_FMA_PUT;
    d->cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    d->length = 64;
    d->local_addr = (uint64_t)(uintptr_t)side[0].memory + 2048;
    d->remote_addr = (uint64_t)(uintptr_t)side[1].memory + 2048;
    d->remote_mem_hndl = side[1].handle;
    ok(GNI_PostFma(side[0].ep, d), "the post");
    ok(GNI_CqGetEvent(side[0].cq, &entry), "its event");
    ok(GNI_GetCompleted(side[0].cq, entry, &done), "its end");
    ok(GNI_CqGetEvent(side[1].dst, &entry), "the remote event");
    ok(GNI_SmsgSend(side[0].ep, "hi", 3, NULL, 0, 1), "the message");
    ok(GNI_SmsgGetNext(side[1].ep, &got), "its arrival");
    ok(GNI_SmsgRelease(side[1].ep), "its release");
    drain(&side[0]);
    for (int i = 0; i < 2; i++)
        must(nic_check(side[i].nic_handle, text, sizeof(text)) == 0, text);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const uint8_t posts[] = {1, 10, 8, 0, 0, 0, 0, 0,  0, 0, 1, 12, 16, 1, 9, 0, 0,
                                    0, 0,  0, 0, 0, 6, 1, 10, 1, 9, 0, 0,  0,  0, 0, 0};
    static const uint8_t talk[] = {1, 2, 0, 50, 1, 3, 1, 1,  3, 2, 0,
                                   1, 4, 0, 16, 3, 1, 0, 20, 1, 1, 30};

    write_seed(*argc, *argv, "seed-posts", posts, sizeof(posts));
    write_seed(*argc, *argv, "seed-talk", talk, sizeof(talk));
    write_long_seed(*argc, *argv);
    open_side(&side[0], 1);
    open_side(&side[1], 2);
    for (int i = 0; i < 2; i++) {
        memcpy(kept_mdh[i], (const void *)side[i].nic->view.mdh, sizeof(kept_mdh[i]));
        memcpy(kept_segment[i], side[i].nic->view.segment, sizeof(kept_segment[i]));
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};

    connect_sides();
    while (in.size > 0) {
        if (number(&in, 1) & 1)
            use(&in);
        else
            damage(&in);
    }
    for (int i = 0; i < 2; i++) {
        drain(&side[i]);
        ok(GNI_EpDestroy(side[i].ep), "destroying");
        ok(GNI_EpDestroy(side[i].datagrams), "destroying");
    }
    put_right();
    connect_sides();
    expect_working();
    for (int i = 0; i < 2; i++) {
        ok(GNI_EpDestroy(side[i].ep), "destroying");
        ok(GNI_EpDestroy(side[i].datagrams), "destroying");
    }
    return 0;
}
