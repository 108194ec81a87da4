/* Endpoints and memory (assertions 14 to 33). */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>

static struct node a, b;

static void create(void)
{
    gni_ep_handle_t ep;

    node_attach(&a, 1, COOKIE, 0);
    CODE(GNI_RC_INVALID_PARAM, GNI_EpCreate(NULL, NULL, &ep));
    OK(GNI_EpCreate(a.nic, NULL, &ep));
    OK(GNI_EpDestroy(ep));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpDestroy(ep));
}

static void bind_again(void)
{
    node_open(&a, 1, 0, 0);
    OK(GNI_EpBind(a.ep, a.pe, 2));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpBind(a.ep, a.pe, 2));
    OK(GNI_EpUnbind(a.ep));
    OK(GNI_EpUnbind(a.ep));
    OK(GNI_EpBind(a.ep, a.pe, 3));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpBind(a.ep, 0xffffffffu, 1));
}

static void unbind_while_outstanding(void)
{
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    OK(GNI_PostFma(a.ep, &d));
    CODE(GNI_RC_NOT_DONE, GNI_EpUnbind(a.ep));
    CODE(GNI_RC_NOT_DONE, GNI_EpIdle(a.ep));
    OK(next_event(a.cq, &entry));
    OK(GNI_EpUnbind(a.ep));
    OK(GNI_GetCompleted(a.cq, entry, &done));
}

static void destroy_while_outstanding(void)
{
    gni_post_descriptor_t d;
    gni_ep_handle_t other;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    OK(GNI_PostFma(a.ep, &d));
    OK(GNI_EpDestroy(a.ep));
    expect_empty(a.cq); /* its event is ignored */
    OK(GNI_EpCreate(a.nic, a.cq, &other));
    OK(GNI_EpDestroy(other));
    OK(GNI_CqDestroy(a.cq));
}

static void queue_in_use(void)
{
    node_open(&a, 1, 0, 0);
    CODE(GNI_RC_ERROR_RESOURCE, GNI_CqDestroy(a.cq));
    OK(GNI_EpDestroy(a.ep));
    OK(GNI_CqDestroy(a.cq));
    CODE(GNI_RC_INVALID_PARAM, GNI_CqDestroy(a.cq));
    CODE(GNI_RC_ERROR_RESOURCE, GNI_CqDestroy(a.dst));
    OK(GNI_MemDeregister(a.nic, &a.handle));
    OK(GNI_CqDestroy(a.dst));
}

static void event_data(void)
{
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    OK(GNI_PostFma(a.ep, &d));
    OK(next_event(a.cq, &entry));
    CHECK_EQ(b.inst, GNI_CQ_GET_INST_ID(entry));
    CHECK_EQ(GNI_CQ_EVENT_TYPE_POST, GNI_CQ_GET_TYPE(entry));
    OK(GNI_GetCompleted(a.cq, entry, &done));
    OK(next_event(b.dst, &entry));
    CHECK_EQ(a.inst, GNI_CQ_GET_REM_INST_ID(entry));
    OK(GNI_EpSetEventData(a.ep, 0xabcdef, 0x123456));
    OK(GNI_PostFma(a.ep, &d));
    OK(next_event(a.cq, &entry));
    CHECK_EQ(0xabcdef, GNI_CQ_GET_INST_ID(entry));
    OK(GNI_GetCompleted(a.cq, entry, &done));
    OK(next_event(b.dst, &entry));
    CHECK_EQ(0x123456, GNI_CQ_GET_REM_INST_ID(entry));
    CHECK_EQ(0x123456, GNI_CQ_GET_INST_ID(entry));
}

static void event_data_before_bind(void)
{
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t entry;

    node_open(&a, 1, 0, 0);
    node_open(&b, 2, 0, 0);
    OK(GNI_EpSetEventData(a.ep, 77, 88));
    OK(GNI_EpBind(a.ep, b.pe, b.inst));
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    OK(GNI_PostFma(a.ep, &d));
    OK(next_event(a.cq, &entry));
    CHECK_EQ(b.inst, GNI_CQ_GET_INST_ID(entry));
    OK(GNI_GetCompleted(a.cq, entry, &done));
    OK(next_event(b.dst, &entry));
    CHECK_EQ(a.inst, GNI_CQ_GET_REM_INST_ID(entry));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpSetEventData(NULL, 1, 1));
}

/* ---- memory ---- */

static void register_nothing(void)
{
    gni_mem_handle_t h = {0x1111, 0x2222};

    node_attach(&a, 1, COOKIE, 0);
    CODE(GNI_RC_INVALID_PARAM,
         GNI_MemRegister(a.nic, (uint64_t)(uintptr_t)&h, 0, NULL, 0, (uint32_t)-1, &h));
    CHECK(h.qword1 == 0x1111 && h.qword2 == 0x2222);
}

static void put_from_a_process(void)
{
    struct node me, far = {0};
    gni_post_descriptor_t d;

    node_open(&me, 3, 0, 0);
    far.handle = shared->handle[0];
    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    OK(GNI_EpBind(me.ep, me.pe, 2));
    fill(me.memory, 5000, 3);
    d = transaction(GNI_POST_RDMA_PUT, &me, &far, 5000);
    OK(post_and_wait(&me, &d));
    node_close(&me);
}

static void handle_travels(void)
{
    node_open(&b, 2, 0, 0);
    shared->handle[0] = b.handle;
    shared->number[0] = (uint64_t)(uintptr_t)b.memory;
    CHECK_EQ(0, join(start(put_from_a_process)));
    CHECK(is_filled(b.memory, 5000, 3));
    CHECK(is_zero(b.memory + 5000, 5000));
}

static void zero_handle(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    fill(a.memory, 64, 1);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    memset(&d.remote_mem_hndl, 0, sizeof(d.remote_mem_hndl));
    expect_error(&a, &d, 7);
    CHECK(is_zero(b.memory, 64));
}

static void damaged_handle(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    fill(a.memory, 64, 1);
    for (int bit = 0; bit < 8; bit++) {
        d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
        d.remote_mem_hndl.qword2 ^= 1ull << (56 + bit);
        expect_error(&a, &d, 7);
    }
    /* Any flipped bit at all is noticed. */
    for (int bit = 0; bit < 128; bit++) {
        d = transaction(GNI_POST_RDMA_PUT, &a, &b, 8);
        if (bit < 64)
            d.remote_mem_hndl.qword1 ^= 1ull << bit;
        else
            d.remote_mem_hndl.qword2 ^= 1ull << (bit - 64);
        expect_error(&a, &d, 7);
    }
    CHECK(is_zero(b.memory, 64));
}

static void stale_handle(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    fill(a.memory, 64, 1);
    OK(GNI_MemDeregister(b.nic, &b.handle));
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 64);
    expect_error(&a, &d, 7);
    d = transaction(GNI_POST_FMA_GET, &a, &b, 64);
    expect_error(&a, &d, 7);
    CHECK(is_zero(b.memory, 64));
    CODE(GNI_RC_INVALID_PARAM, GNI_MemDeregister(b.nic, &b.handle));
}

/* An endpoint remembers what it looked up; its owner's word goes first. */
static void remembered_handle(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 1);
    fill(a.memory, 64, 1);
    for (int i = 0; i < 3; i++) {
        d = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
        OK(post_and_wait(&a, &d));
    }
    CHECK(is_filled(b.memory, 64, 1));
    OK(GNI_MemDeregister(b.nic, &b.handle));
    memset(b.memory, 0, 64);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
    expect_error(&a, &d, 7);
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 0); /* no byte that softnic would refuse */
    expect_error(&a, &d, 7);
    CHECK(is_zero(b.memory, 64));
    OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)b.memory, MEMORY_BYTES, NULL, 0, (uint32_t)-1,
                       &b.handle));
    expect_error(&a, &d, 7); /* the old handle stays what it is */
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
    OK(post_and_wait(&a, &d));
    CHECK(is_filled(b.memory, 64, 1));
}

/* Bound to another address, an endpoint reaches nothing at its former one. */
static void bound_to_another(void)
{
    gni_post_descriptor_t d;
    struct node c = {0};

    setenv("GNI_SHIM_DEVICES", "2", 1);
    pair_open(&a, &b, 0, 1);
    OK(GNI_CdmCreate(3, PTAG, COOKIE, 0, &c.cdm));
    OK(GNI_CdmAttach(c.cdm, 1, &c.pe, &c.nic));
    CHECK(c.pe != b.pe);
    fill(a.memory, 8, 1);
    for (int i = 0; i < 12; i++) {
        d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
        OK(post_and_wait(&a, &d));
    }
    memset(b.memory, 0, 8);
    OK(GNI_EpUnbind(a.ep));
    CODE(GNI_RC_INVALID_PARAM, GNI_PostFma(a.ep, &d));
    OK(GNI_EpBind(a.ep, c.pe, c.inst));
    expect_error(&a, &d, 11); /* nobody there has that instance */
    CHECK(is_zero(b.memory, 8));
    OK(GNI_EpUnbind(a.ep));
    OK(GNI_EpBind(a.ep, b.pe, c.inst));
    OK(post_and_wait(&a, &d));
    CHECK(is_filled(b.memory, 8, 1));
}

/* More registrations than an endpoint remembers, in turns. */
static void many_handles(void)
{
    gni_mem_handle_t h[16];
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 1);
    fill(a.memory, 64, 2);
    for (int i = 0; i < 16; i++)
        OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)b.memory + 64u * (unsigned)i, 64, NULL, 0,
                           (uint32_t)-1, &h[i]));
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 16; i++) {
            memset(b.memory, 0, 1024);
            d = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
            d.remote_mem_hndl = h[i];
            d.remote_addr += 64u * (unsigned)i;
            OK(post_and_wait(&a, &d));
            CHECK(is_filled(b.memory + 64 * i, 64, 2));
            CHECK(is_zero(b.memory, (uint64_t)(64 * i)));
            d.remote_addr += 1;
            expect_error(&a, &d, 9);
        }
}

static void unaligned_registration(void)
{
    gni_mem_handle_t h;
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)(b.memory + 1003), 517, NULL, 0, (uint32_t)-1,
                       &h));
    fill(a.memory, 517, 9);
    for (int i = 0; i < 517; i++) {
        d = transaction(GNI_POST_FMA_PUT, &a, &b, 1);
        d.local_addr += (uint64_t)i;
        d.remote_addr += 1003 + (uint64_t)i;
        d.remote_mem_hndl = h;
        OK(post_and_wait(&a, &d));
    }
    CHECK(is_filled(b.memory + 1003, 517, 9));
    CHECK(b.memory[1002] == 0 && b.memory[1520] == 0);
    d.remote_addr = (uint64_t)(uintptr_t)(b.memory + 1002);
    expect_error(&a, &d, 9);
}

static void attributes(void)
{
    gni_mem_handle_t h;
    int yes = -1;

    node_open(&a, 1, 0, 0);
    OK(GNI_MemRegister(a.nic, (uint64_t)(uintptr_t)a.memory, 4096, NULL, GNI_MEM_READ_ONLY,
                       (uint32_t)-1, &h));
    OK(GNI_MemHndlQueryAttr(&h, GNI_MEMHNDL_ATTR_READONLY, &yes));
    CHECK_EQ(1, yes);
    OK(GNI_MemHndlQueryAttr(&a.handle, GNI_MEMHNDL_ATTR_READONLY, &yes));
    CHECK_EQ(0, yes);
    h.qword1 ^= 4;
    CODE(GNI_RC_INVALID_PARAM, GNI_MemHndlQueryAttr(&h, GNI_MEMHNDL_ATTR_READONLY, &yes));
}

static void read_only(void)
{
    gni_mem_handle_t h;
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    fill(a.memory, 64, 1);
    OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)b.memory, 4096, NULL, GNI_MEM_READ_ONLY,
                       (uint32_t)-1, &h));
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 64);
    d.remote_mem_hndl = h;
    CODE(GNI_RC_PERMISSION_ERROR, GNI_PostRdma(a.ep, &d));
    d.type = GNI_POST_FMA_PUT;
    expect_error(&a, &d, 10);
    CHECK(is_zero(b.memory, 64));
    d = transaction(GNI_POST_RDMA_GET, &b, &a, 64);
    d.local_mem_hndl = h;
    CODE(GNI_RC_PERMISSION_ERROR, GNI_PostRdma(b.ep, &d));
    d.type = GNI_POST_FMA_GET;
    expect_error(&b, &d, 10);
    d.type = GNI_POST_FMA_GET_W_FLAG;
    d.length = 32;
    expect_error(&b, &d, 10);
    d.type = GNI_POST_AMO;
    d.length = 8;
    d.amo_cmd = GNI_FMA_ATOMIC_FADD;
    d.first_operand = 1;
    expect_error(&b, &d, 10);
    CHECK(is_filled(a.memory, 64, 1) && is_zero(b.memory, 64));
    d = transaction(GNI_POST_RDMA_GET, &a, &b, 64);
    d.remote_mem_hndl = h;
    OK(post_and_wait(&a, &d));
}

static void overlapping(void)
{
    gni_mem_handle_t h;
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)(b.memory + 100), 8192, NULL, 0, (uint32_t)-1,
                       &h));
    fill(a.memory, 64, 4);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
    d.remote_addr += 200;
    d.remote_mem_hndl = h;
    OK(post_and_wait(&a, &d));
    OK(GNI_MemDeregister(b.nic, &h));
    expect_error(&a, &d, 7);
    d.remote_mem_hndl = b.handle;
    d.remote_addr += 100;
    OK(post_and_wait(&a, &d));
    CHECK(is_filled(b.memory + 200, 64, 4) && is_filled(b.memory + 300, 64, 4));
}

static void segments(void)
{
    gni_mem_segment_t s[3];
    gni_mem_handle_t h, zero = {0, 0};
    gni_post_descriptor_t d;
    uint64_t base;

    pair_open(&a, &b, 0, 0);
    base = (uint64_t)(uintptr_t)b.memory;
    s[0] = (gni_mem_segment_t){base + 10000, 100};
    s[1] = (gni_mem_segment_t){base + 4097, 333};
    s[2] = (gni_mem_segment_t){base + 50000, 567};
    OK(GNI_MemRegisterSegments(b.nic, s, 3, NULL, 0, (uint32_t)-1, &h));
    fill(a.memory, 1000, 6);
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 1000);
    d.remote_addr = 0;
    d.remote_mem_hndl = h;
    OK(post_and_wait(&a, &d));
    CHECK(memcmp(b.memory + 10000, a.memory, 100) == 0);
    CHECK(memcmp(b.memory + 4097, a.memory + 100, 333) == 0);
    CHECK(memcmp(b.memory + 50000, a.memory + 433, 567) == 0);
    CHECK(b.memory[10100] == 0 && b.memory[4430] == 0 && b.memory[50567] == 0);
    memset(a.memory, 0, 1000);
    d.type = GNI_POST_FMA_GET;
    d.length = 400;
    d.remote_addr = 96;
    OK(post_and_wait(&a, &d));
    CHECK(memcmp(a.memory + 4, b.memory + 4097, 333) == 0);
    d.remote_addr = 604;
    expect_error(&a, &d, 9);
    s[1].length = 0;
    CODE(GNI_RC_INVALID_PARAM, GNI_MemRegisterSegments(b.nic, s, 3, NULL, 0, (uint32_t)-1, &zero));
    OK(GNI_MemDeregister(b.nic, &h));
    d.remote_addr = 0;
    expect_error(&a, &d, 7);
}

static void table_runs_out(void)
{
    static gni_mem_handle_t h[64];
    gni_mem_handle_t one_more;
    uint64_t address, length;

    setenv("GNI_SHIM_MDD_LIMIT", "64", 1);
    node_attach(&a, 1, COOKIE, 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 64; i++)
            OK(GNI_MemRegister(a.nic, (uint64_t)(uintptr_t)shared->bytes, 4096, NULL, 0,
                               (uint32_t)-1, &h[i]));
        CODE(GNI_RC_ERROR_RESOURCE, GNI_MemRegister(a.nic, (uint64_t)(uintptr_t)shared->bytes, 4096,
                                                    NULL, 0, (uint32_t)-1, &one_more));
        for (int i = 0; i < 64; i++)
            OK(GNI_MemDeregister(a.nic, &h[i]));
    }
    memset(&one_more, 0, sizeof(one_more));
    CODE(GNI_RC_NO_MATCH, GNI_MemQueryHndls(a.nic, -1, &one_more, &address, &length));
    CHECK(address == 0 && length == 0);
}

static const struct check_case cases[] = {
    {"14", "endpoint_create", create},
    {"15,16", "bind_again", bind_again},
    {"17", "unbind_while_outstanding", unbind_while_outstanding},
    {"", "destroy_while_outstanding", destroy_while_outstanding},
    {"18", "queue_in_use", queue_in_use},
    {"19,20", "event_data", event_data},
    {"21,22", "event_data_before_bind", event_data_before_bind},
    {"23", "register_nothing", register_nothing},
    {"24", "handle_travels", handle_travels},
    {"25", "zero_handle", zero_handle},
    {"26", "damaged_handle", damaged_handle},
    {"27,31", "stale_handle", stale_handle},
    {"27", "remembered_handle", remembered_handle},
    {"", "bound_to_another", bound_to_another},
    {"", "many_handles", many_handles},
    {"28", "unaligned_registration", unaligned_registration},
    {"29", "attributes", attributes},
    {"30", "read_only", read_only},
    {"32", "overlapping", overlapping},
    {"33", "segments", segments},
    {"", "table_runs_out", table_runs_out},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
