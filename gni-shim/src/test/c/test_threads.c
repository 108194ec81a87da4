/* Several NIC handles in one address space, and several threads on one: for ThreadSanitizer.
 * Nothing forks here. */
#define _GNU_SOURCE
#include "gni_ext.h"
#include "gni_lock.h"
#include "repeats.h"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4u
#define ADDS 1500u
#define MESSAGES 5000u
#define BYTES 65536u

#define OK(call)                                                                                   \
    do {                                                                                           \
        gni_return_t code_ = (call);                                                               \
        if (code_ != GNI_RC_SUCCESS) {                                                             \
            printf("not ok threads: line %d: %s: %s (%s)\n0 passed, 1 failed, 0 skipped\n",        \
                   __LINE__, #call, gni_err_str[code_], GNI_ExtError());                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct node {
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    gni_cq_handle_t cq, dst;
    gni_ep_handle_t ep;
    gni_mem_handle_t handle;
    uint8_t *memory;
    uint32_t pe, inst;
};
static struct node target;
static pthread_barrier_t barrier;

static void open_node(struct node *n, uint32_t inst)
{
    void *memory;

    n->inst = inst;
    OK(GNI_CdmCreate(inst, 9, 0x990000, 0, &n->cdm));
    OK(GNI_CdmAttach(n->cdm, 0, &n->pe, &n->nic));
    OK(GNI_CqCreate(n->nic, 512, 0, GNI_CQ_BLOCKING, NULL, NULL, &n->cq));
    OK(GNI_CqCreate(n->nic, 8192, 0, GNI_CQ_BLOCKING, NULL, NULL, &n->dst));
    OK(GNI_EpCreate(n->nic, n->cq, &n->ep));
    OK(GNI_ExtMemAlloc(n->nic, BYTES, &memory));
    n->memory = memory;
    OK(GNI_MemRegister(n->nic, (uint64_t)(uintptr_t)memory, BYTES, n->dst, 0, (uint32_t)-1,
                       &n->handle));
}

static void add_one(struct node *from)
{
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t entry;

    memset(&d, 0, sizeof(d));
    d.type = GNI_POST_AMO;
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    d.amo_cmd = GNI_FMA_ATOMIC_ADD;
    d.first_operand = 1;
    d.length = 8;
    d.remote_addr = (uint64_t)(uintptr_t)target.memory;
    d.remote_mem_hndl = target.handle;
    OK(GNI_PostFma(from->ep, &d));
    OK(GNI_CqWaitEvent(from->cq, 60000, &entry));
    OK(GNI_GetCompleted(from->cq, entry, &done));
}

static void *adder(void *argument)
{
    struct node *n = argument;

    pthread_barrier_wait(&barrier);
    for (uint32_t i = 0; i < ADDS; i++)
        add_one(n);
    return NULL;
}

static void many_nics(void)
{
    struct node n[THREADS];
    pthread_t thread[THREADS];
    gni_cq_entry_t entry;
    uint64_t sum;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        open_node(&n[i], 10 + i);
        OK(GNI_EpBind(n[i].ep, target.pe, target.inst));
        pthread_create(&thread[i], NULL, adder, &n[i]);
    }
    for (uint32_t i = 0; i < THREADS * ADDS; i++)
        OK(GNI_CqWaitEvent(target.dst, 60000, &entry));
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        OK(GNI_CdmDestroy(n[i].cdm));
    }
    memcpy(&sum, target.memory, 8);
    if (sum != THREADS * ADDS)
        OK(GNI_RC_TRANSACTION_ERROR);
    printf("ok threads_on_many_nics\n");
}

/* ---- messages ---- */

static gni_smsg_attr_t mailbox(const struct node *n)
{
    gni_smsg_attr_t attr;

    memset(&attr, 0, sizeof(attr));
    attr.msg_type = GNI_SMSG_TYPE_MBOX;
    attr.msg_buffer = n->memory;
    attr.buff_size = BYTES;
    attr.mem_hndl = n->handle;
    attr.mbox_offset = 8192;
    attr.mbox_maxcredit = 4;
    attr.msg_maxsize = 64;
    return attr;
}

static void *receiver(void *argument)
{
    struct node *n = argument;
    void *message;

    for (uint32_t i = 0; i < MESSAGES; i++) {
        gni_return_t code;

        while ((code = GNI_SmsgGetNext(n->ep, &message)) == GNI_RC_NOT_DONE)
            sched_yield();
        OK(code);
        if (*(uint32_t *)message != i)
            OK(GNI_RC_TRANSACTION_ERROR);
        OK(GNI_SmsgRelease(n->ep));
    }
    return NULL;
}

static void messages(void)
{
    struct node a, b;
    gni_smsg_attr_t of_a, of_b;
    gni_cq_entry_t entry;
    pthread_t thread;

    open_node(&a, 20);
    open_node(&b, 21);
    OK(GNI_EpBind(a.ep, b.pe, b.inst));
    OK(GNI_EpBind(b.ep, a.pe, a.inst));
    of_a = mailbox(&a);
    of_b = mailbox(&b);
    OK(GNI_SmsgInit(a.ep, &of_a, &of_b));
    OK(GNI_SmsgInit(b.ep, &of_b, &of_a));
    pthread_create(&thread, NULL, receiver, &b);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        gni_return_t code;

        while ((code = GNI_SmsgSend(a.ep, &i, 4, NULL, 0, i)) == GNI_RC_NOT_DONE)
            sched_yield();
        OK(code);
        OK(GNI_CqGetEvent(a.cq, &entry));
    }
    pthread_join(thread, NULL);
    OK(GNI_CdmDestroy(a.cdm));
    OK(GNI_CdmDestroy(b.cdm));
    printf("ok threads_with_messages\n");
}

/* ---- one NIC handle ---- */

static struct node together;

static void *poster(void *argument)
{
    gni_mem_handle_t handle;
    gni_ep_handle_t ep;

    (void)argument;
    for (uint32_t i = 0; i < 300; i++) {
        gni_post_descriptor_t d;

        OK(GNI_EpCreate(together.nic, NULL, &ep));
        OK(GNI_EpBind(ep, target.pe, target.inst));
        OK(GNI_MemRegister(together.nic, (uint64_t)(uintptr_t)together.memory, 4096, NULL, 0,
                           (uint32_t)-1, &handle));
        memset(&d, 0, sizeof(d));
        d.type = GNI_POST_RDMA_PUT;
        d.cq_mode = GNI_CQMODE_SILENT;
        d.local_addr = (uint64_t)(uintptr_t)together.memory;
        d.local_mem_hndl = handle;
        d.remote_addr = (uint64_t)(uintptr_t)target.memory + 4096;
        d.remote_mem_hndl = target.handle;
        d.length = 512;
        OK(GNI_PostRdma(ep, &d));
        OK(GNI_MemDeregister(together.nic, &handle));
        OK(GNI_EpDestroy(ep));
    }
    return NULL;
}

static void one_nic(void)
{
    pthread_t thread[THREADS];

    open_node(&together, 30);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, poster, NULL);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    OK(GNI_CdmDestroy(together.cdm));
    printf("ok threads_on_one_nic\n");
}

/* ---- one message queue ---- */

#define NODES 8u
static gni_msgq_handle_t queue;
static uint32_t connection_to[NODES];

static int no_message(uint32_t snd_id, uint32_t snd_pe, void *msg, uint8_t msg_tag, void *cb_data)
{
    (void)snd_id, (void)snd_pe, (void)msg, (void)msg_tag, (void)cb_data;
    return 1;
}

static void *asker(void *argument)
{
    uint32_t *index = argument, size;
    gni_msgq_ep_attr_t attrs;

    pthread_barrier_wait(&barrier);
    OK(GNI_MsgqGetConnAttrs(queue, 1000 + (uint32_t)(index - connection_to), &attrs, &size));
    *index = (uint32_t)attrs.insts[0].mdh_off;
    return NULL;
}

/* Each other node gets a connection of its own, also when threads ask at the same time. */
static void one_queue(void)
{
    gni_msgq_attr_t attrs;
    pthread_t thread[NODES];
    struct node n;

    memset(&attrs, 0, sizeof(attrs));
    attrs.max_msg_sz = 64;
    attrs.smsg_q_sz = 1024;
    attrs.rcv_pool_sz = 4096;
    attrs.num_msgq_eps = NODES;
    attrs.nloc_insts = 1;
    attrs.rcv_cq_sz = 64;
    open_node(&n, 40);
    OK(GNI_MsgqInit(n.nic, no_message, NULL, NULL, &attrs, &queue));
    pthread_barrier_init(&barrier, NULL, NODES);
    for (int round = 0; round < repeats(25); round++) {
        uint32_t seen = 0;

        for (uint32_t i = 0; i < NODES; i++)
            pthread_create(&thread[i], NULL, asker, &connection_to[i]);
        for (uint32_t i = 0; i < NODES; i++) {
            pthread_join(thread[i], NULL);
            seen |= 1u << connection_to[i];
        }
        if (seen != (1u << NODES) - 1)
            OK(GNI_RC_TRANSACTION_ERROR);
        for (uint32_t i = 0; i < NODES; i++)
            OK(GNI_MsgqConnRelease(queue, 1000 + i));
    }
    pthread_barrier_destroy(&barrier);
    OK(GNI_MsgqRelease(queue));
    OK(GNI_CdmDestroy(n.cdm));
    printf("ok threads_on_one_message_queue\n");
}

/* ---- the lock of a NIC handle, and its owner ---- */

#define INSIDE 200000u
#define VISITS 400u
static struct {
    struct gni_lock lock;
    uint64_t count; /* under it */
    _Atomic uint32_t visits;
} shared_lock;

/* Long enough inside that who does not wait for the owner meets it. */
static void count_one(void)
{
    uint64_t seen;

    gni_enter(&shared_lock.lock);
    seen = shared_lock.count;
    for (volatile int i = 0; i < 20; i++)
        ;
    shared_lock.count = seen + 1;
    gni_leave(&shared_lock.lock);
}

/* Comes so often in a row that it becomes the owner, again and again. */
static void *owner(void *counted)
{
    uint64_t *own = counted;

    while (*own < INSIDE || atomic_load(&shared_lock.visits) < VISITS) {
        count_one();
        ++*own;
    }
    return NULL;
}

/* Ownership is asked for twice as often in a row after each loss: a fresh lock for each round. */
static void an_owner_and_a_visitor(void)
{
    for (int round = 0; round < repeats(25); round++) {
        uint64_t own = 0;
        pthread_t thread;

        memset(&shared_lock, 0, sizeof(shared_lock));
        gni_lock_init(&shared_lock.lock);
        pthread_create(&thread, NULL, owner, &own);
        for (uint32_t i = 0; i < VISITS; i++) {
            count_one();
            atomic_fetch_add(&shared_lock.visits, 1);
            for (volatile int j = 0; j < 20000; j++)
                ;
        }
        pthread_join(thread, NULL);
        if (shared_lock.count != own + VISITS)
            OK(GNI_RC_TRANSACTION_ERROR);
        gni_lock_destroy(&shared_lock.lock);
    }
    printf("ok threads_own_the_lock\n");
}

int main(void)
{
    char directory[] = "/dev/shm/ugni-test-XXXXXX", command[128];

    alarm(240);
    if (mkdtemp(directory) == NULL)
        return 2;
    setenv("GNI_SHIM_DIR", directory, 1);
    open_node(&target, 1);
    many_nics();
    messages();
    one_nic();
    one_queue();
    an_owner_and_a_visitor();
    OK(GNI_CdmDestroy(target.cdm));
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    if (system(command) != 0)
        return 1;
    printf("5 passed, 0 failed, 0 skipped\n");
    return 0;
}
