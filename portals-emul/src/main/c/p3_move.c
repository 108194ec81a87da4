/*
 * Data movement. The initiator does everything inside the call:
 *   1. own lock: check and count its descriptor            (nothing logged yet)
 *   2. target's lock: translate, declare, accept, log START
 *   3. no lock: copy straight between the two memories
 *   4. target's lock: log END, unlink
 *   5. own lock: log SEND_START, SEND_END, ACK (or REPLY_END), unlink
 * Step 2 may answer "a stopped process sits on the lock"; step 1 is then undone and the call
 * answers PTL_NO_SPACE. The peer's mutex is held throughout: operations of one pair are FIFO.
 */
#include "p3_move.h"

#include "p3_cray.h"
#include "p3_request.h"

static void fill_request(struct p3_ni *ni, struct p3_request *r, uint32_t operation)
{
    r->message.operation = operation;
    r->message.nid = ni->nid;
    r->message.pid = ni->pid;
    r->message.uid = ni->uid;
    r->message.jid = ni->jid;
    r->message.incarnation = ni->incarnation;
}

/* The event of an initiator: identity and echo of the request. */
static void fill_own_event(struct p3_ni *ni, const struct p3_request *r, struct p3_event *event,
                           uint64_t offset)
{
    event->nid = ni->nid;
    event->pid = ni->pid;
    event->uid = ni->uid;
    event->jid = ni->jid;
    event->incarnation = ni->incarnation;
    event->pt_index = r->message.pt_index;
    event->match_bits = r->message.match_bits;
    event->hdr_data = r->message.hdr_data;
    event->rlength = r->message.rlength;
    event->mlength = r->message.rlength;
    event->offset = offset;
}

static int outcome_of(uint32_t fail, enum p3_verdict verdict)
{
    if (fail != PTL_NI_OK)
        return PTL_EXT_FAILED + (int)fail;
    return verdict == P3_ACCEPTED ? PTL_EXT_DELIVERED : PTL_EXT_DROPPED;
}

/* ---- put ---- */

/* With the peer's mutex held. */
static int put_to(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r)
{
    enum p3_verdict verdict = P3_DROPPED;
    struct p3_source source = {0};
    struct p3_place place = {0};
    struct p3_finish f;
    uint32_t fail = p3_peer_ready(ni, peer);
    int code, light;

    if (fail == PTL_EXT_FAIL_STALLED)
        return p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process");
    if ((code = p3_lock_source(ni, r->md, 0, &light)) != PTL_OK)
        return code;
    code = p3_source_find(ni, r->md, r->whole, r->local_offset, &r->length, &source);
    if (code == PTL_OK) {
        r->message.rlength = r->length;
        p3_source_count(ni, &source, &f);
        p3_sr_add(ni, PTL_SR_SEND_COUNT, 1);
        p3_sr_add(ni, PTL_SR_SEND_LENGTH, r->length);
        fill_own_event(ni, r, &f.event, r->local_offset);
        p3_moving_add(ni, 1);
    }
    p3_unlock_source(ni, light);
    if (code != PTL_OK)
        return code;
    if (fail == PTL_NI_OK)
        fail = p3_request_accept(ni, peer, r, &place, &verdict);
    if (fail == PTL_EXT_FAIL_STALLED) {
        f.undo = 1;
        p3_finish_do(ni, &f);
        return p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process");
    }
    if (fail == PTL_NI_OK && verdict == P3_ACCEPTED) {
        SNIC_STEP("ptl.put.copy");
        fail = p3_move_bytes(peer, &place, &source, r->local_offset, place.mlength, 1);
        SNIC_STEP("ptl.put.copied");
        p3_peer_complete(ni, peer, fail);
        SNIC_STEP("ptl.put.completed");
    }
    f.fail = fail;
    f.ack = fail == PTL_NI_OK && verdict == P3_ACCEPTED && r->message.ack &&
            !(place.options & PTL_MD_ACK_DISABLE);
    f.ack_mlength = place.mlength;
    f.ack_nid = peer->nid;
    f.ack_pid = peer->pid;
    f.ack_uid = r->remote_uid;
    f.ack_jid = r->remote_jid;
    f.ack_incarnation = r->remote_incarnation;
    SNIC_STEP("ptl.put.finish");
    p3_finish_do(ni, &f);
    p3_outcome(outcome_of(fail, verdict));
    return PTL_OK;
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
    fill_own_event(ni, r, &f.event, r->local_offset);
    p3_finish_apply(ni, &f);
}

/* The reply arrives. 1: *source is busy and `f` prepared; 0: it was dropped and counted. */
static int reply_begin(struct p3_ni *ni, const struct p3_peer *peer, const struct p3_request *r,
                       ptl_handle_md_t handle, uint64_t offset, uint64_t mlength,
                       struct p3_source *source, struct p3_finish *f)
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
    fill_own_event(ni, r, &f->event, offset);
    f->event.nid = peer->nid;
    f->event.pid = peer->pid;
    f->event.uid = r->remote_uid;
    f->event.jid = r->remote_jid;
    f->event.incarnation = r->remote_incarnation;
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

/* With the peer's mutex held. */
static int get_from(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r)
{
    enum p3_verdict verdict = P3_DROPPED;
    struct p3_source source = {0};
    struct p3_place place = {0};
    struct p3_finish f;
    uint32_t fail = p3_peer_ready(ni, peer);
    int code, arrives, light;

    if (fail == PTL_EXT_FAIL_STALLED)
        return p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process");
    if ((code = p3_lock_source(ni, r->md, ni->flavor == P3_FLAVOR_CRAY, &light)) != PTL_OK)
        return code;
    code = p3_source_find(ni, r->md, r->whole, r->local_offset, &r->length, &source);
    if (code == PTL_OK) {
        r->message.rlength = r->length;
        p3_sr_add(ni, PTL_SR_SEND_COUNT, 1);
        count_get_request(ni, r, &source);
    }
    p3_unlock_source(ni, light);
    if (code != PTL_OK)
        return code;
    if (fail == PTL_NI_OK)
        fail = p3_request_accept(ni, peer, r, &place, &verdict);
    if (fail != PTL_NI_OK || verdict != P3_ACCEPTED) {
        p3_outcome(outcome_of(fail, verdict));
        if (ni->flavor == P3_FLAVOR_CRAY)
            snic_ring_self(ni->nic);
        return fail == PTL_EXT_FAIL_STALLED && ni->flavor != P3_FLAVOR_CRAY
                   ? p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process")
                   : PTL_OK;
    }
    SNIC_STEP("ptl.get.reply");
    arrives = reply_begin(ni, peer, r, r->md, r->local_offset, place.mlength, &source, &f);
    if (arrives)
        fail = p3_move_bytes(peer, &place, &source, r->local_offset, f.event.mlength, 0);
    SNIC_STEP("ptl.get.copied");
    p3_peer_complete(ni, peer, PTL_NI_OK);
    SNIC_STEP("ptl.get.completed");
    if (arrives) {
        f.fail = fail;
        p3_finish_do(ni, &f);
    } else if (ni->flavor == P3_FLAVOR_CRAY) {
        snic_ring_self(ni->nic); /* the events of the send */
    }
    p3_outcome(arrives ? outcome_of(fail, verdict) : PTL_EXT_REPLY_DROPPED);
    return PTL_OK;
}

/* ---- getput ---- */

/* With the peer's mutex held. */
static int getput_with(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r)
{
    enum p3_verdict verdict = P3_DROPPED;
    struct p3_source put = {0}, get = {0};
    struct p3_place place = {0};
    uint8_t mine[P3_GETPUT_MAX], theirs[P3_GETPUT_MAX];
    struct p3_finish f;
    uint64_t get_length = 0;
    uint32_t fail = p3_peer_ready(ni, peer);
    int code, arrives = 0;

    if (fail == PTL_EXT_FAIL_STALLED)
        return p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process");
    if ((code = p3_lock_own(ni)) != PTL_OK)
        return code;
    code = p3_source_find(ni, r->md, r->whole, r->local_offset, &r->length, &put);
    if (code == PTL_OK && r->length > (uint64_t)ni->limits.max_getput_md)
        code = p3_fail(PTL_MD_ILLEGAL, "getput of %llu bytes, more than max_getput_md (%d)",
                       (unsigned long long)r->length, ni->limits.max_getput_md);
    get_length = r->whole ? 0 : r->length;
    if (code == PTL_OK)
        code = p3_source_find(ni, r->get_md, 0, r->get_offset, &get_length, &get);
    if (code == PTL_OK) {
        r->message.rlength = r->length;
        p3_source_count(ni, &put, &f);
        p3_sr_add(ni, PTL_SR_SEND_COUNT, 1);
        p3_sr_add(ni, PTL_SR_SEND_LENGTH, r->length);
        fill_own_event(ni, r, &f.event, r->local_offset);
        p3_moving_add(ni, 1);
    }
    p3_unlock_own(ni);
    if (code != PTL_OK)
        return code;
    p3_scatter(&put, r->local_offset, mine, r->length, 1);
    if (fail == PTL_NI_OK)
        fail = p3_request_exchange(ni, peer, r, &place, &verdict, mine, theirs);
    if (fail == PTL_EXT_FAIL_STALLED) {
        f.undo = 1;
        p3_finish_do(ni, &f);
        return p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process");
    }
    f.fail = fail;
    p3_finish_do(ni, &f);
    if (fail == PTL_NI_OK && verdict == P3_ACCEPTED) {
        arrives = reply_begin(ni, peer, r, r->get_md, r->get_offset, place.mlength, &get, &f);
        if (arrives) {
            p3_scatter(&get, r->get_offset, theirs, f.event.mlength, 0);
            p3_finish_do(ni, &f);
        }
    }
    p3_outcome(fail == PTL_NI_OK && verdict == P3_ACCEPTED && !arrives ? PTL_EXT_REPLY_DROPPED
                                                                       : outcome_of(fail, verdict));
    return PTL_OK;
}

/* ---- entry ---- */

static int start(struct p3_request *r, uint32_t operation)
{
    struct p3_ni *ni;
    struct p3_peer *peer;
    uint32_t pid = r->target.pid & 0xffffu;
    int code = p3_ni_enter(r->md, P3_KIND_MD, PTL_MD_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    fill_request(ni, r, operation);
    if (r->target.nid == PTL_NID_ANY || pid == P3_PID_ANY || pid == 0) {
        code = p3_fail(PTL_PROCESS_INVALID, "%u.%u names no process", r->target.nid, pid);
    } else if ((peer = p3_peer_find(ni, r->target.nid, pid, 1)) == NULL) {
        code = p3_fail(PTL_NO_SPACE, "out of memory");
    } else {
        pthread_mutex_lock(&peer->mutex);
        code = operation == P3_PUT   ? put_to(ni, peer, r)
               : operation == P3_GET ? get_from(ni, peer, r)
                                     : getput_with(ni, peer, r);
        pthread_mutex_unlock(&peer->mutex);
    }
    p3_ni_leave(ni);
    return code;
}

/* Field by field: clearing the whole structure first costs more than the rest of the entry. */
static void request_init(struct p3_request *r, ptl_handle_md_t md, uint64_t local_offset,
                         uint64_t length, ptl_process_id_t target, uint64_t match_bits,
                         uint64_t remote_offset, uint64_t hdr_data)
{
    r->md = md;
    r->get_md = PTL_INVALID_HANDLE;
    r->whole = 0;
    r->local_offset = local_offset;
    r->get_offset = 0;
    r->length = length;
    r->target = target;
    r->message.ack = 0;
    r->message.match_bits = match_bits;
    r->message.hdr_data = hdr_data;
    r->message.remote_offset = remote_offset;
}

int PtlPutRegion(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                 ptl_ack_req_t ack_req, ptl_process_id_t target_id, ptl_pt_index_t pt_index,
                 ptl_ac_index_t ac_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
                 ptl_hdr_data_t hdr_data)
{
    struct p3_request r;

    request_init(&r, md_handle, local_offset, length, target_id, match_bits, remote_offset,
                 hdr_data);
    r.message.pt_index = pt_index;
    r.message.ac_index = ac_index;
    r.message.ack = ack_req == PTL_ACK_REQ;
    return start(&r, P3_PUT);
}

int PtlPut(ptl_handle_md_t md_handle, ptl_ack_req_t ack_req, ptl_process_id_t target_id,
           ptl_pt_index_t pt_index, ptl_ac_index_t ac_index, ptl_match_bits_t match_bits,
           ptl_size_t remote_offset, ptl_hdr_data_t hdr_data)
{
    struct p3_request r;

    request_init(&r, md_handle, 0, 0, target_id, match_bits, remote_offset, hdr_data);
    r.whole = 1;
    r.message.pt_index = pt_index;
    r.message.ac_index = ac_index;
    r.message.ack = ack_req == PTL_ACK_REQ;
    return start(&r, P3_PUT);
}

int PtlGetRegion(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                 ptl_process_id_t target_id, ptl_pt_index_t pt_index, ptl_ac_index_t ac_index,
                 ptl_match_bits_t match_bits, ptl_size_t remote_offset)
{
    struct p3_request r;

    request_init(&r, md_handle, local_offset, length, target_id, match_bits, remote_offset, 0);
    r.message.pt_index = pt_index;
    r.message.ac_index = ac_index;
    return start(&r, P3_GET);
}

int PtlGet(ptl_handle_md_t md_handle, ptl_process_id_t target_id, ptl_pt_index_t pt_index,
           ptl_ac_index_t ac_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset)
{
    struct p3_request r;

    request_init(&r, md_handle, 0, 0, target_id, match_bits, remote_offset, 0);
    r.whole = 1;
    r.message.pt_index = pt_index;
    r.message.ac_index = ac_index;
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

    request_init(&r, put_md_handle, 0, 0, target_id, match_bits, remote_offset, hdr_data);
    r.get_md = get_md_handle;
    r.whole = 1;
    r.message.pt_index = pt_index;
    r.message.ac_index = ac_index;
    return getput(&r);
}

int PtlGetPutRegion(ptl_handle_md_t get_md_handle, ptl_size_t local_offset_get,
                    ptl_handle_md_t put_md_handle, ptl_size_t local_offset_put, ptl_size_t length,
                    ptl_process_id_t target_id, ptl_pt_index_t pt_index, ptl_ac_index_t ac_index,
                    ptl_match_bits_t match_bits, ptl_size_t remote_offset, ptl_hdr_data_t hdr_data)
{
    struct p3_request r;

    request_init(&r, put_md_handle, local_offset_put, length, target_id, match_bits, remote_offset,
                 hdr_data);
    r.get_md = get_md_handle;
    r.get_offset = local_offset_get;
    r.message.pt_index = pt_index;
    r.message.ac_index = ac_index;
    return getput(&r);
}
