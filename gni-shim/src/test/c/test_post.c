/* RDMA and FMA posts, queue writes, chains (assertions 48 to 60, 62, 63, 65 to 70, 78). */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>

static struct node a, b;
static int is_mapped;

static void sizes(void)
{
    static const uint64_t length[] = {4, 8, 63 * 4, 4096, (1u << 20) + 4};

    pair_open(&a, &b, 0, is_mapped);
    for (unsigned i = 0; i < sizeof(length) / sizeof(*length); i++) {
        gni_post_descriptor_t d = transaction(GNI_POST_RDMA_PUT, &a, &b, length[i]);

        memset(b.memory, 0, MEMORY_BYTES);
        fill(a.memory, MEMORY_BYTES, i);
        d.remote_addr += 64;
        OK(post_and_wait(&a, &d));
        CHECK(is_zero(b.memory, 64));
        CHECK(is_filled(b.memory + 64, length[i], i));
        CHECK(is_zero(b.memory + 64 + length[i], MEMORY_BYTES - 64 - length[i]));
        memset(a.memory, 0, MEMORY_BYTES);
        d = transaction(GNI_POST_RDMA_GET, &a, &b, length[i]);
        d.remote_addr += 64;
        d.local_addr += 128;
        OK(post_and_wait(&a, &d));
        CHECK(is_zero(a.memory, 128));
        CHECK(is_filled(a.memory + 128, length[i], i));
        CHECK(is_zero(a.memory + 128 + length[i], MEMORY_BYTES - 128 - length[i]));
    }
}

static void sizes_mapped(void)
{
    is_mapped = 1;
    sizes();
}

static void any_alignment(void)
{
    pair_open(&a, &b, 0, 0);
    fill(a.memory, 4096, 7);
    for (uint64_t i = 1; i < 40; i++) {
        gni_post_descriptor_t d = transaction(GNI_POST_RDMA_PUT, &a, &b, i);

        memset(b.memory, 0, 4096);
        d.local_addr += i * 3;
        d.remote_addr += i * 5;
        OK(post_and_wait(&a, &d));
        CHECK(memcmp(b.memory + i * 5, a.memory + i * 3, i) == 0);
        CHECK(b.memory[i * 5 - 1] == 0 && b.memory[i * 6] == 0);
    }
}

static void get_alignment(void)
{
    pair_open(&a, &b, 0, 0);
    for (int fma = 0; fma < 2; fma++)
        for (int which = 0; which < 3; which++) {
            gni_post_descriptor_t d =
                transaction(fma ? GNI_POST_FMA_GET : GNI_POST_RDMA_GET, &a, &b, 64);

            d.local_addr += which == 0 ? 2 : 0;
            d.remote_addr += which == 1 ? 1 : 0;
            d.length += which == 2 ? 3 : 0;
            CODE(GNI_RC_ALIGNMENT_ERROR, fma ? GNI_PostFma(a.ep, &d) : GNI_PostRdma(a.ep, &d));
            expect_empty(a.cq);
        }
}

static void lengths_of_nothing(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 0);
    OK(post_and_wait(&a, &d));
    d.type = GNI_POST_FMA_GET;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostFma(a.ep, &d));
    d.type = GNI_POST_AMO;
    d.amo_cmd = GNI_FMA_ATOMIC_ADD;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostFma(a.ep, &d));
}

static void fma_source(void)
{
    gni_post_descriptor_t d;
    uint8_t unregistered[256];

    pair_open(&a, &b, 0, 0);
    fill(unregistered, sizeof(unregistered), 8);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, sizeof(unregistered));
    d.local_addr = (uint64_t)(uintptr_t)unregistered;
    memset(&d.local_mem_hndl, 0, sizeof(d.local_mem_hndl));
    OK(GNI_PostFma(a.ep, &d));
    memset(unregistered, 0, sizeof(unregistered));
    gni_cq_entry_t entry;
    OK(next_event(a.cq, &entry));
    CHECK(is_filled(b.memory, sizeof(unregistered), 8));
}

static void wrong_types(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    d.cq_mode = GNI_CQMODE_LOCAL_EVENT;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostFma(a.ep, &d));
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(a.ep, &d));
    d.type = GNI_POST_RDMA_PUT;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostFma(a.ep, &d));
    CODE(GNI_RC_INVALID_PARAM, GNI_PostCqWrite(a.ep, &d));
    for (int type = -1; type < 20; type++) {
        d.type = (gni_post_type_t)type;
        if (type != GNI_POST_RDMA_PUT && type != GNI_POST_RDMA_GET)
            CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(a.ep, &d));
    }
    CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(a.ep, NULL));
    CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(NULL, &d));
    expect_empty(a.cq);
}

static void dual_events(void)
{
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 8);
    d.cq_mode = GNI_CQMODE_DUAL_EVENTS;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(a.ep, &d));
    node_close(&a);
    node_close(&b);
    pair_open(&a, &b, GNI_CDM_MODE_DUAL_EVENTS, 0);
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 8);
    d.cq_mode = GNI_CQMODE_DUAL_EVENTS;
    OK(GNI_PostRdma(a.ep, &d));
    for (int i = 0; i < 2; i++) {
        OK(next_event(a.cq, &entry));
        OK(GNI_GetCompleted(a.cq, entry, &done));
        CHECK(done == &d);
        CHECK_EQ(i == 0 ? 4 : 1, GNI_CQ_GET_SOURCE(entry));
    }
    expect_empty(a.cq);
}

static void status_and_id(void)
{
    gni_post_descriptor_t d, other, *done;
    gni_cq_entry_t entry;

    setenv("GNI_SHIM_DEFER", "1", 1);
    pair_open(&a, &b, 0, 0);
    fill(a.memory, 64, 1);
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 64);
    d.post_id = 0x123456789abcdefull;
    other = d;
    other.post_id = 5;
    OK(GNI_PostRdma(a.ep, &d));
    OK(GNI_PostRdma(a.ep, &other));
    CHECK_EQ(GNI_RC_NOT_DONE, d.status);
    CHECK(is_zero(b.memory, 64)); /* deferred */
    OK(next_event(a.cq, &entry));
    OK(GNI_GetCompleted(a.cq, entry, &done));
    CHECK(done == &d);
    CHECK_EQ(GNI_RC_SUCCESS, d.status);
    CHECK(d.post_id == 0x123456789abcdefull);
    CHECK(is_filled(b.memory, 64, 1));
    OK(next_event(a.cq, &entry));
    OK(GNI_GetCompleted(a.cq, entry, &done));
    CHECK(done == &other && done->post_id == 5);
}

static void silent(void)
{
    gni_post_descriptor_t d;

    setenv("GNI_SHIM_CQ_EXACT", "1", 1);
    pair_open(&a, &b, 0, 0);
    fill(a.memory, 8, 1);
    for (int i = 0; i < 200; i++) {
        d = transaction(i & 1 ? GNI_POST_RDMA_PUT : GNI_POST_FMA_PUT, &a, &b, 8);
        d.cq_mode = GNI_CQMODE_SILENT;
        OK(i & 1 ? GNI_PostRdma(a.ep, &d) : GNI_PostFma(a.ep, &d));
    }
    expect_empty(a.cq);
    expect_empty(b.dst);
    CHECK(is_filled(b.memory, 8, 1));
}

static void one_event_each(void)
{
    gni_post_descriptor_t d;
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 8);
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    OK(post_and_wait(&a, &d));
    OK(next_event(b.dst, &entry));
    expect_empty(a.cq);
    expect_empty(b.dst);
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    OK(post_and_wait(&a, &d));
    expect_empty(b.dst);
}

/* ---- queues of a post ---- */

static void named_queue(void)
{
    gni_post_descriptor_t d, *done;
    gni_cq_handle_t other;
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    OK(GNI_CqCreate(a.nic, 64, 0, 0, NULL, NULL, &other));
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 8);
    OK(GNI_PostRdma(a.ep, &d));
    CHECK(d.src_cq_hndl == a.cq);
    OK(next_event(a.cq, &entry));
    OK(GNI_GetCompleted(a.cq, entry, &done));
    d.src_cq_hndl = other;
    OK(GNI_PostRdma(a.ep, &d));
    expect_empty(a.cq);
    OK(next_event(other, &entry));
    OK(GNI_GetCompleted(other, entry, &done));
    d.src_cq_hndl = a.dst;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(a.ep, &d));
    d.src_cq_hndl = b.cq;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(a.ep, &d));
}

static void out_of_bounds(void)
{
    pair_open(&a, &b, 0, 0);
    fill(a.memory, 8192, 1);
    for (int i = 0; i < 5; i++) {
        gni_post_descriptor_t d =
            transaction(i & 1 ? GNI_POST_FMA_PUT : GNI_POST_RDMA_PUT, &a, &b, 4096);

        d.remote_addr += i == 0   ? MEMORY_BYTES - 4095
                         : i == 1 ? MEMORY_BYTES
                         : i == 2 ? (uint64_t)-1
                         : i == 3 ? 1ull << 63
                                  : -d.remote_addr;
        expect_error(&a, &d, 9);
    }
    CHECK(is_zero(b.memory, MEMORY_BYTES));
}

static void local_bounds(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_RDMA_GET, &a, &b, 4096);
    d.local_addr += MEMORY_BYTES - 4092;
    expect_error(&a, &d, 9);
    d.local_mem_hndl = b.handle; /* of another NIC handle */
    d.local_addr -= 4096;
    expect_error(&a, &d, 7);
}

static void cq_write(void)
{
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    OK(GNI_EpSetEventData(a.ep, 4711, 99));
    for (uint64_t i = 0; i < 50; i++) {
        memset(&d, 0, sizeof(d));
        d.type = GNI_POST_CQWRITE;
        d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
        d.dlvr_mode = GNI_DLVMODE_IN_ORDER;
        d.remote_mem_hndl = b.handle;
        d.cqwrite_value = 0xffff800000000000ull + i;
        OK(GNI_PostCqWrite(a.ep, &d));
        OK(next_event(a.cq, &entry));
        CHECK_EQ(4711, GNI_CQ_GET_INST_ID(entry));
        OK(GNI_GetCompleted(a.cq, entry, &done));
    }
    for (uint64_t i = 0; i < 50; i++) {
        OK(next_event(b.dst, &entry));
        CHECK_EQ(0x800000000000ull + i, GNI_CQ_GET_DATA(entry));
        CHECK_EQ(i, GNI_CQ_GET_INST_ID(entry));
    }
    CHECK(is_zero(b.memory, 4096));
}

static void too_long(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, (1ull << 32) + 4);
    CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(a.ep, &d));
    d.length = UINT64_MAX - 3;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(a.ep, &d));
    d.type = GNI_POST_FMA_PUT;
    expect_error(&a, &d, 9);
    CHECK(is_zero(b.memory, 4096));
}

static void unbound(void)
{
    gni_post_descriptor_t d;

    node_open(&a, 1, 0, 0);
    d = transaction(GNI_POST_RDMA_PUT, &a, &a, 8);
    CODE(GNI_RC_INVALID_PARAM, GNI_PostRdma(a.ep, &d));
    d.type = GNI_POST_FMA_PUT;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostFma(a.ep, &d));
}

static void to_itself(void)
{
    gni_post_descriptor_t d;

    node_open(&a, 1, 0, 0);
    OK(GNI_EpBind(a.ep, a.pe, a.inst));
    fill(a.memory, 512, 1);
    d = transaction(GNI_POST_RDMA_PUT, &a, &a, 512);
    d.remote_addr += 8192;
    OK(post_and_wait(&a, &d));
    CHECK(is_filled(a.memory + 8192, 512, 1));
}

static void chain(void)
{
    struct node far[3];
    gni_ep_handle_t ep[3];
    gni_post_descriptor_t first, *done;
    gni_ct_put_post_descriptor_t next[2];
    gni_cq_entry_t entry;

    node_open(&a, 1, 0, 0);
    fill(a.memory, 4096, 5);
    for (uint32_t i = 0; i < 3; i++) {
        node_open(&far[i], 10 + i, 0, 0);
        OK(GNI_EpCreate(a.nic, a.cq, &ep[i]));
        OK(GNI_EpBind(ep[i], a.pe, 10 + i));
    }
    first = transaction(GNI_POST_FMA_PUT, &a, &far[0], 100);
    memset(next, 0, sizeof(next));
    for (int i = 0; i < 2; i++) {
        next[i].ep_hndl = ep[i + 1];
        next[i].length = 100;
        next[i].remote_addr = (uint64_t)(uintptr_t)far[i + 1].memory;
        next[i].remote_mem_hndl = far[i + 1].handle;
        next[i].local_addr = (uint64_t)(uintptr_t)a.memory;
    }
    first.next_descr = &next[0];
    next[0].next_descr = &next[1];
    OK(GNI_CtPostFma(ep[0], &first));
    OK(next_event(a.cq, &entry));
    OK(GNI_GetCompleted(a.cq, entry, &done));
    CHECK(done == &first);
    expect_empty(a.cq);
    for (int i = 0; i < 3; i++) {
        CHECK(is_filled(far[i].memory, 100, 5));
        memset(far[i].memory, 0, 100);
    }
    next[1].ep_hndl = NULL;
    CODE(GNI_RC_INVALID_PARAM, GNI_CtPostFma(ep[0], &first));
    next[1].ep_hndl = ep[2];
    next[1].next_descr = &next[0]; /* bites its tail */
    CODE(GNI_RC_INVALID_PARAM, GNI_CtPostFma(ep[0], &first));
    CHECK(is_zero(far[0].memory, 100));
    next[1].next_descr = NULL;
    next[1].length = 1ull << 30;
    CODE(GNI_RC_SIZE_ERROR, GNI_CtPostFma(ep[0], &first));
    first.type = GNI_POST_RDMA_PUT;
    CODE(GNI_RC_INVALID_PARAM, GNI_CtPostFma(ep[0], &first));
    CODE(GNI_RC_INVALID_PARAM, GNI_CtPostCqWrite(ep[0], &first));
}

/* Descriptors of any bytes: an answer, no crash, nothing outside the registration. */
static void any_descriptor(void)
{
    uint64_t seed = check_seed();
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    for (int i = 0; i < 20000; i++) {
        gni_post_descriptor_t d = transaction(GNI_POST_FMA_PUT, &a, &b, 64), *done;
        uint8_t *bytes = (uint8_t *)&d;

        for (int k = 0; k < 1 + i % 6; k++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            bytes[(seed >> 33) % sizeof(d)] = (uint8_t)(seed >> 56);
        }
        d.local_addr = (uint64_t)(uintptr_t)a.memory; /* of an FMA put: any readable memory */
        if (d.type == GNI_POST_FMA_PUT || d.type == GNI_POST_FMA_PUT_W_SYNCFLAG)
            d.length &= 0xffff;
        if (i & 1)
            GNI_PostFma(a.ep, &d);
        else
            GNI_PostRdma(a.ep, &d);
        while (GNI_CqGetEvent(a.cq, &entry) != GNI_RC_NOT_DONE)
            GNI_GetCompleted(a.cq, entry, &done);
    }
    gni_post_descriptor_t d = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
    OK(post_and_wait(&a, &d));
}

static const struct check_case cases[] = {
    {"48", "sizes", sizes},
    {"48", "sizes_mapped", sizes_mapped},
    {"49", "any_alignment", any_alignment},
    {"50", "get_alignment", get_alignment},
    {"51,52", "lengths_of_nothing", lengths_of_nothing},
    {"53", "fma_source", fma_source},
    {"54,55", "wrong_types", wrong_types},
    {"56", "dual_events", dual_events},
    {"57,58", "status_and_id", status_and_id},
    {"59", "silent", silent},
    {"60", "one_event_each", one_event_each},
    {"62,63", "named_queue", named_queue},
    {"65", "out_of_bounds", out_of_bounds},
    {"", "local_bounds", local_bounds},
    {"66,67", "cq_write", cq_write},
    {"68", "too_long", too_long},
    {"70", "post_unbound", unbound},
    {"", "to_itself", to_itself},
    {"78", "chain", chain},
    {"", "any_descriptor", any_descriptor},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
