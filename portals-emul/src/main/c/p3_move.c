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
#include "p3_library.h"

#include "p3_cray.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One call's arguments. */
struct p3_request {
    ptl_handle_md_t md;     /* source of a put, destination of a get */
    ptl_handle_md_t get_md; /* getput: destination of the reply */
    int whole;
    uint64_t local_offset;
    uint64_t get_offset; /* getput */
    uint64_t length;
    ptl_process_id_t target;
    uint32_t remote_uid; /* of the target, for ACK and REPLY */
    uint32_t remote_jid;
    uint64_t remote_incarnation;
    struct p3_message message;
};

/* A descriptor of ours as snapshotted under the lock; stable while it is busy. */
struct p3_source {
    uint32_t md;
    uint32_t generation;
    uint8_t *start;
    const ptl_md_iovec_t *iovs;
    uint32_t iov_count;
    uint64_t length;
};

/* The last step, kept as data because it may have to wait (p3_deferred). */
struct p3_finish {
    uint32_t md;
    uint32_t generation;
    struct p3_event event;
    uint32_t start_kind; /* P3_NONE: START was logged, its sequence is start_sequence */
    uint32_t end_kind;
    uint32_t started;
    uint32_t start_sequence;
    uint32_t fail;
    uint32_t undo; /* the operation never began: only take the count back */
    uint32_t ack;
    uint64_t ack_mlength;
    uint32_t ack_nid, ack_pid, ack_uid, ack_jid;
    uint64_t ack_incarnation;
};

struct p3_deferred {
    struct p3_deferred *next;
    struct p3_finish finish;
};

static void sr_add(struct p3_ni *ni, int index, uint64_t amount)
{
    _Atomic uint64_t *sr = &ni->view.area->sr[index];

    atomic_store_explicit(sr, atomic_load_explicit(sr, memory_order_relaxed) + amount,
                          memory_order_relaxed);
}

/* ---- own descriptors, under the own lock ---- */

/* No read-modify-write instruction: the own lock serialises the writers. */
static void moving_add(struct p3_ni *ni, uint32_t amount)
{
    atomic_store_explicit(&ni->moving,
                          atomic_load_explicit(&ni->moving, memory_order_relaxed) + amount,
                          memory_order_release);
}

/* Finds an active descriptor and checks the region. Changes nothing. */
static int source_find(struct p3_ni *ni, ptl_handle_md_t handle, int whole, uint64_t offset,
                       uint64_t *length, struct p3_source *source)
{
    uint32_t md = p3_md_find(ni, handle);
    const struct p3_local_md *local;

    if (md == P3_NONE || (ni->view.md[md].flags & P3_INACTIVE))
        return p3_fail(PTL_MD_INVALID, "descriptor 0x%08x is %s", handle,
                       md == P3_NONE ? "not there" : "inactive");
    local = &ni->mds[md];
    if (whole)
        *length = local->length;
    if (offset > local->length || *length > local->length - offset)
        return p3_fail(PTL_MD_ILLEGAL, "offset %llu, length %llu exceed the descriptor's %llu",
                       (unsigned long long)offset, (unsigned long long)*length,
                       (unsigned long long)local->length);
    source->md = md;
    source->generation = ni->view.md[md].generation;
    source->start = local->start;
    source->iovs = local->iovs;
    source->iov_count = local->iov_count;
    source->length = local->length;
    return PTL_OK;
}

/* Counts an operation on it, takes the event's copy of it and prepares the last step, a send's
 * until told otherwise. Everything is written where it stays: copies of these structures cost a
 * fifth of a put. */
static void source_count(struct p3_ni *ni, const struct p3_source *source, struct p3_finish *f)
{
    struct p3_md *md = &ni->view.md[source->md];

    p3_md_count(&md->threshold, &md->flags);
    md->busy++;
    p3_event_from_md(&ni->view, &f->event, source->md);
    f->md = source->md;
    f->generation = source->generation;
    f->start_kind = PTL_EVENT_SEND_START;
    f->end_kind = PTL_EVENT_SEND_END;
    f->started = 0;
    f->start_sequence = 0;
    f->fail = PTL_NI_OK;
    f->undo = 0;
    f->ack = 0;
}

/* Takes source_count back: the operation never began. */
static void source_uncount(struct p3_ni *ni, const struct p3_finish *f)
{
    struct p3_md *md = &ni->view.md[f->md];

    md->busy -= md->busy != 0;
    if (f->event.threshold == PTL_MD_THRESH_INF)
        return;
    md->threshold++;
    md->flags &= ~(uint32_t)(P3_INACTIVE | P3_UNLINK_DUE);
}

/* Logs now; returns the event's sequence, *logged tells whether there was a queue. */
static uint32_t log_now(struct p3_ni *ni, const struct p3_event *event, uint32_t kind,
                        uint32_t fail, const uint32_t *link, uint32_t *logged)
{
    struct p3_log log = {.wanted = 1, .kind = kind, .fail = fail};

    log.stamp = p3_eq_next(&ni->view, event->eq);
    *logged = log.stamp != 0;
    if (!*logged)
        return 0;
    log.link = link ? *link : (uint32_t)log.stamp;
    p3_eq_log(&ni->view, event, &log);
    return (uint32_t)log.stamp;
}

/* After an operation on the descriptor ended: unlinks it when that was the last one. */
static void source_settle(struct p3_ni *ni, uint32_t md, const struct p3_event *event,
                          uint32_t cause)
{
    struct p3_md *record = &ni->view.md[md];
    struct p3_unlink plan;
    uint32_t logged, me = record->me;

    if (record->busy != 0 || !(record->flags & P3_UNLINK_DUE))
        return;
    if (p3_md_logs_unlink(&ni->view, record->options))
        log_now(ni, event, PTL_EVENT_UNLINK, PTL_NI_OK, &cause, &logged);
    if (me >= ni->view.mes || !(ni->view.me[me].flags & P3_UNLINK))
        me = P3_NONE;
    p3_unlink_plan(&ni->view, &plan, md, me);
    p3_unlink_apply(&ni->view, &plan);
}

/* An acknowledgement arrives: an operation of its own. */
static void take_ack(struct p3_ni *ni, const struct p3_finish *f)
{
    struct p3_md *md = &ni->view.md[f->md];
    struct p3_event event = f->event;
    uint32_t sequence = 0, logged;

    if (snic_planted("portals-ack-lost"))
        return;
    if (md->generation != f->generation || !(md->flags & P3_LIVE) || (md->flags & P3_INACTIVE)) {
        sr_add(ni, PTL_SR_DROP_COUNT, 1);
        return;
    }
    sr_add(ni, PTL_SR_RECV_COUNT, 1);
    p3_md_count(&md->threshold, &md->flags);
    p3_event_from_md(&ni->view, &event, f->md);
    event.nid = f->ack_nid;
    event.pid = f->ack_pid;
    event.uid = f->ack_uid;
    event.jid = f->ack_jid;
    event.incarnation = f->ack_incarnation;
    event.hdr_data = 0;
    event.mlength = f->ack_mlength;
    if ((md->options & P3_MD_EVENTS_OFF) != P3_MD_EVENTS_OFF)
        sequence = log_now(ni, &event, PTL_EVENT_ACK, PTL_NI_OK, NULL, &logged);
    source_settle(ni, f->md, &event, sequence);
}

static void finish_apply(struct p3_ni *ni, const struct p3_finish *f)
{
    struct p3_md *md = &ni->view.md[f->md];
    uint32_t started = f->started, link = f->start_sequence, cause, logged;

    if (md->generation != f->generation || !(md->flags & P3_LIVE))
        return;
    if (f->undo) {
        source_uncount(ni, f);
        return;
    }
    if (f->start_kind != P3_NONE && !(f->event.options & PTL_MD_EVENT_START_DISABLE))
        link = log_now(ni, &f->event, f->start_kind, PTL_NI_OK, NULL, &started);
    cause = link;
    if (!(f->event.options & PTL_MD_EVENT_END_DISABLE))
        cause = log_now(ni, &f->event, f->end_kind, f->fail, started ? &link : NULL, &logged);
    md->busy -= md->busy != 0;
    source_settle(ni, f->md, &f->event, cause);
    if (f->ack)
        take_ack(ni, f);
}

/* ---- the last step ---- */

void p3_deferred_run(struct p3_ni *ni)
{
    struct p3_deferred *list;

    pthread_mutex_lock(&ni->deferred_mutex);
    list = atomic_exchange_explicit(&ni->deferred, NULL, memory_order_acq_rel);
    pthread_mutex_unlock(&ni->deferred_mutex);
    while (list != NULL) {
        struct p3_deferred *next = list->next;

        finish_apply(ni, &list->finish);
        moving_add(ni, (uint32_t)-1);
        free(list);
        list = next;
    }
}

void p3_deferred_free(struct p3_ni *ni)
{
    struct p3_deferred *list = atomic_exchange(&ni->deferred, NULL);

    while (list != NULL) {
        struct p3_deferred *next = list->next;

        free(list);
        list = next;
    }
    for (uint32_t i = 0; i < ni->retired_count; i++)
        free(ni->retired[i]);
    free(ni->retired);
}

void p3_retire(struct p3_ni *ni, void *memory)
{
    void **more = realloc(ni->retired, (ni->retired_count + 1) * sizeof(*more));

    if (more == NULL)
        return; /* lost, but never freed too early */
    ni->retired = more;
    ni->retired[ni->retired_count++] = memory;
}

/* Appends to the list of what the next holder of the own lock does. */
static void defer(struct p3_ni *ni, const struct p3_finish *finish)
{
    struct p3_deferred *entry = malloc(sizeof(*entry));
    struct p3_deferred *last;

    if (entry == NULL)
        return;
    entry->next = NULL;
    entry->finish = *finish;
    pthread_mutex_lock(&ni->deferred_mutex);
    last = atomic_load_explicit(&ni->deferred, memory_order_relaxed);
    if (last == NULL) {
        atomic_store_explicit(&ni->deferred, entry, memory_order_release);
    } else {
        while (last->next != NULL)
            last = last->next;
        last->next = entry;
    }
    pthread_mutex_unlock(&ni->deferred_mutex);
}

static void finish(struct p3_ni *ni, const struct p3_finish *f)
{
    if (p3_lock_own(ni) != PTL_OK) {
        defer(ni, f);
        return;
    }
    finish_apply(ni, f);
    moving_add(ni, (uint32_t)-1);
    p3_unlock_own(ni);
    if (p3_eq_find(&ni->view, f->event.eq) != NULL)
        snic_ring_self(ni->nic);
}

/* ---- bytes ---- */

static uint32_t fail_of(int error)
{
    return error == 0 ? PTL_NI_OK : error == -ESRCH ? PTL_EXT_FAIL_PEER_DIED : PTL_EXT_FAIL_FAULT;
}

/* Moves one contiguous piece of ours to or from the target's place. */
static int move_piece(struct p3_peer *peer, const struct p3_place *place, uint64_t at,
                      uint8_t *mine, uint64_t length, int write)
{
    uint64_t skip = place->offset + at;

    if (!(place->options & PTL_MD_IOVEC))
        return write ? snic_write(peer->snic, &place->location, skip, mine, length)
                     : snic_read(peer->snic, &place->location, skip, mine, length);
    for (uint32_t i = 0; i < place->iov_count && length > 0; i++) {
        struct p3_iov iov = peer->view.iov[place->iov_first + i];
        uint64_t part;
        int error;

        if (skip >= iov.length) {
            skip -= iov.length;
            continue;
        }
        part = iov.length - skip < length ? iov.length - skip : length;
        error = write ? snic_write(peer->snic, &iov.location, skip, mine, part)
                      : snic_read(peer->snic, &iov.location, skip, mine, part);
        if (error < 0)
            return error;
        mine += part;
        length -= part;
        skip = 0;
    }
    return length == 0 ? 0 : -EFAULT;
}

static uint32_t move(struct p3_peer *peer, const struct p3_place *place,
                     const struct p3_source *source, uint64_t offset, uint64_t length, int write)
{
    uint64_t at = 0;

    if (length == 0)
        return PTL_NI_OK;
    if (source->iovs == NULL)
        return fail_of(move_piece(peer, place, 0, source->start + offset, length, write));
    for (uint32_t i = 0; i < source->iov_count && at < length; i++) {
        const ptl_md_iovec_t *iov = &source->iovs[i];
        uint64_t part;
        int error;

        if (offset >= iov->iov_len) {
            offset -= iov->iov_len;
            continue;
        }
        part = iov->iov_len - offset < length - at ? iov->iov_len - offset : length - at;
        error = move_piece(peer, place, at, (uint8_t *)iov->iov_base + offset, part, write);
        if (error < 0)
            return fail_of(error);
        at += part;
        offset = 0;
    }
    return at == length ? PTL_NI_OK : PTL_EXT_FAIL_FAULT;
}

/* Copies between a private buffer and our own descriptor (getput). */
static void scatter(const struct p3_source *source, uint64_t offset, uint8_t *buffer,
                    uint64_t length, int into_buffer)
{
    uint64_t at = 0;

    if (source->iovs == NULL) {
        if (length != 0)
            memcpy(into_buffer ? buffer : source->start + offset,
                   into_buffer ? source->start + offset : buffer, length);
        return;
    }
    for (uint32_t i = 0; i < source->iov_count && at < length; i++) {
        uint8_t *base = source->iovs[i].iov_base;
        uint64_t part = source->iovs[i].iov_len;

        if (offset >= part) {
            offset -= part;
            continue;
        }
        part = part - offset < length - at ? part - offset : length - at;
        memcpy(into_buffer ? buffer + at : base + offset, into_buffer ? base + offset : buffer + at,
               part);
        at += part;
        offset = 0;
    }
}

/* ---- the target's side of a request ---- */

static uint32_t fail_of_lock(int error)
{
    return error == -EBUSY ? PTL_EXT_FAIL_STALLED : PTL_EXT_FAIL_UNREACHABLE;
}

/* Step 2. PTL_NI_OK with *verdict, or why the target could not be reached. */
static uint32_t request_accept(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                               struct p3_place *place, enum p3_verdict *verdict)
{
    int logged = 0;
    int error = p3_lock_target(ni, peer);

    if (error < 0)
        return fail_of_lock(error);
    SNIC_STEP("ptl.request.locked");
    r->remote_uid = peer->view.area->uid;
    r->remote_jid = peer->view.area->jid;
    r->remote_incarnation = snic_peer_incarnation(peer->snic);
    *verdict = p3_target_match(&peer->view, &r->message, peer->intent, place);
    if (*verdict == P3_ACCEPTED)
        logged = p3_target_accept(&peer->view, peer->intent);
    p3_unlock_target(peer);
    SNIC_STEP("ptl.request.unlocked");
    if (logged)
        snic_ring(peer->snic);
    return *verdict == P3_CORRUPT ? PTL_EXT_FAIL_CORRUPT : PTL_NI_OK;
}

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
    int code;

    if (fail == PTL_EXT_FAIL_STALLED)
        return p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process");
    if ((code = p3_lock_own(ni)) != PTL_OK)
        return code;
    code = source_find(ni, r->md, r->whole, r->local_offset, &r->length, &source);
    if (code == PTL_OK) {
        r->message.rlength = r->length;
        source_count(ni, &source, &f);
        sr_add(ni, PTL_SR_SEND_COUNT, 1);
        sr_add(ni, PTL_SR_SEND_LENGTH, r->length);
        fill_own_event(ni, r, &f.event, r->local_offset);
        moving_add(ni, 1);
    }
    p3_unlock_own(ni);
    if (code != PTL_OK)
        return code;
    if (fail == PTL_NI_OK)
        fail = request_accept(ni, peer, r, &place, &verdict);
    if (fail == PTL_EXT_FAIL_STALLED) {
        f.undo = 1;
        finish(ni, &f);
        return p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process");
    }
    if (fail == PTL_NI_OK && verdict == P3_ACCEPTED) {
        SNIC_STEP("ptl.put.copy");
        fail = move(peer, &place, &source, r->local_offset, place.mlength, 1);
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
    finish(ni, &f);
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
    source_count(ni, source, &f);
    fill_own_event(ni, r, &f.event, r->local_offset);
    finish_apply(ni, &f);
}

/* The reply arrives. 1: *source is busy and `f` prepared; 0: it was dropped and counted. */
static int reply_begin(struct p3_ni *ni, const struct p3_peer *peer, const struct p3_request *r,
                       ptl_handle_md_t handle, uint64_t offset, uint64_t mlength,
                       struct p3_source *source, struct p3_finish *f)
{
    uint64_t length = 0;
    struct p3_source now = {0};
    int generation_ok;

    if (p3_lock_own(ni) != PTL_OK)
        return 0;
    generation_ok = source_find(ni, handle, 0, 0, &length, &now) == PTL_OK &&
                    now.md == source->md && now.generation == source->generation;
    if (!generation_ok || offset > now.length) {
        sr_add(ni, PTL_SR_DROP_COUNT, 1);
        sr_add(ni, PTL_SR_DROP_LENGTH, mlength);
        p3_unlock_own(ni);
        return 0;
    }
    if (mlength > now.length - offset) /* an update made it shorter meanwhile */
        mlength = now.length - offset;
    *source = now;
    source_count(ni, source, f);
    sr_add(ni, PTL_SR_RECV_COUNT, 1);
    sr_add(ni, PTL_SR_RECV_LENGTH, mlength);
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
            log_now(ni, &f->event, PTL_EVENT_REPLY_START, PTL_NI_OK, NULL, &f->started);
    moving_add(ni, 1);
    p3_unlock_own(ni);
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
    int code, arrives;

    if (fail == PTL_EXT_FAIL_STALLED)
        return p3_fail(PTL_NO_SPACE, "the target's lock is held by a stopped process");
    if ((code = p3_lock_own(ni)) != PTL_OK)
        return code;
    code = source_find(ni, r->md, r->whole, r->local_offset, &r->length, &source);
    if (code == PTL_OK) {
        r->message.rlength = r->length;
        sr_add(ni, PTL_SR_SEND_COUNT, 1);
        count_get_request(ni, r, &source);
    }
    p3_unlock_own(ni);
    if (code != PTL_OK)
        return code;
    if (fail == PTL_NI_OK)
        fail = request_accept(ni, peer, r, &place, &verdict);
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
        fail = move(peer, &place, &source, r->local_offset, f.event.mlength, 0);
    SNIC_STEP("ptl.get.copied");
    p3_peer_complete(ni, peer, PTL_NI_OK);
    SNIC_STEP("ptl.get.completed");
    if (arrives) {
        f.fail = fail;
        finish(ni, &f);
    } else if (ni->flavor == P3_FLAVOR_CRAY) {
        snic_ring_self(ni->nic); /* the events of the send */
    }
    p3_outcome(arrives ? outcome_of(fail, verdict) : PTL_EXT_REPLY_DROPPED);
    return PTL_OK;
}

/* ---- getput ---- */

static void recover_exchange(void *context, uint32_t dead_slot)
{
    (void)context; /* the dead one's operation is finished from his intent record */
    (void)dead_slot;
}

/* Swaps under the target's exchange lock, so that no other getput comes between. */
static uint32_t exchange(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                         struct p3_place *place, enum p3_verdict *verdict, uint8_t *mine,
                         uint8_t *theirs)
{
    struct p3_source buffer = {.start = theirs};
    uint32_t fail;
    int error = snic_lock_peer(peer->snic, &peer->view.area->exchange, ni->lock_timeout_ns,
                               recover_exchange, NULL);

    if (error < 0)
        return fail_of_lock(error);
    fail = request_accept(ni, peer, r, place, verdict);
    if (fail == PTL_NI_OK && *verdict == P3_ACCEPTED) {
        if (place->mlength > P3_GETPUT_MAX)
            fail = PTL_EXT_FAIL_CORRUPT;
        if (fail == PTL_NI_OK)
            fail = move(peer, place, &buffer, 0, place->mlength, 0);
        SNIC_STEP("ptl.getput.read");
        buffer.start = mine;
        if (fail == PTL_NI_OK)
            fail = move(peer, place, &buffer, 0, place->mlength, 1);
        SNIC_STEP("ptl.getput.written");
        p3_peer_complete(ni, peer, fail);
    }
    snic_unlock_peer(peer->snic, &peer->view.area->exchange);
    return fail;
}

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
    code = source_find(ni, r->md, r->whole, r->local_offset, &r->length, &put);
    if (code == PTL_OK && r->length > (uint64_t)ni->limits.max_getput_md)
        code = p3_fail(PTL_MD_ILLEGAL, "getput of %llu bytes, more than max_getput_md (%d)",
                       (unsigned long long)r->length, ni->limits.max_getput_md);
    get_length = r->whole ? 0 : r->length;
    if (code == PTL_OK)
        code = source_find(ni, r->get_md, 0, r->get_offset, &get_length, &get);
    if (code == PTL_OK) {
        r->message.rlength = r->length;
        source_count(ni, &put, &f);
        sr_add(ni, PTL_SR_SEND_COUNT, 1);
        sr_add(ni, PTL_SR_SEND_LENGTH, r->length);
        fill_own_event(ni, r, &f.event, r->local_offset);
        moving_add(ni, 1);
    }
    p3_unlock_own(ni);
    if (code != PTL_OK)
        return code;
    scatter(&put, r->local_offset, mine, r->length, 1);
    if (fail == PTL_NI_OK)
        fail = exchange(ni, peer, r, &place, &verdict, mine, theirs);
    f.fail = fail;
    finish(ni, &f);
    if (fail == PTL_NI_OK && verdict == P3_ACCEPTED) {
        arrives = reply_begin(ni, peer, r, r->get_md, r->get_offset, place.mlength, &get, &f);
        if (arrives) {
            scatter(&get, r->get_offset, theirs, f.event.mlength, 0);
            finish(ni, &f);
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
