/* Every type of post between members whose endpoints are bound with any id (semantics.h;
 * assertions 19, 114 to 116). */
#define _GNU_SOURCE
#include "semantics.h"

#define SLOT 131072
#define GUARD 64

/* Where a member's memory has what belongs to one peer. */
enum area { SOURCE, TARGET, RESULT };

enum how { FMA, BTE, CQ_WRITE, CHAIN, CQ_CHAIN };

/* An atomic operation's word before it, and its operands. */
#define T 0x0f0f33335555aaaaull
#define A 0x00ff00ff00ff00ffull
#define B 0x123456789abcdef0ull
#define BOTH_EVENTS (GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT)

struct line {
    const char *assertions, *name;
    enum how how;
    gni_post_type_t type;
    uint16_t cq_mode;
    uint32_t length;
    uint32_t command; /* of an atomic operation */
    uint64_t first;   /* its operand */
    uint64_t after;   /* what it leaves */
    int is_stale;     /* the handle is that of a process that has ended; see restart() */
};

static const struct line lines[] = {
#define POST(how, name, type, events, length)                                                      \
    {                                                                                              \
        "19,114,115", name, how, GNI_POST_##type, events, length, 0, 0, 0, 0                       \
    }
    POST(BTE, "rdma_put_8", RDMA_PUT, BOTH_EVENTS, 8),
    POST(BTE, "rdma_put_100001", RDMA_PUT, BOTH_EVENTS, 100001),
    POST(BTE, "rdma_put_local", RDMA_PUT, GNI_CQMODE_LOCAL_EVENT, 5000),
    POST(BTE, "rdma_put_dual", RDMA_PUT, GNI_CQMODE_DUAL_EVENTS | GNI_CQMODE_REMOTE_EVENT, 5000),
    POST(BTE, "rdma_put_silent", RDMA_PUT, GNI_CQMODE_REMOTE_EVENT, 5000),
    POST(BTE, "rdma_get", RDMA_GET, GNI_CQMODE_GLOBAL_EVENT, 100004),
    POST(BTE, "rdma_get_remote", RDMA_GET, BOTH_EVENTS, 64),
    POST(FMA, "fma_put", FMA_PUT, BOTH_EVENTS, 8),
    POST(FMA, "fma_put_global", FMA_PUT, GNI_CQMODE_GLOBAL_EVENT, 4097),
    POST(FMA, "fma_put_remote", FMA_PUT, GNI_CQMODE_REMOTE_EVENT, 4097),
    POST(FMA, "fma_put_w_syncflag", FMA_PUT_W_SYNCFLAG, BOTH_EVENTS, 256),
    POST(FMA, "fma_get", FMA_GET, GNI_CQMODE_GLOBAL_EVENT, 4096),
    POST(FMA, "fma_get_w_flag", FMA_GET_W_FLAG, GNI_CQMODE_GLOBAL_EVENT, 40),
    POST(CQ_WRITE, "cqwrite", CQWRITE, GNI_CQMODE_GLOBAL_EVENT, 0),
    POST(CHAIN, "chain_put", FMA_PUT, GNI_CQMODE_GLOBAL_EVENT, 100),
    POST(CHAIN, "chain_get", FMA_GET, GNI_CQMODE_GLOBAL_EVENT, 100),
    POST(CQ_CHAIN, "chain_cqwrite", CQWRITE, GNI_CQMODE_GLOBAL_EVENT, 0),
#define ATOMIC(name, type, command, length, first, after)                                          \
    {                                                                                              \
        "19,114,115", name, FMA, GNI_POST_##type, BOTH_EVENTS, length, GNI_FMA_##command, first,   \
            after, 0                                                                               \
    }
    ATOMIC("amo_add", AMO, ATOMIC_ADD, 8, A, T + A),
    ATOMIC("amo_ax", AMO, ATOMIC_AX, 8, A, (T & A) ^ B),
    ATOMIC("amo_fadd", AMO, ATOMIC_FADD, 8, A, T + A),
    ATOMIC("amo_for_cached", AMO, ATOMIC_FOR_C, 8, A, T | A),
    ATOMIC("amo_cswap", AMO, ATOMIC_CSWAP, 8, T, B),
    ATOMIC("amo_fadd_w_flag", AMO_W_FLAG, ATOMIC_FADD, 8, A, T + A),
    ATOMIC("amo2_and", AMO, ATOMIC2_AND, 8, A, T &A),
    ATOMIC("amo2_iadd_32", AMO, ATOMIC2_IADD_S, 4, 1, T + 1),
    ATOMIC("amo2_fswap", AMO, ATOMIC2_FSWAP, 8, A, A),
    ATOMIC("amo2_fxor_32_cached", AMO, ATOMIC2_FXOR_SC, 4, 0xffff, T ^ 0xffff),
    ATOMIC("amo2_fcswap_32", AMO, ATOMIC2_FCSWAP_S, 4, (uint32_t)T, (T >> 32 << 32) | (uint32_t)B),
    ATOMIC("amo2_fimax", AMO, ATOMIC2_FIMAX, 8, A, T),
#define STALE(how, name, type, length, command)                                                    \
    {                                                                                              \
        "116", name, how, GNI_POST_##type, BOTH_EVENTS, length, command, A, T, 1                   \
    }
    STALE(BTE, "stale_rdma_put", RDMA_PUT, 4096, 0),
    STALE(BTE, "stale_rdma_get", RDMA_GET, 4096, 0),
    STALE(FMA, "stale_fma_put", FMA_PUT, 8, 0),
    STALE(FMA, "stale_fma_get", FMA_GET, 8, 0),
    STALE(FMA, "stale_amo", AMO, 8, GNI_FMA_ATOMIC2_FIADD),
    STALE(CQ_WRITE, "stale_cqwrite", CQWRITE, 0, 0),
};

static uint64_t offset_of(enum area area, int peer)
{
    return (uint64_t)SLOT * ((uint64_t)area * MEMBERS + (uint64_t)peer) + GUARD;
}

static uint8_t *at(const struct member *m, enum area area, int peer)
{
    return m->node.memory + offset_of(area, peer);
}

static int is_atomic(const struct line *l)
{
    return l->command != 0;
}

static int is_get(const struct line *l)
{
    return l->type == GNI_POST_RDMA_GET || l->type == GNI_POST_FMA_GET ||
           l->type == GNI_POST_FMA_GET_W_FLAG;
}

static uint32_t seed_of(int from, int to)
{
    return (uint32_t)(10 * from + to + 1);
}

static uint64_t flag_of(int from, int to)
{
    return 0xabcd00000000ull + seed_of(from, to);
}

/* ---- what is posted ---- */

/* In the place of a member with an odd number there was a process before, whose handle the others
 * still have: same instance, same address, same slot. */
static void restart(struct member *m)
{
    int status;
    pid_t pid;

    node_close(&m->node);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        end_with_parent();
        member_open(m);
        if (m->ids == DEFAULT_IDS) /* one that ends in order; the others just end */
            node_close(&m->node);
        _Exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    check_ended("predecessor", status);
    const gni_mem_handle_t stale = m->board->about[m->rank].handle;
    member_open(m);
    m->board->about[m->rank].handle = stale;
}

static void prepare(struct member *m)
{
    const uint64_t before = T;

    if (m->line->is_stale && (m->rank & 1))
        restart(m);
    for (int peer = 0; peer < m->size; peer++) {
        fill(at(m, SOURCE, peer), m->line->length, seed_of(m->rank, peer));
        if (is_atomic(m->line))
            memcpy(at(m, TARGET, peer), &before, sizeof(before));
    }
}

static void connect_all(struct member *m)
{
    for (int peer = 0; peer < m->size; peer++)
        if (peer != m->rank)
            m->ep[peer][0] = bind_to(m, peer, 0);
}

static gni_post_descriptor_t descriptor(const struct member *m, int peer)
{
    const struct line *l = m->line;
    const struct about *about = &m->board->about[peer];
    gni_post_descriptor_t d;

    memset(&d, 0, sizeof(d));
    d.post_id = (uint64_t)peer;
    d.type = l->type;
    d.cq_mode = l->cq_mode;
    d.local_addr = (uint64_t)(uintptr_t)at(m,
                                           is_get(l)      ? TARGET
                                           : is_atomic(l) ? RESULT
                                                          : SOURCE,
                                           peer);
    d.local_mem_hndl = m->node.handle;
    d.remote_addr = about->memory + offset_of(is_get(l) ? SOURCE : TARGET, m->rank);
    d.remote_mem_hndl = about->handle;
    d.length = l->length;
    d.sync_flag_addr = d.remote_addr + l->length;
    d.sync_flag_value = flag_of(m->rank, peer);
    d.amo_cmd = (gni_fma_cmd_type_t)l->command;
    d.first_operand = l->first;
    d.second_operand = B;
    d.cqwrite_value = flag_of(m->rank, peer);
    return d;
}

/* An element of a chain from what an ordinary post says. */
static void *element(gni_ct_uni_post_descriptor_t *e, const struct member *m, int peer)
{
    const gni_post_descriptor_t d = descriptor(m, peer);

    memset(e, 0, sizeof(*e));
    if (m->line->how == CQ_CHAIN) {
        e->u.cqw.ep_hndl = m->ep[peer][0];
        e->u.cqw.remote_mem_hndl = d.remote_mem_hndl;
        e->u.cqw.cqwrite_value = d.cqwrite_value;
        return e;
    }
    e->u.get.ep_hndl = m->ep[peer][0];
    e->u.get.length = d.length;
    e->u.get.remote_addr = d.remote_addr;
    e->u.get.remote_mem_hndl = d.remote_mem_hndl;
    e->u.get.local_addr = d.local_addr;
    e->u.get.local_mem_hndl = d.local_mem_hndl;
    return e;
}

struct posts {
    gni_post_descriptor_t d[MEMBERS];
    gni_ct_uni_post_descriptor_t e[MEMBERS];
    int events, arrivals; /* expected */
};

static int has_post(const struct member *m, int from, int to)
{
    return from != to && (!m->line->is_stale || (!(from & 1) && (to & 1)));
}

static void post_chain(struct member *m, struct posts *p)
{
    int first = m->rank == 0;
    void **link = &p->d[first].next_descr;

    p->d[first] = descriptor(m, first);
    for (int peer = first + 1; peer < m->size; peer++)
        if (peer != m->rank) {
            *link = element(&p->e[peer], m, peer);
            link = &p->e[peer].u.get.next_descr;
        }
    OK(m->line->how == CHAIN ? GNI_CtPostFma(m->ep[first][0], &p->d[first])
                             : GNI_CtPostCqWrite(m->ep[first][0], &p->d[first]));
    p->events = 1;
}

static void post(struct member *m, struct posts *p, int peer)
{
    gni_post_descriptor_t *d = &p->d[peer];
    gni_ep_handle_t ep = m->ep[peer][0];

    *d = descriptor(m, peer);
    OK(m->line->how == BTE   ? GNI_PostRdma(ep, d)
       : m->line->how == FMA ? GNI_PostFma(ep, d)
                             : GNI_PostCqWrite(ep, d));
    p->events += !!(m->line->cq_mode & GNI_CQMODE_LOCAL_EVENT) +
                 !!(m->line->cq_mode & GNI_CQMODE_GLOBAL_EVENT);
}

static void start_posts(struct member *m)
{
    struct posts *p = calloc(1, sizeof(*p));
    const int tells =
        m->line->type == GNI_POST_CQWRITE || m->line->cq_mode & GNI_CQMODE_REMOTE_EVENT;

    CHECK(p != NULL);
    m->own = p;
    if (m->line->how >= CHAIN)
        post_chain(m, p);
    for (int peer = 0; peer < m->size; peer++) {
        if (m->line->how < CHAIN && has_post(m, m->rank, peer))
            post(m, p, peer);
        p->arrivals += tells && !m->line->is_stale && peer != m->rank;
    }
}

/* ---- what follows from it ---- */

static int take_event(struct member *m)
{
    const gni_return_t expected = m->line->is_stale ? GNI_RC_TRANSACTION_ERROR : GNI_RC_SUCCESS;
    const struct posts *p = m->own;
    gni_post_descriptor_t *done = NULL;
    gni_cq_entry_t entry;
    gni_return_t code = GNI_CqGetEvent(m->node.cq, &entry);

    if (code == GNI_RC_NOT_DONE)
        return 0;
    CODE(expected, code);
    CODE(expected, GNI_GetCompleted(m->node.cq, entry, &done));
    CHECK(done != NULL && done == &p->d[done->post_id]);
    CHECK_EQ(GNI_CQ_EVENT_TYPE_POST, GNI_CQ_GET_TYPE(entry));
    CHECK_EQ(local_event(m, (int)done->post_id, 0), GNI_CQ_GET_INST_ID(entry));
    m->events++;
    return 1;
}

static int take_arrival(struct member *m)
{
    gni_cq_entry_t entry;
    int from;

    if (m->line->type != GNI_POST_CQWRITE) {
        from = next_arrival(m, &entry);
        if (from >= 0 && !is_get(m->line) && !is_atomic(m->line))
            CHECK(is_filled(at(m, TARGET, from), m->line->length, seed_of(from, m->rank)));
    } else if ((from = GNI_CqGetEvent(m->node.dst, &entry) == GNI_RC_SUCCESS ? 0 : -1) == 0) {
        while (from < m->size && GNI_CQ_GET_DATA(entry) != flag_of(from, m->rank))
            from++;
        CHECK(from < m->size && from != m->rank);
        m->arrivals++;
    }
    if (from >= 0)
        CHECK_EQ(1, ++m->received[from][0]);
    return from >= 0;
}

static int progress(struct member *m)
{
    const struct posts *p = m->own;

    while (take_event(m) || take_arrival(m))
        ;
    return m->events >= p->events && m->arrivals >= p->arrivals;
}

static void check_atomic(const struct member *m, int peer)
{
    const int fetches = !(m->line->command & 0x100);
    const uint64_t before = T, nothing = 0;

    CHECK(memcmp(at(m, TARGET, peer), &m->line->after, 8) == 0);
    CHECK(is_zero(at(m, TARGET, peer) + 8, GUARD));
    CHECK(memcmp(at(m, RESULT, peer), fetches && !m->line->is_stale ? &before : &nothing,
                 m->line->length) == 0);
}

static void check_bytes(const struct member *m, int peer)
{
    const uint64_t flag = is_get(m->line) ? flag_of(m->rank, peer) : flag_of(peer, m->rank);
    const uint32_t length =
        m->line->type == GNI_POST_CQWRITE || m->line->is_stale ? 0 : m->line->length;
    const uint8_t *target = at(m, TARGET, peer);
    uint32_t flag_bytes = m->line->type == GNI_POST_FMA_PUT_W_SYNCFLAG ? 8
                          : m->line->type == GNI_POST_FMA_GET_W_FLAG   ? 4
                                                                       : 0;

    CHECK(is_filled(target, length, seed_of(peer, m->rank)));
    CHECK(memcmp(target + length, &flag, flag_bytes) == 0);
    CHECK(is_zero(target + length + flag_bytes, GUARD));
}

static void finish(struct member *m)
{
    const struct posts *p = m->own;
    uint32_t flag;

    CHECK(!take_event(m) && !take_arrival(m));
    CHECK_EQ(p->events, m->events);
    CHECK_EQ(p->arrivals, m->arrivals);
    for (int peer = 0; peer < m->size; peer++) {
        if (peer == m->rank)
            continue;
        CHECK(is_zero(at(m, TARGET, peer) - GUARD, GUARD));
        if (is_atomic(m->line))
            check_atomic(m, peer);
        else
            check_bytes(m, peer);
        memcpy(&flag, at(m, RESULT, peer) + 8, sizeof(flag));
        CHECK_EQ(m->line->type == GNI_POST_AMO_W_FLAG ? (uint32_t)flag_of(m->rank, peer) : 0, flag);
    }
    free(m->own);
}

static const struct kind posts = {.prepare = prepare,
                                  .connect = connect_all,
                                  .start = start_posts,
                                  .progress = progress,
                                  .finish = finish};

SEMANTICS_MAIN(lines, &posts)
