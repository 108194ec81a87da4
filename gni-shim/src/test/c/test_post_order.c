/* Between processes, the data of a post is there before its event and before its flag (assertions
 * 61, 64). */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

static struct node b;

#define ROUNDS 600
static void put_rounds(void)
{
    struct node me, far = {0};

    node_open(&me, 3, 0, 1);
    far.handle = shared->handle[0];
    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    OK(GNI_EpBind(me.ep, me.pe, 2));
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        gni_post_descriptor_t d =
            transaction(i & 1 ? GNI_POST_RDMA_PUT : GNI_POST_FMA_PUT, &me, &far, 1024);

        memset(me.memory, (int)(i & 0xff), 1024);
        d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
        OK(i & 1 ? GNI_PostRdma(me.ep, &d) : GNI_PostFma(me.ep, &d));
        await_flag(1, i);
    }
    node_close(&me);
}

static void rounds_of(int mapped)
{
    gni_cq_entry_t entry;
    pid_t pid;

    node_open(&b, 2, 0, mapped);
    shared->handle[0] = b.handle;
    shared->number[0] = (uint64_t)(uintptr_t)b.memory;
    pid = start(put_rounds);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        OK(GNI_CqWaitEvent(b.dst, 30000, &entry));
        for (int k = 0; k < 1024; k++)
            CHECK_EQ(i & 0xff, b.memory[k]);
        set_flag(1, i);
    }
    CHECK_EQ(0, join(pid));
}

static void event_after_data(void)
{
    rounds_of(1);
}

static void event_after_data_foreign(void)
{
    rounds_of(0);
}

#define FLAGS 100000
static void put_with_flags(void)
{
    struct node me, far = {0};

    node_open(&me, 3, 0, 1);
    far.handle = shared->handle[0];
    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    OK(GNI_EpBind(me.ep, me.pe, 2));
    for (uint64_t i = 1; i <= FLAGS; i++) {
        gni_post_descriptor_t d = transaction(GNI_POST_FMA_PUT_W_SYNCFLAG, &me, &far, 128);

        for (int k = 0; k < 16; k++)
            ((uint64_t *)(void *)me.memory)[k] = i;
        d.remote_addr += 64 + i % 64 * 256;
        d.cq_mode = GNI_CQMODE_SILENT;
        d.sync_flag_value = i;
        d.sync_flag_addr = (uint64_t)(uintptr_t)far.memory;
        OK(GNI_PostFma(me.ep, &d));
        while (__atomic_load_n(&shared->number[1], __ATOMIC_ACQUIRE) + 63 < i)
            sched_yield();
    }
    node_close(&me);
}

static void sync_flag(void)
{
    pid_t pid;

    node_open(&b, 2, 0, 1);
    shared->handle[0] = b.handle;
    shared->number[0] = (uint64_t)(uintptr_t)b.memory;
    pid = start(put_with_flags);
    for (uint64_t last = 0; last < FLAGS;) {
        uint64_t flag = __atomic_load_n((uint64_t *)(void *)b.memory, __ATOMIC_ACQUIRE);
        const uint64_t *payload = (const uint64_t *)(const void *)(b.memory + 64 + flag % 64 * 256);

        if (flag == last) {
            sched_yield();
            continue;
        }
        for (int k = 0; k < 16; k++)
            CHECK(payload[k] == flag);
        last = flag;
        __atomic_store_n(&shared->number[1], last, __ATOMIC_RELEASE);
    }
    CHECK_EQ(0, join(pid));
}

static const struct check_case cases[] = {
    {"61", "event_after_data", event_after_data},
    {"61", "event_after_data_foreign", event_after_data_foreign},
    {"64", "sync_flag", sync_flag},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
