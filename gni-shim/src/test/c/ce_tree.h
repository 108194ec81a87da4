/* Trees of the collective engine for its tests. */
#ifndef CE_TREE_H
#define CE_TREE_H

#include "check.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAVES_MAX 12
#define MODES (GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONCOMP | GNI_CE_MODE_RC_ADAPT)

/* Leaf `rank` of `leaves` hangs on the channel of process rank / fan; these hang on that of process
 * 0, which is the root. fan = leaves: one channel. */
struct tree {
    int rank, leaves, fan;
    uint32_t modes;
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    gni_cq_handle_t cq, results;
    gni_ce_handle_t ce, root;
    gni_ep_handle_t leaf;
    gni_mem_handle_t handle;
    gni_ce_result_t *result;
};

static inline void aries(void)
{
    setenv("GNI_SHIM_DEVICE", "aries", 1);
}

static uint32_t other_ids; /* added to the ids of binds, which are then nobody's instance */

static inline uint32_t inst_of(int rank)
{
    return 100 + (uint32_t)rank;
}

static inline gni_ep_handle_t bound(struct tree *t, int peer, uint32_t id, uint32_t child,
                                    gni_ce_child_t type)
{
    gni_ep_handle_t ep;
    uint32_t pe;

    OK(GNI_CdmGetNicAddress(0, &pe, NULL));
    OK(GNI_EpCreate(t->nic, t->cq, &ep));
    OK(GNI_EpBind(ep, pe, inst_of(peer) + other_ids));
    OK(GNI_EpSetCeAttr(ep, id, child, type));
    return ep;
}

/* All processes pass flag `index` together. */
static inline void meet(int index, int count)
{
    __atomic_fetch_add((uint32_t *)&shared->flag[index], 1, __ATOMIC_ACQ_REL);
    await_flag(index, (uint32_t)count);
}

static inline void make_channels(struct tree *t)
{
    int groups = (t->leaves + t->fan - 1) / t->fan, group = t->rank / t->fan;
    gni_ep_handle_t eps[GNI_CE_MAX_CHILDREN], up = NULL;
    uint32_t id;

    if (t->rank % t->fan == 0) {
        OK(GNI_CeCreate(t->nic, &t->ce));
        OK(GNI_CeGetId(t->ce, &id));
        shared->number[group] = id;
    }
    if (t->rank == 0 && groups > 1) {
        OK(GNI_CeCreate(t->nic, &t->root));
        OK(GNI_CeGetId(t->root, &id));
        shared->number[60] = id;
    }
    meet(1, t->leaves);
    if (t->rank % t->fan == 0) {
        int count = 0;

        for (int i = t->rank; i < t->rank + t->fan && i < t->leaves; i++, count++)
            eps[count] = bound(t, i, 0, (uint32_t)count, GNI_CE_CHILD_PE);
        if (groups > 1)
            up = bound(t, 0, (uint32_t)shared->number[60], (uint32_t)group, GNI_CE_CHILD_VCE);
        OK(GNI_CeConfigure(t->ce, eps, (uint32_t)count, up, t->results, t->modes));
    }
    if (t->root != NULL) {
        for (int g = 0; g < groups; g++)
            eps[g] =
                bound(t, g * t->fan, (uint32_t)shared->number[g], (uint32_t)g, GNI_CE_CHILD_VCE);
        OK(GNI_CeConfigure(t->root, eps, (uint32_t)groups, NULL, NULL, t->modes));
    }
    t->leaf = bound(t, group * t->fan, (uint32_t)shared->number[group],
                    (uint32_t)(t->rank % t->fan), GNI_CE_CHILD_PE);
    meet(2, t->leaves);
}

static inline void grow(struct tree *t, int rank, int leaves, int fan, uint32_t modes)
{
    void *memory;

    memset(t, 0, sizeof(*t));
    t->rank = rank;
    t->leaves = leaves;
    t->fan = fan;
    t->modes = modes;
    OK(GNI_CdmCreate(inst_of(rank), PTAG, COOKIE, 0, &t->cdm));
    uint32_t pe;
    OK(GNI_CdmAttach(t->cdm, 0, &pe, &t->nic));
    OK(GNI_CqCreate(t->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &t->cq));
    OK(GNI_CqCreate(t->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &t->results));
    memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    t->result = memory;
    OK(GNI_MemRegister(t->nic, (uint64_t)(uintptr_t)memory, 4096, NULL, 0, (uint32_t)-1,
                       &t->handle));
    meet(0, leaves);
    make_channels(t);
}

static inline gni_post_descriptor_t reduction(struct tree *t, gni_ce_cmd_type_t command,
                                              uint32_t mode, uint64_t first, uint64_t second)
{
    gni_post_descriptor_t d;

    memset(&d, 0, sizeof(d));
    d.type = GNI_POST_CE;
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    d.local_addr = (uint64_t)(uintptr_t)t->result;
    d.local_mem_hndl = t->handle;
    d.ce_cmd = command;
    d.ce_mode = mode;
    d.ce_red_id = 77;
    d.first_operand = first;
    d.second_operand = second;
    return d;
}

/* The event of a post, slept for. */
static inline gni_return_t finish(struct tree *t, gni_post_descriptor_t *d)
{
    gni_post_descriptor_t *done = NULL;
    gni_cq_entry_t entry;
    gni_return_t code = GNI_CqWaitEvent(t->cq, 60000, &entry);

    CHECK(code == GNI_RC_SUCCESS || code == GNI_RC_TRANSACTION_ERROR);
    CODE(code, GNI_GetCompleted(t->cq, entry, &done));
    CHECK(done == d);
    return code;
}

static inline void in_processes(int count, void (*body)(int rank))
{
    pid_t pid[LEAVES_MAX];
    int rank = 0;

    fflush(NULL);
    for (rank = 1; rank < count; rank++) {
        pid[rank] = fork();
        CHECK(pid[rank] >= 0);
        if (pid[rank] == 0) {
            end_with_parent();
            body(rank);
            _Exit(0);
        }
    }
    body(0);
    for (rank = 1; rank < count; rank++)
        join(pid[rank]);
}

/* A NIC handle with queues and a place for results, for itself. */
static inline void plant(struct tree *t, int rank)
{
    uint32_t pe;

    memset(t, 0, sizeof(*t));
    t->rank = rank;
    t->leaves = 1;
    t->fan = 1;
    OK(GNI_CdmCreate(inst_of(rank), PTAG, COOKIE, 0, &t->cdm));
    OK(GNI_CdmAttach(t->cdm, 0, &pe, &t->nic));
    OK(GNI_CqCreate(t->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &t->cq));
    OK(GNI_CqCreate(t->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &t->results));
    void *memory;
    memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    t->result = memory;
    OK(GNI_MemRegister(t->nic, (uint64_t)(uintptr_t)memory, 4096, NULL, 0, (uint32_t)-1,
                       &t->handle));
}

/* Two leaves of one process: instance 100 joins twice, as children 0 and 1. */
static inline gni_ep_handle_t lone(struct tree *t, uint32_t modes, gni_ep_handle_t *other)
{
    gni_ep_handle_t eps[2];
    uint32_t id;

    plant(t, 0);
    OK(GNI_CeCreate(t->nic, &t->ce));
    OK(GNI_CeGetId(t->ce, &id));
    for (uint32_t i = 0; i < 2; i++)
        eps[i] = bound(t, 0, id, i, GNI_CE_CHILD_PE);
    OK(GNI_CeConfigure(t->ce, eps, 2, NULL, t->results, modes));
    *other = eps[1];
    return eps[0];
}

/* Both leaves give; the first one's result is answered. */
static inline gni_ce_result_t *both(struct tree *t, gni_ep_handle_t one, gni_ep_handle_t other,
                                    gni_post_descriptor_t d, uint64_t second_gives)
{
    gni_post_descriptor_t e = d;

    d.cq_mode = e.cq_mode = GNI_CQMODE_SILENT;
    e.local_addr += 64;
    e.first_operand = second_gives;
    OK(GNI_PostFma(one, &d));
    CODE(GNI_RC_NOT_DONE, GNI_CeCheckResult(t->result, 1));
    OK(GNI_PostFma(other, &e));
    CHECK(GNI_CeCheckResult(t->result, 1) != GNI_RC_NOT_DONE);
    return t->result;
}

#endif
