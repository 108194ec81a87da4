/* Reductions over channels that are found by an address and a number, whatever the endpoints are
 * bound to (semantics.h; assertions 114, 118). */
#define _GNU_SOURCE
#include "semantics.h"

#define RESULT_AT 65536u
#define REDUCTIONS 20

struct line {
    const char *assertions, *name;
    const struct kind *kind;
};

struct reduction {
    gni_ce_handle_t ce[2];
    gni_ep_handle_t leaf;
    int owner; /* of the channel that the leaf hangs on */
    gni_post_descriptor_t d;
};

static gni_ep_handle_t role(struct member *m, int peer, uint32_t ce_id, int child,
                            gni_ce_child_t type)
{
    gni_ep_handle_t ep = bind_to(m, peer, 0);

    OK(GNI_EpSetCeAttr(ep, ce_id, (uint32_t)child, type));
    return ep;
}

static void make_channel(struct member *m, int which)
{
    struct reduction *r = m->own;

    OK(GNI_CeCreate(m->node.nic, &r->ce[which]));
    OK(GNI_CeGetId(r->ce[which], &m->board->about[m->rank].ce[which]));
}

/* No routing mode; the rounding and the event are one each (assertions 114, 118). */
static void configure(struct member *m, int which, gni_ep_handle_t *children, int count,
                      gni_ep_handle_t parent)
{
    const struct reduction *r = m->own;
    const uint32_t modes = GNI_CE_MODE_CQE_ONERR | GNI_CE_MODE_ROUND_ZERO;

    CODE(GNI_RC_INVALID_PARAM, GNI_CeConfigure(r->ce[which], children, (uint32_t)count, parent,
                                               NULL, modes | GNI_CE_MODE_ROUND_UP));
    OK(GNI_CeConfigure(r->ce[which], children, (uint32_t)count, parent, NULL, modes));
}

/* All are leaves of one channel of member 0. */
static void flat_prepare(struct member *m)
{
    m->own = calloc(1, sizeof(struct reduction));
    CHECK(m->own != NULL);
    if (m->rank == 0)
        make_channel(m, 0);
}

static void flat_connect(struct member *m)
{
    struct reduction *r = m->own;
    gni_ep_handle_t children[MEMBERS];

    for (int i = 0; i < m->size && m->rank == 0; i++)
        children[i] = role(m, i, 0, i, GNI_CE_CHILD_PE);
    if (m->rank == 0)
        configure(m, 0, children, m->size, NULL);
    r->leaf = role(m, 0, m->board->about[0].ce[0], m->rank, GNI_CE_CHILD_PE);
}

/* Everybody is the only leaf of a channel of his own; the last member has the root, too. */
static void tree_prepare(struct member *m)
{
    m->own = calloc(1, sizeof(struct reduction));
    CHECK(m->own != NULL);
    make_channel(m, 0);
    if (m->rank == m->size - 1)
        make_channel(m, 1);
}

static void tree_connect(struct member *m)
{
    const int root = m->size - 1;
    struct reduction *r = m->own;
    gni_ep_handle_t children[MEMBERS];

    children[0] = role(m, m->rank, 0, 0, GNI_CE_CHILD_PE);
    configure(m, 0, children, 1,
              role(m, root, m->board->about[root].ce[1], m->rank, GNI_CE_CHILD_VCE));
    for (int i = 0; i < m->size && m->rank == root; i++)
        children[i] = role(m, i, m->board->about[i].ce[0], i, GNI_CE_CHILD_VCE);
    if (m->rank == root)
        configure(m, 1, children, m->size, NULL);
    r->owner = m->rank;
    r->leaf = role(m, m->rank, m->board->about[m->rank].ce[0], 0, GNI_CE_CHILD_PE);
}

static void reduce(struct member *m)
{
    struct reduction *r = m->own;

    memset(&r->d, 0, sizeof(r->d));
    r->d.type = GNI_POST_CE;
    r->d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    r->d.local_addr = (uint64_t)(uintptr_t)m->node.memory + RESULT_AT;
    r->d.local_mem_hndl = m->node.handle;
    r->d.ce_cmd = GNI_FMA_CE_IADD;
    r->d.ce_red_id = (uint64_t)m->events + 1;
    r->d.first_operand = (uint64_t)(m->events * 100 + m->rank);
    OK(GNI_PostFma(r->leaf, &r->d));
}

/* Somebody who joins late is not somebody who is gone: in one of the worlds. */
static void reduce_late(struct member *m)
{
    if (m->ids == DEFAULT_IDS && m->world->processes == 4 && m->world->addresses == 1 &&
        m->rank == 3)
        sleep_ms(3000);
    reduce(m);
}

static int reduce_progress(struct member *m)
{
    struct reduction *r = m->own;
    gni_ce_result_t *result = (gni_ce_result_t *)(void *)(m->node.memory + RESULT_AT);
    gni_post_descriptor_t *done;
    gni_cq_entry_t entry;

    if (GNI_CqTestEvent(m->node.cq) == GNI_RC_NOT_DONE)
        return m->events == REDUCTIONS;
    OK(GNI_CqGetEvent(m->node.cq, &entry));
    CHECK_EQ(local_event(m, r->owner, 0), GNI_CQ_GET_INST_ID(entry));
    OK(GNI_GetCompleted(m->node.cq, entry, &done));
    CHECK(done == &r->d);
    OK(GNI_CeCheckResult(result, 1));
    CHECK_EQ(r->d.ce_red_id, GNI_CE_RES_GET_RED_ID(result));
    CHECK_EQ(m->size * (m->size - 1) / 2 + 100 * m->size * m->events, result->result1);
    if (++m->events < REDUCTIONS)
        reduce(m);
    return m->events == REDUCTIONS;
}

static void reduce_finish(struct member *m)
{
    expect_empty(m->node.cq);
    free(m->own);
}

static const struct kind flat = {.prepare = flat_prepare,
                                 .connect = flat_connect,
                                 .start = reduce_late,
                                 .progress = reduce_progress,
                                 .finish = reduce_finish,
                                 .needs_aries = 1};
static const struct kind tree = {.prepare = tree_prepare,
                                 .connect = tree_connect,
                                 .start = reduce,
                                 .progress = reduce_progress,
                                 .finish = reduce_finish,
                                 .needs_aries = 1};

static const struct line lines[] = {
    {"114,118", "ce_one_channel", &flat},
    {"114,118", "ce_tree", &tree},
};

SEMANTICS_MAIN(lines, line->kind)
