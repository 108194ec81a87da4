/* What ugni-bench measures: uGNI's calls and the software NIC's own, between two threads. */
#ifndef UGNI_OPERATIONS_H
#define UGNI_OPERATIONS_H
#include "gni_ext.h"
#include "softnic.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES (32u << 20)
#define LARGE (4u << 20)
#define MAILBOX (16u << 20)
#define CREDITS 128
#define IN_A_ROW 400

#define OK(call)                                                                                   \
    do {                                                                                           \
        gni_return_t code_ = (call);                                                               \
        if (code_ != GNI_RC_SUCCESS) {                                                             \
            fprintf(stderr, "%s: %s (%s)\n", #call, gni_err_str[code_], GNI_ExtError());           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define FINE(call)                                                                                 \
    do {                                                                                           \
        if ((call) != 0) {                                                                         \
            fprintf(stderr, "%s: %s\n", #call, why);                                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct node {
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    gni_cq_handle_t cq;
    gni_ep_handle_t ep;
    gni_mem_handle_t handle;
    uint8_t *memory;
    uint32_t pe;
};
struct raw {
    snic_t *nic;
    snic_peer_t *peer;
    snic_key_t key;
    uint8_t *memory;
};
static struct node node[2];
static struct raw raw[2];
static char why[SNIC_WHY_MAX];

static double clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Of this thread, which never sleeps: what others take from the processor does not count. */
static double spent(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void open_all(void)
{
    void *memory;

    for (uint32_t i = 0; i < 2; i++) {
        OK(GNI_CdmCreate(i, 9, 0x990000, 0, &node[i].cdm));
        OK(GNI_CdmAttach(node[i].cdm, 0, &node[i].pe, &node[i].nic));
        OK(GNI_CqCreate(node[i].nic, 512, 0, GNI_CQ_NOBLOCK, NULL, NULL, &node[i].cq));
        OK(GNI_EpCreate(node[i].nic, node[i].cq, &node[i].ep));
        OK(GNI_EpBind(node[i].ep, node[0].pe, 1 - i));
        OK(GNI_ExtMemAlloc(node[i].nic, BYTES, &memory));
        node[i].memory = memory;
        OK(GNI_MemRegister(node[i].nic, (uint64_t)(uintptr_t)memory, BYTES, NULL, 0, (uint32_t)-1,
                           &node[i].handle));
    }
    for (uint32_t i = 0; i < 2; i++) {
        snic_options_t options = {.directory = getenv("GNI_SHIM_DIR"),
                                  .job = "raw",
                                  .name = i ? "one" : "zero",
                                  .personality = SNIC_SHM,
                                  .area_bytes = 4096};

        FINE(snic_open(&options, &raw[i].nic, why, sizeof(why)));
        FINE(snic_publish(raw[i].nic));
        FINE(snic_memory_alloc(raw[i].nic, BYTES, 0, &memory, why, sizeof(why)));
        raw[i].memory = memory;
        FINE(snic_register(raw[i].nic, memory, BYTES, SNIC_READ | SNIC_WRITE, &raw[i].key, why,
                           sizeof(why)));
    }
    for (uint32_t i = 0; i < 2; i++)
        FINE(snic_attach(raw[i].nic, i ? "zero" : "one", 0, &raw[i].peer, why, sizeof(why)));
}

/* ---- one operation after the other ---- */

static void raw_put(void)
{
    FINE(snic_put(raw[0].peer, &raw[1].key, 0, raw[0].memory, 8));
}

static void plain_copy(void)
{
    memcpy(raw[1].memory, raw[0].memory, LARGE);
    __asm__ volatile("" ::: "memory");
}

/* Descriptors are filled once; what the library writes into them is all that changes. */
static gni_post_descriptor_t told, silent, large_put, large_get;

static void prepare(gni_post_descriptor_t *d, gni_post_type_t type, uint64_t length, uint16_t mode)
{
    memset(d, 0, sizeof(*d));
    d->type = type;
    d->cq_mode = mode;
    d->local_addr = (uint64_t)(uintptr_t)node[0].memory;
    d->local_mem_hndl = node[0].handle;
    d->remote_addr = (uint64_t)(uintptr_t)node[1].memory;
    d->remote_mem_hndl = node[1].handle;
    d->length = length;
}

static void prepare_all(void)
{
    prepare(&told, GNI_POST_FMA_PUT, 8, GNI_CQMODE_GLOBAL_EVENT);
    prepare(&silent, GNI_POST_FMA_PUT, 8, GNI_CQMODE_SILENT);
    prepare(&large_put, GNI_POST_RDMA_PUT, LARGE, GNI_CQMODE_GLOBAL_EVENT);
    prepare(&large_get, GNI_POST_RDMA_GET, LARGE, GNI_CQMODE_GLOBAL_EVENT);
}

static void finish(int at)
{
    gni_post_descriptor_t *done;
    gni_cq_entry_t entry;

    OK(GNI_CqGetEvent(node[at].cq, &entry));
    OK(GNI_GetCompleted(node[at].cq, entry, &done));
}

static void fma_put(void)
{
    OK(GNI_PostFma(node[0].ep, &told));
    finish(0);
}

static void fma_silent(void)
{
    OK(GNI_PostFma(node[0].ep, &silent));
}

static void bte_put(void)
{
    OK(GNI_PostRdma(node[0].ep, &large_put));
    finish(0);
}

static void bte_get(void)
{
    OK(GNI_PostRdma(node[0].ep, &large_get));
    finish(0);
}

/* The three calls of a post whose end is reported, each by itself: 0 the post, 1 its event, 2 its
 * end. */
static double one_call(int which)
{
    static gni_post_descriptor_t d[IN_A_ROW];
    static gni_cq_entry_t entry[IN_A_ROW];
    gni_post_descriptor_t *done;
    double at[4];

    for (int i = 0; i < IN_A_ROW; i++)
        prepare(&d[i], GNI_POST_FMA_PUT, 8, GNI_CQMODE_GLOBAL_EVENT);
    at[0] = spent();
    for (int i = 0; i < IN_A_ROW; i++)
        OK(GNI_PostFma(node[0].ep, &d[i]));
    at[1] = spent();
    for (int i = 0; i < IN_A_ROW; i++)
        OK(GNI_CqGetEvent(node[0].cq, &entry[i]));
    at[2] = spent();
    for (int i = 0; i < IN_A_ROW; i++)
        OK(GNI_GetCompleted(node[0].cq, entry[i], &done));
    at[3] = spent();
    return at[which + 1] - at[which];
}

/* ---- there and back, or there, two threads ---- */

static void raw_send(int from, uint64_t value)
{
    FINE(snic_put(raw[from].peer, &raw[1 - from].key, 0, &value, 8));
}

static void raw_take(int at, uint64_t value)
{
    while (__atomic_load_n((uint64_t *)(void *)raw[at].memory, __ATOMIC_ACQUIRE) != value)
        ;
}

static void fma_send(int from, uint64_t value)
{
    static gni_post_descriptor_t d[2];
    gni_post_descriptor_t *p = &d[from];

    p->type = GNI_POST_FMA_PUT;
    p->cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    p->local_addr = (uint64_t)(uintptr_t)&value;
    p->remote_addr = (uint64_t)(uintptr_t)node[1 - from].memory;
    p->remote_mem_hndl = node[1 - from].handle;
    p->length = 8;
    OK(GNI_PostFma(node[from].ep, p));
    finish(from);
}

static void fma_take(int at, uint64_t value)
{
    while (__atomic_load_n((uint64_t *)(void *)node[at].memory, __ATOMIC_ACQUIRE) != value)
        ;
}

static void smsg_send(int from, uint64_t value)
{
    gni_cq_entry_t entry;
    gni_return_t code;

    while ((code = GNI_SmsgSend(node[from].ep, &value, 8, NULL, 0, 1)) == GNI_RC_NOT_DONE)
        ;
    OK(code);
    OK(GNI_CqGetEvent(node[from].cq, &entry));
}

static void smsg_take(int at, uint64_t value)
{
    gni_return_t code;
    void *message;

    while ((code = GNI_SmsgGetNext(node[at].ep, &message)) == GNI_RC_NOT_DONE)
        ;
    OK(code);
    if (memcmp(message, &value, 8) != 0)
        OK(GNI_RC_TRANSACTION_ERROR);
    OK(GNI_SmsgRelease(node[at].ep));
}

/* As many lines as there are credits, each with its number: what the machine can hand over. */
static void line_send(int from, uint64_t value)
{
    uint64_t *line = (uint64_t *)(void *)(raw[1 - from].memory + value % CREDITS * 64);
    uint64_t *taken = (uint64_t *)(void *)(raw[from].memory + MAILBOX);

    while (value > CREDITS - CREDITS / 4 &&
           __atomic_load_n(taken, __ATOMIC_ACQUIRE) + CREDITS - CREDITS / 4 < value)
        ;
    line[1] = value;
    __atomic_store_n(line, value, __ATOMIC_RELEASE);
}

static void line_take(int at, uint64_t value)
{
    uint64_t *line = (uint64_t *)(void *)(raw[at].memory + value % CREDITS * 64);

    while (__atomic_load_n(line, __ATOMIC_ACQUIRE) != value)
        ;
    if (line[1] != value)
        OK(GNI_RC_TRANSACTION_ERROR);
    if (value % (CREDITS / 4) == 0)
        __atomic_store_n((uint64_t *)(void *)(raw[1 - at].memory + MAILBOX), value,
                         __ATOMIC_RELEASE);
}

static void connect_messages(void)
{
    gni_smsg_attr_t attr[2];

    memset(attr, 0, sizeof(attr));
    for (int i = 0; i < 2; i++) {
        attr[i].msg_type = GNI_SMSG_TYPE_MBOX;
        attr[i].msg_buffer = node[i].memory;
        attr[i].buff_size = BYTES;
        attr[i].mem_hndl = node[i].handle;
        attr[i].mbox_offset = MAILBOX;
        attr[i].mbox_maxcredit = CREDITS;
        attr[i].msg_maxsize = 64;
    }
    OK(GNI_SmsgInit(node[0].ep, &attr[0], &attr[1]));
    OK(GNI_SmsgInit(node[1].ep, &attr[1], &attr[0]));
}

#endif
