/*
 * Data movement. The initiator does everything inside the call:
 *   1. own lock: check and count its descriptor            (nothing logged yet)
 *   2. target's lock: translate, declare, accept, log START of a long put and of a get
 *   3. no lock: copy straight between the two memories
 *   4. own lock: log SEND_START, SEND_END, ACK (or REPLY_END), unlink
 *   5. target's lock: log START of a short put and of a getput, log END, unlink
 * Step 2 may answer "a stopped process sits on the lock"; step 1 is then undone and the call
 * answers PTL_NO_SPACE. The peer's mutex is held throughout: operations of one pair are FIFO.
 * Step 1 is p3_move_begin, the others are p3_move_arrive: between them an operation may wait for
 * a wire's latency or for its target to start (p3_wire.c).
 */
#include "p3_cray.h"
#include "p3_wire.h"

/* A put's way is one function: the calls would be a twentieth of it. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

static int outcome_of(uint32_t fail, enum p3_verdict verdict)
{
    if (fail != PTL_NI_OK)
        return PTL_EXT_FAILED + (int)fail;
    return verdict == P3_ACCEPTED ? PTL_EXT_DELIVERED : PTL_EXT_DROPPED;
}

/* No event is logged: it is sent again. */
static int comes_again(const struct p3_request *r, uint32_t fail, enum p3_verdict verdict)
{
    return r->message.retried && fail == PTL_NI_OK && verdict == P3_DROPPED;
}

/* Step 1 of an operation that sends, under the own lock. */
ALWAYS_INLINE void count_send(struct p3_ni *ni, struct p3_request *r, struct p3_under_way *u)
{
    r->message.rlength = r->length;
    p3_source_count(ni, &u->source, &u->finish);
    p3_sr_add(ni, PTL_SR_SEND_COUNT, 1);
    p3_sr_add(ni, PTL_SR_SEND_LENGTH, r->length);
    p3_event_fill_own(ni, r, &u->finish.event, r->local_offset);
    p3_moving_add(ni, 1);
}

/* The last two steps. The initiator's events come first, so that nothing that the target does
 * about the operation can come before them. When there are none to log, the target's come first:
 * a thread waits for them. */
static void finish_both(struct p3_ni *ni, struct p3_peer *peer, const struct p3_finish *own,
                        uint32_t fail)
{
    int logs = p3_finish_logs(own);

    if (logs) {
        p3_finish_do(ni, own);
        SNIC_STEP("ptl.finish.told");
    }
    p3_peer_complete(ni, peer, fail);
    SNIC_STEP("ptl.finish.completed");
    if (!logs)
        p3_finish_do(ni, own);
}

/* ---- put ---- */

ALWAYS_INLINE int put_begin(struct p3_ni *ni, struct p3_request *r, struct p3_under_way *u)
{
    int light, code = p3_lock_source(ni, r->md, 0, &light);

    if (code != PTL_OK)
        return code;
    code = p3_source_find(ni, r->md, r->whole, r->local_offset, &r->length, &u->source);
    if (code == PTL_OK)
        count_send(ni, r, u);
    p3_unlock_source(ni, light);
    return code;
}

ALWAYS_INLINE enum p3_arrival put_arrive(struct p3_ni *ni, struct p3_peer *peer,
                                         struct p3_request *r, struct p3_under_way *u,
                                         uint32_t fail)
{
    enum p3_verdict verdict = P3_DROPPED;
    struct p3_place place = {0};
    struct p3_finish *f = &u->finish;

    if (fail == PTL_NI_OK)
        fail = p3_request_accept(ni, peer, r, &place, &verdict);
    if (fail == PTL_EXT_FAIL_STALLED)
        return P3_BLOCKED;
    if (comes_again(r, fail, verdict))
        return P3_NOT_TAKEN;
    if (fail == PTL_NI_OK && verdict == P3_ACCEPTED) {
        SNIC_STEP("ptl.put.copy");
        fail = p3_move_bytes(peer, &place, &u->source, r->local_offset, place.mlength, 1);
        SNIC_STEP("ptl.put.copied");
    }
    f->fail = fail;
    f->ack = fail == PTL_NI_OK && verdict == P3_ACCEPTED && r->message.ack &&
             !(place.options & PTL_MD_ACK_DISABLE);
    if (f->ack) {
        f->ack_mlength = place.mlength;
        f->ack_from = r->remote;
    }
    SNIC_STEP("ptl.put.finish");
    if (verdict == P3_ACCEPTED)
        finish_both(ni, peer, f, fail);
    else
        p3_finish_do(ni, f);
    p3_outcome(outcome_of(fail, verdict));
    return P3_ARRIVED;
}

/* ---- get ---- */

/* In CRAY a get is a send too. Under the own lock. */
static void count_get_request(struct p3_ni *ni, const struct p3_request *r,
                              const struct p3_source *source)
{
    struct p3_finish f;

    if (ni->flavor != P3_FLAVOR_CRAY)
        return;
    p3_source_count(ni, source, &f);
    p3_event_fill_own(ni, r, &f.event, r->local_offset);
    p3_finish_apply(ni, &f);
}

/* The reply arrives (or, with nothing in it, its failure). 1: *source is busy and `f` prepared;
 * 0: it was dropped and counted. */
static int reply_begin(struct p3_ni *ni, const struct p3_request *r, ptl_handle_md_t handle,
                       uint64_t offset, uint64_t mlength, struct p3_source *source,
                       struct p3_finish *f)
{
    uint64_t length = 0;
    struct p3_source now = {0};
    int generation_ok, light;

    if (p3_lock_source(ni, handle, 1, &light) != PTL_OK)
        return 0;
    generation_ok = p3_source_find(ni, handle, 0, 0, &length, &now) == PTL_OK &&
                    now.md == source->md && now.generation == source->generation;
    if (!generation_ok || offset > now.length) {
        p3_sr_add(ni, PTL_SR_DROP_COUNT, 1);
        p3_sr_add(ni, PTL_SR_DROP_LENGTH, mlength);
        p3_unlock_source(ni, light);
        return 0;
    }
    if (mlength > now.length - offset) /* an update made it shorter meanwhile */
        mlength = now.length - offset;
    *source = now;
    p3_source_count(ni, source, f);
    p3_sr_add(ni, PTL_SR_RECV_COUNT, 1);
    p3_sr_add(ni, PTL_SR_RECV_LENGTH, mlength);
    p3_event_fill_own(ni, r, &f->event, offset);
    f->event.who = r->remote;
    f->event.hdr_data = 0;
    f->event.mlength = mlength;
    f->start_kind = P3_NONE;
    f->end_kind = PTL_EVENT_REPLY_END;
    if (!(f->event.options & PTL_MD_EVENT_START_DISABLE))
        f->start_sequence =
            p3_log_now(ni, &f->event, PTL_EVENT_REPLY_START, PTL_NI_OK, NULL, &f->started);
    p3_moving_add(ni, 1);
    p3_unlock_source(ni, light);
    return 1;
}

static int get_begin(struct p3_ni *ni, struct p3_request *r, struct p3_under_way *u)
{
    int light, code = p3_lock_source(ni, r->md, ni->flavor == P3_FLAVOR_CRAY, &light);

    if (code != PTL_OK)
        return code;
    code = p3_source_find(ni, r->md, r->whole, r->local_offset, &r->length, &u->source);
    if (code == PTL_OK) {
        r->message.rlength = r->length;
        p3_sr_add(ni, PTL_SR_SEND_COUNT, 1);
        count_get_request(ni, r, &u->source);
    }
    p3_unlock_source(ni, light);
    return code;
}

/* No reply will come: the events of one that failed, if anybody is promised any. */
static void get_fail(struct p3_ni *ni, const struct p3_peer *peer, struct p3_request *r,
                     struct p3_under_way *u, uint32_t fail)
{
    r->remote = (struct p3_who){.nid = peer->nid, .pid = peer->pid};
    if (fail == PTL_NI_OK || !peer->is_rank ||
        !reply_begin(ni, r, r->md, r->local_offset, 0, &u->source, &u->finish))
        return;
    u->finish.fail = fail;
    p3_finish_do(ni, &u->finish);
}

static enum p3_arrival get_arrive(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                                  struct p3_under_way *u, uint32_t fail)
{
    enum p3_verdict verdict = P3_DROPPED;
    struct p3_place place = {0};
    struct p3_finish *f = &u->finish;
    int arrives;

    if (fail == PTL_NI_OK)
        fail = p3_request_accept(ni, peer, r, &place, &verdict);
    if (fail == PTL_EXT_FAIL_STALLED)
        return P3_BLOCKED;
    if (comes_again(r, fail, verdict))
        return P3_NOT_TAKEN;
    if (verdict != P3_ACCEPTED) {
        get_fail(ni, peer, r, u, fail);
        if (ni->flavor == P3_FLAVOR_CRAY)
            snic_ring_self(ni->nic); /* the events of the send */
        p3_outcome(outcome_of(fail, verdict));
        return P3_ARRIVED;
    }
    SNIC_STEP("ptl.get.reply");
    arrives = reply_begin(ni, r, r->md, r->local_offset, place.mlength, &u->source, f);
    if (arrives)
        f->fail = p3_move_bytes(peer, &place, &u->source, r->local_offset, f->event.mlength, 0);
    SNIC_STEP("ptl.get.copied");
    if (arrives) {
        finish_both(ni, peer, f, PTL_NI_OK);
    } else {
        p3_peer_complete(ni, peer, PTL_NI_OK);
        if (ni->flavor == P3_FLAVOR_CRAY)
            snic_ring_self(ni->nic); /* the events of the send */
    }
    p3_outcome(arrives ? outcome_of(f->fail, verdict) : PTL_EXT_REPLY_DROPPED);
    return P3_ARRIVED;
}

/* ---- getput ---- */

static int getput_begin(struct p3_ni *ni, struct p3_request *r, struct p3_under_way *u)
{
    uint64_t get_length = 0;
    int code = p3_lock_own(ni);

    if (code != PTL_OK)
        return code;
    code = p3_source_find(ni, r->md, r->whole, r->local_offset, &r->length, &u->source);
    if (code == PTL_OK && r->length > (uint64_t)ni->limits.max_getput_md)
        code = p3_fail(PTL_MD_ILLEGAL, "getput of %llu bytes, more than max_getput_md (%d)",
                       (unsigned long long)r->length, ni->limits.max_getput_md);
    get_length = r->whole ? 0 : r->length;
    if (code == PTL_OK)
        code = p3_source_find(ni, r->get_md, 0, r->get_offset, &get_length, &u->get);
    if (code == PTL_OK)
        count_send(ni, r, u);
    p3_unlock_own(ni);
    return code;
}

static enum p3_arrival getput_arrive(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                                     struct p3_under_way *u, uint32_t fail)
{
    enum p3_verdict verdict = P3_DROPPED;
    struct p3_place place = {0};
    uint8_t mine[P3_GETPUT_MAX], theirs[P3_GETPUT_MAX];
    int arrives = 0;

    p3_scatter(&u->source, r->local_offset, mine, r->length, 1);
    if (fail == PTL_NI_OK)
        fail = p3_request_swap(ni, peer, r, &place, &verdict, mine, theirs);
    if (fail == PTL_EXT_FAIL_STALLED)
        return P3_BLOCKED;
    if (comes_again(r, fail, verdict))
        return P3_NOT_TAKEN;
    u->finish.fail = fail;
    p3_finish_do(ni, &u->finish);
    if (fail == PTL_NI_OK && verdict == P3_ACCEPTED) {
        arrives = reply_begin(ni, r, r->get_md, r->get_offset, place.mlength, &u->get, &u->finish);
        if (arrives) {
            p3_scatter(&u->get, r->get_offset, theirs, u->finish.event.mlength, 0);
            p3_finish_do(ni, &u->finish);
        }
    }
    if (verdict == P3_ACCEPTED)
        p3_request_swapped(ni, peer, fail);
    p3_outcome(fail == PTL_NI_OK && verdict == P3_ACCEPTED && !arrives ? PTL_EXT_REPLY_DROPPED
                                                                       : outcome_of(fail, verdict));
    return P3_ARRIVED;
}

/* ---- entry ---- */

typedef int (*begin_fn)(struct p3_ni *, struct p3_request *, struct p3_under_way *);
typedef enum p3_arrival (*arrive_fn)(struct p3_ni *, struct p3_peer *, struct p3_request *,
                                     struct p3_under_way *, uint32_t);

/* How an operation that goes by the wire begins and arrives. */
static const struct {
    begin_fn begin;
    arrive_fn arrive;
} ways[] = {[P3_PUT] = {put_begin, put_arrive},
            [P3_GET] = {get_begin, get_arrive},
            [P3_GETPUT] = {getput_begin, getput_arrive}};

int p3_move_begin(struct p3_ni *ni, struct p3_request *r, struct p3_under_way *u)
{
    return ways[r->message.operation].begin(ni, r, u);
}

enum p3_arrival p3_move_arrive(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                               struct p3_under_way *u, uint32_t fail)
{
    return ways[r->message.operation].arrive(ni, peer, r, u, fail);
}

static int target_is_stopped(void)
{
    return p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process");
}

/* Takes back what begun: nothing has been logged, but for the send that a get in CRAY is. */
static int move_undo(struct p3_ni *ni, struct p3_request *r, struct p3_under_way *u)
{
    if (r->message.operation != P3_GET) {
        u->finish.undo = 1;
        p3_finish_do(ni, &u->finish);
    } else if (ni->flavor == P3_FLAVOR_CRAY) {
        snic_ring_self(ni->nic);
        p3_outcome(PTL_EXT_FAILED + PTL_EXT_FAIL_STALLED);
        return PTL_OK;
    }
    return target_is_stopped();
}

/* With the peer's mutex held. */
ALWAYS_INLINE int move(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r, begin_fn begin,
                       arrive_fn arrive)
{
    struct p3_under_way u;
    uint32_t fail = p3_peer_ready(ni, peer);
    int code;

    if (fail == PTL_EXT_FAIL_STALLED)
        return target_is_stopped();
    code = begin(ni, r, &u);
    if (code != PTL_OK)
        return code;
    return arrive(ni, peer, r, &u, fail) == P3_BLOCKED ? move_undo(ni, r, &u) : PTL_OK;
}

/* With the peer's mutex held. */
static int move_now(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r)
{
    switch (r->message.operation) {
    case P3_PUT:
        return move(ni, peer, r, put_begin, put_arrive);
    case P3_GET:
        return move(ni, peer, r, get_begin, get_arrive);
    default:
        return move(ni, peer, r, getput_begin, getput_arrive);
    }
}

static int start(struct p3_request *r, uint32_t operation)
{
    struct p3_ni *ni;
    struct p3_peer *peer;
    uint32_t pid = r->target.pid & 0xffffu;
    int code = p3_ni_enter(r->md, P3_KIND_MD, PTL_MD_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    r->message.operation = operation;
    r->message.from = ni->self;
    if (r->target.nid == PTL_NID_ANY || pid == P3_PID_ANY || pid == 0) {
        code = p3_fail(PTL_PROCESS_INVALID, "%u.%u names no process", r->target.nid, pid);
    } else if ((peer = p3_peer_find(ni, r->target.nid, pid, 1)) == NULL) {
        code = p3_fail(PTL_NO_SPACE, "out of memory");
    } else {
        pthread_mutex_lock(&peer->mutex);
        code = peer->waits ? p3_wire_depart(ni, peer, r) : move_now(ni, peer, r);
        pthread_mutex_unlock(&peer->mutex);
    }
    p3_ni_leave(ni);
    return code;
}

int PtlPutRegion(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                 ptl_ack_req_t ack_req, ptl_process_id_t target_id, ptl_pt_index_t pt_index,
                 ptl_ac_index_t ac_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
                 ptl_hdr_data_t hdr_data)
{
    struct p3_request r;

    p3_request_init(&r, md_handle, local_offset, length, target_id, pt_index, ac_index, match_bits,
                    remote_offset, hdr_data);
    r.message.ack = ack_req == PTL_ACK_REQ;
    return start(&r, P3_PUT);
}

int PtlPut(ptl_handle_md_t md_handle, ptl_ack_req_t ack_req, ptl_process_id_t target_id,
           ptl_pt_index_t pt_index, ptl_ac_index_t ac_index, ptl_match_bits_t match_bits,
           ptl_size_t remote_offset, ptl_hdr_data_t hdr_data)
{
    struct p3_request r;

    p3_request_init(&r, md_handle, 0, 0, target_id, pt_index, ac_index, match_bits, remote_offset,
                    hdr_data);
    r.whole = 1;
    r.message.ack = ack_req == PTL_ACK_REQ;
    return start(&r, P3_PUT);
}

int PtlGetRegion(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                 ptl_process_id_t target_id, ptl_pt_index_t pt_index, ptl_ac_index_t ac_index,
                 ptl_match_bits_t match_bits, ptl_size_t remote_offset)
{
    struct p3_request r;

    p3_request_init(&r, md_handle, local_offset, length, target_id, pt_index, ac_index, match_bits,
                    remote_offset, 0);
    return start(&r, P3_GET);
}

int PtlGet(ptl_handle_md_t md_handle, ptl_process_id_t target_id, ptl_pt_index_t pt_index,
           ptl_ac_index_t ac_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset)
{
    struct p3_request r;

    p3_request_init(&r, md_handle, 0, 0, target_id, pt_index, ac_index, match_bits, remote_offset,
                    0);
    r.whole = 1;
    return start(&r, P3_GET);
}

static int getput(struct p3_request *r)
{
    if (p3_handle_iface(r->md) != p3_handle_iface(r->get_md) &&
        p3_handle_kind(r->get_md) == P3_KIND_MD && p3_initialised())
        return p3_fail(PTL_MD_ILLEGAL, "getput: the two descriptors are on different interfaces");
    return start(r, P3_GETPUT);
}

int PtlGetPut(ptl_handle_md_t get_md_handle, ptl_handle_md_t put_md_handle,
              ptl_process_id_t target_id, ptl_pt_index_t pt_index, ptl_ac_index_t ac_index,
              ptl_match_bits_t match_bits, ptl_size_t remote_offset, ptl_hdr_data_t hdr_data)
{
    struct p3_request r;

    p3_request_init(&r, put_md_handle, 0, 0, target_id, pt_index, ac_index, match_bits,
                    remote_offset, hdr_data);
    r.get_md = get_md_handle;
    r.whole = 1;
    return getput(&r);
}

int PtlGetPutRegion(ptl_handle_md_t get_md_handle, ptl_size_t local_offset_get,
                    ptl_handle_md_t put_md_handle, ptl_size_t local_offset_put, ptl_size_t length,
                    ptl_process_id_t target_id, ptl_pt_index_t pt_index, ptl_ac_index_t ac_index,
                    ptl_match_bits_t match_bits, ptl_size_t remote_offset, ptl_hdr_data_t hdr_data)
{
    struct p3_request r;

    p3_request_init(&r, put_md_handle, local_offset_put, length, target_id, pt_index, ac_index,
                    match_bits, remote_offset, hdr_data);
    r.get_md = get_md_handle;
    r.get_offset = local_offset_get;
    return getput(&r);
}
