/* The initiator's own descriptors: counting, events, acknowledgements, and the last step of an
 * operation. */
#include "p3_move.h"

#include <stdlib.h>

struct p3_deferred {
    struct p3_deferred *next;
    struct p3_finish finish;
};

void p3_sr_add(struct p3_ni *ni, int index, uint64_t amount)
{
    _Atomic uint64_t *sr = &ni->own_sr[index];

    atomic_store_explicit(sr, atomic_load_explicit(sr, memory_order_relaxed) + amount,
                          memory_order_relaxed);
}

void p3_moving_add(struct p3_ni *ni, uint32_t amount)
{
    atomic_store_explicit(&ni->moving,
                          atomic_load_explicit(&ni->moving, memory_order_relaxed) + amount,
                          memory_order_release);
}

int p3_source_find(struct p3_ni *ni, ptl_handle_md_t handle, int whole, uint64_t offset,
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
    source->iovs = local->segments.iovs;
    source->iov_count = local->iov_count;
    source->length = local->length;
    return PTL_OK;
}

void p3_source_count(struct p3_ni *ni, const struct p3_source *source, struct p3_finish *f)
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

uint32_t p3_log_now(struct p3_ni *ni, const struct p3_event *event, uint32_t kind, uint32_t fail,
                    const uint32_t *link, uint32_t *logged)
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
        p3_log_now(ni, event, PTL_EVENT_UNLINK, PTL_NI_OK, &cause, &logged);
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

    if (md->generation != f->generation || !(md->flags & P3_LIVE) || (md->flags & P3_INACTIVE)) {
        p3_sr_add(ni, PTL_SR_DROP_COUNT, 1);
        return;
    }
    p3_sr_add(ni, PTL_SR_RECV_COUNT, 1);
    p3_md_count(&md->threshold, &md->flags);
    p3_event_from_md(&ni->view, &event, f->md);
    event.who = f->ack_from;
    event.hdr_data = 0;
    event.mlength = f->ack_mlength;
    if ((md->options & P3_MD_EVENTS_OFF) != P3_MD_EVENTS_OFF)
        sequence = p3_log_now(ni, &event, PTL_EVENT_ACK, PTL_NI_OK, NULL, &logged);
    source_settle(ni, f->md, &event, sequence);
}

void p3_finish_apply(struct p3_ni *ni, const struct p3_finish *f)
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
        link = p3_log_now(ni, &f->event, f->start_kind, PTL_NI_OK, NULL, &started);
    cause = link;
    if (!(f->event.options & PTL_MD_EVENT_END_DISABLE))
        cause = p3_log_now(ni, &f->event, f->end_kind, f->fail, started ? &link : NULL, &logged);
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

        p3_finish_apply(ni, &list->finish);
        p3_moving_add(ni, (uint32_t)-1);
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

/* With ni->initiator held: does the last step neither log nor unlink anything, on a descriptor that
 * no peer touches? Then it is done. */
static int finish_quietly(struct p3_ni *ni, const struct p3_finish *f)
{
    struct p3_md *md = &ni->view.md[f->md];

    if (!ni->mds[f->md].floating || md->generation != f->generation || f->undo ||
        p3_finish_logs(f) || (md->flags & (P3_INACTIVE | P3_UNLINK_DUE)))
        return 0;
    /* PtlMDUpdate may have given it a queue since. */
    if (f->ack && (md->threshold != PTL_MD_THRESH_INF || md->eq != PTL_EQ_NONE))
        return 0;
    if (f->ack)
        p3_sr_add(ni, PTL_SR_RECV_COUNT, 1);
    md->busy -= md->busy != 0;
    p3_moving_add(ni, (uint32_t)-1);
    return 1;
}

int p3_lock_source(struct p3_ni *ni, ptl_handle_md_t handle, int logs, int *light)
{
    uint32_t index = p3_handle_index(handle);

    pthread_mutex_lock(&ni->initiator);
    *light = index < ni->view.mds && ni->mds[index].live && ni->mds[index].floating &&
             (!logs || ni->view.md[index].eq == PTL_EQ_NONE);
    return *light ? PTL_OK : p3_lock_own_rest(ni);
}

void p3_unlock_source(struct p3_ni *ni, int light)
{
    if (light)
        pthread_mutex_unlock(&ni->initiator);
    else
        p3_unlock_own(ni);
}

void p3_finish_do(struct p3_ni *ni, const struct p3_finish *f)
{
    int rings;

    pthread_mutex_lock(&ni->initiator);
    if (finish_quietly(ni, f)) {
        pthread_mutex_unlock(&ni->initiator);
        return;
    }
    if (p3_lock_own_rest(ni) != PTL_OK) {
        defer(ni, f);
        return;
    }
    rings = p3_eq_find(&ni->view, f->event.eq) != NULL ||
            (f->ack && p3_eq_find(&ni->view, ni->view.md[f->md].eq) != NULL);
    p3_finish_apply(ni, f);
    p3_moving_add(ni, (uint32_t)-1);
    p3_unlock_own(ni);
    if (rings)
        snic_ring_self(ni->nic);
}
