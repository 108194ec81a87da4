/* A memory handle reaches what it was made for: one of another instance, one with a flipped bit, a
 * stale one. */
#include "mailbox.h"
#include "gni_area.h"

static struct node a, b;

/* It reaches that one's memory, and no other's. */
static void handle_of_another_instance(void)
{
    struct node c;
    gni_mem_handle_t second;
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    node_open(&c, 3, 0, 0);
    OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)b.memory, 4096, NULL, GNI_MEM_READWRITE,
                       (uint32_t)-1, &second));
    OK(GNI_EpUnbind(a.ep));
    OK(GNI_EpBind(a.ep, c.pe, c.inst));
    memset(a.memory, 1, 64);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
    d.remote_mem_hndl = second;
    d.remote_addr = (uint64_t)(uintptr_t)c.memory;
    expect_error(&a, &d, 9);
    d.type = GNI_POST_RDMA_GET;
    expect_error(&a, &d, 9);
    CHECK(is_zero(b.memory, 4096) && is_zero(c.memory, 4096));
    CHECK(a.memory[0] == 1);
}

static void flipped_bits(void)
{
    gni_post_descriptor_t d;
    gni_smsg_attr_t near, far;

    pair_open(&a, &b, 0, 0);
    memset(a.memory, 1, 64);
    near = mailbox_at(&a, GNI_SMSG_TYPE_MBOX, 8192, 4, 128);
    for (int bit = 0; bit < 128; bit++) {
        d = transaction(bit & 1 ? GNI_POST_RDMA_PUT : GNI_POST_FMA_PUT, &a, &b, 64);
        if (bit < 64)
            d.remote_mem_hndl.qword1 ^= 1ull << bit;
        else
            d.remote_mem_hndl.qword2 ^= 1ull << (bit - 64);
        expect_error(&a, &d, 7);
        far = mailbox_at(&b, GNI_SMSG_TYPE_MBOX, 8192, 4, 128);
        far.mem_hndl = d.remote_mem_hndl;
        CODE(GNI_RC_INVALID_PARAM, GNI_SmsgInit(a.ep, &near, &far));
    }
    CHECK(is_zero(b.memory, MEMORY_BYTES));
}

/* The same place in the table, the same memory: an older handle is none. */
static void registered_again(void)
{
    gni_mem_handle_t older[3];
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    for (int i = 0; i < 3; i++) {
        older[i] = b.handle;
        for (uint32_t k = 0; k < GNI_MDHS; k++) { /* a place is used again after all others */
            OK(GNI_MemDeregister(b.nic, &b.handle));
            OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)b.memory, MEMORY_BYTES, b.dst, 0,
                               (uint32_t)-1, &b.handle));
        }
        CHECK_EQ(gni_handle_index(&older[i]), gni_handle_index(&b.handle));
    }
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
    d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
    memset(a.memory, 1, 64);
    for (int i = 0; i < 3; i++) {
        d.remote_mem_hndl = older[i];
        expect_error(&a, &d, 7);
    }
    CHECK(is_zero(b.memory, 4096));
    expect_empty(b.dst);
    CODE(GNI_RC_INVALID_PARAM, GNI_MemDeregister(b.nic, &older[2]));
    d.remote_mem_hndl = b.handle;
    OK(post_and_wait(&a, &d));
    CHECK_EQ(1, b.memory[0]);
}

static const struct check_case cases[] = {
    {"", "handle_of_another_instance", handle_of_another_instance},
    {"", "flipped_bits", flipped_bits},
    {"", "registered_again", registered_again},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
