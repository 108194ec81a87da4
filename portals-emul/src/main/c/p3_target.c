/* Address translation and its consequences at the target. */
#include "p3_target.h"

#include "include/portals3_ext.h"

static uint64_t sr_load(const struct p3_view *view, int index)
{
    return atomic_load_explicit(&view->area->sr[index], memory_order_relaxed);
}

static void sr_store(const struct p3_view *view, int index, uint64_t value)
{
    atomic_store_explicit(&view->area->sr[index], value, memory_order_relaxed);
}

/* One increment each: an owner who dies between them leaves a count, not a broken table. */
static enum p3_verdict drop(const struct p3_view *view, const struct p3_message *m)
{
    if (!m->retried) {
        sr_store(view, PTL_SR_DROP_COUNT, sr_load(view, PTL_SR_DROP_COUNT) + 1);
        sr_store(view, PTL_SR_DROP_LENGTH, sr_load(view, PTL_SR_DROP_LENGTH) + m->rlength);
    }
    return P3_DROPPED;
}

static int access_allowed(const struct p3_view *view, const struct p3_message *m)
{
    const struct p3_ac *ac;

    if (m->pt_index >= view->pts || m->ac_index >= view->acs)
        return 0;
    ac = &view->ac[m->ac_index];
    return (ac->uid == PTL_UID_ANY || ac->uid == m->from.uid) &&
           (ac->pt_index == PTL_PT_INDEX_ANY || ac->pt_index == m->pt_index) &&
           (ac->jid == PTL_JID_ANY || ac->jid == m->from.jid) &&
           (ac->nid == PTL_NID_ANY || ac->nid == m->from.nid) &&
           (ac->pid == P3_PID_ANY || ac->pid == m->from.pid);
}

static int entry_matches(const struct p3_me *me, const struct p3_message *m)
{
    return ((me->match_bits ^ m->match_bits) & ~me->ignore_bits) == 0 &&
           me->pt_index == m->pt_index && (me->nid == PTL_NID_ANY || me->nid == m->from.nid) &&
           (me->pid == P3_PID_ANY || me->pid == m->from.pid);
}

static uint32_t needed_options(uint32_t operation)
{
    switch (operation) {
    case P3_PUT:
        return PTL_MD_OP_PUT;
    case P3_GET:
        return PTL_MD_OP_GET;
    default:
        return PTL_MD_OP_PUT | PTL_MD_OP_GET;
    }
}

/* Does the descriptor take the request? Then offset and length are those really used. */
static int md_takes(const struct p3_md *md, const struct p3_message *m, uint64_t *offset,
                    uint64_t *mlength)
{
    uint32_t needed = needed_options(m->operation);
    uint64_t length = md->length;
    uint64_t available;

    if (!(md->flags & P3_LIVE) || (md->flags & P3_INACTIVE) || (md->options & needed) != needed)
        return 0;
    *offset = md->options & PTL_MD_MANAGE_REMOTE ? m->remote_offset : md->offset;
    if (*offset > length)
        return 0;
    available = length - *offset;
    if (m->rlength <= available)
        *mlength = m->rlength;
    else if (md->options & PTL_MD_TRUNCATE)
        *mlength = available;
    else
        return 0;
    return 1;
}

static void plan_log(const struct p3_view *view, struct p3_log *log, const struct p3_event *event,
                     uint32_t kind, int wanted, uint32_t after)
{
    uint64_t stamp = wanted ? p3_eq_next(view, event->eq) : 0;

    log->wanted = 0;
    log->fail = PTL_NI_OK;
    log->link = 0;
    log->stamp = 0;
    if (stamp == 0)
        return;
    log->wanted = 1;
    log->kind = kind;
    log->stamp = stamp + after;
    log->link = (uint32_t)log->stamp;
}

static void plan_registers(const struct p3_view *view, struct p3_intent *intent, uint64_t mlength)
{
    intent->recv_count = sr_load(view, PTL_SR_RECV_COUNT);
    intent->recv_length = sr_load(view, PTL_SR_RECV_LENGTH);
    intent->send_count = sr_load(view, PTL_SR_SEND_COUNT);
    intent->send_length = sr_load(view, PTL_SR_SEND_LENGTH);
    if (intent->operation != P3_GET) {
        intent->recv_count++;
        intent->recv_length += mlength;
    }
    if (intent->operation != P3_PUT) { /* the reply */
        intent->send_count++;
        intent->send_length += mlength;
    }
}

static void plan_accept(const struct p3_view *view, const struct p3_message *m, uint32_t md,
                        struct p3_intent *intent, const struct p3_place *place)
{
    const struct p3_md *record = &view->md[md];
    struct p3_event *event = &intent->event;
    static const uint8_t kinds[] = {0, PTL_EVENT_PUT_START, PTL_EVENT_GET_START,
                                    PTL_EVENT_GETPUT_START};

    intent->operation = m->operation;
    atomic_store_explicit(&intent->incarnation, m->from.incarnation, memory_order_relaxed);
    intent->md = md;
    intent->md_generation = record->generation;
    intent->md_offset = record->offset;
    intent->md_flags = record->flags;
    intent->md_threshold = record->threshold;
    intent->md_busy = record->busy + 1;
    if (!(record->options & PTL_MD_MANAGE_REMOTE)) {
        intent->md_offset += place->mlength;
        if ((record->options & PTL_MD_MAX_SIZE) &&
            record->length - intent->md_offset < record->max_size)
            intent->md_flags |= P3_INACTIVE;
    }
    p3_md_count(&intent->md_threshold, &intent->md_flags);
    plan_registers(view, intent, place->mlength);
    p3_event_from_md(view, event, md);
    event->threshold = intent->md_threshold;
    event->hdr_data = m->hdr_data;
    event->match_bits = m->match_bits;
    event->mlength = place->mlength;
    event->offset = place->offset;
    event->rlength = m->rlength;
    event->who = m->from;
    event->pt_index = m->pt_index;
    plan_log(view, &intent->start, event, kinds[m->operation & 3u],
             !(record->options & PTL_MD_EVENT_START_DISABLE), 0);
    intent->start_late =
        intent->start.wanted && m->operation != P3_GET && place->mlength < P3_SHORT_BYTES;
}

/* The entries that a request may match, in the order of the match list: two chains, merged. */
struct p3_walk {
    uint32_t exact;
    uint32_t wild;
    uint32_t pt_index;
    uint32_t left; /* entries that may still come; the end of a walk over chains gone astray */
};

static void walk_begin(const struct p3_view *view, const struct p3_message *m, struct p3_walk *walk)
{
    walk->exact = view->chain[p3_chain_of_bits(view, m->pt_index, m->match_bits)].head;
    walk->wild = view->chain[view->buckets + m->pt_index].head;
    walk->pt_index = m->pt_index;
    walk->left = view->mes;
}

/* The next entry, or P3_NONE. */
static uint32_t walk_next(const struct p3_view *view, struct p3_walk *walk)
{
    uint32_t exact = walk->exact, wild = walk->wild;

    /* Entries of other lists in the same bucket: their orders mean nothing in this one. */
    for (; exact < view->mes && view->me[exact].pt_index != walk->pt_index && walk->left != 0;
         walk->left--)
        exact = view->me[exact].chain_next;
    walk->exact = exact;
    if (exact < view->mes && (wild >= view->mes || view->me[exact].order < view->me[wild].order)) {
        walk->exact = view->me[exact].chain_next;
        return exact;
    }
    if (wild >= view->mes)
        return P3_NONE;
    walk->wild = view->me[wild].chain_next;
    return wild;
}

static enum p3_verdict accept_at(const struct p3_view *view, const struct p3_message *message,
                                 uint32_t md, struct p3_intent *intent, struct p3_place *place)
{
    const struct p3_md *record = &view->md[md];

    place->location = record->location;
    place->options = record->options;
    place->iov_first = record->iov_first;
    place->iov_count = record->options & PTL_MD_IOVEC ? record->iov_count : 0;
    if (place->iov_count > view->iovs || place->iov_first > view->iovs - place->iov_count)
        return P3_CORRUPT;
    plan_accept(view, message, md, intent, place);
    return P3_ACCEPTED;
}

enum p3_verdict p3_target_match(const struct p3_view *view, const struct p3_message *message,
                                struct p3_intent *intent, struct p3_place *place)
{
    struct p3_walk walk;
    uint32_t me;

    if (!access_allowed(view, message))
        return drop(view, message);
    walk_begin(view, message, &walk);
    while ((me = walk_next(view, &walk)) != P3_NONE) {
        const struct p3_me *entry = &view->me[me];
        uint32_t md = entry->md;

        if (walk.left-- == 0)
            return P3_CORRUPT; /* a chain that bites its tail */
        if (entry_matches(entry, message) && md < view->mds &&
            md_takes(&view->md[md], message, &place->offset, &place->mlength))
            return accept_at(view, message, md, intent, place);
    }
    return drop(view, message);
}

static int apply_accept(const struct p3_view *view, struct p3_intent *intent)
{
    if (intent->md < view->mds) {
        struct p3_md *md = &view->md[intent->md];

        md->offset = intent->md_offset;
        md->threshold = intent->md_threshold;
        SNIC_STEP("ptl.accept.threshold");
        md->flags = intent->md_flags;
        md->busy = intent->md_busy;
    }
    SNIC_STEP("ptl.accept.busy");
    sr_store(view, PTL_SR_RECV_COUNT, intent->recv_count);
    sr_store(view, PTL_SR_RECV_LENGTH, intent->recv_length);
    sr_store(view, PTL_SR_SEND_COUNT, intent->send_count);
    sr_store(view, PTL_SR_SEND_LENGTH, intent->send_length);
    if (!intent->start_late)
        p3_eq_log(view, &intent->event, &intent->start);
    SNIC_STEP("ptl.accept.logged");
    /* Partner: the acquire load of the process that finds us dead. */
    atomic_store_explicit(&intent->phase, P3_MOVING, memory_order_release);
    return intent->start.wanted && !intent->start_late;
}

int p3_target_accept(const struct p3_view *view, struct p3_intent *intent)
{
    SNIC_STEP("ptl.accept.planned");
    /* Before the first visible effect; partner: the acquire load of the process that finds us dead.
     */
    atomic_store_explicit(&intent->phase, P3_ACCEPT, memory_order_release);
    SNIC_STEP("ptl.accept.intent");
    return apply_accept(view, intent);
}

static void plan_complete(const struct p3_view *view, struct p3_intent *intent, uint32_t fail)
{
    struct p3_md *md = intent->md < view->mds ? &view->md[intent->md] : NULL;
    struct p3_event *event = &intent->event;
    static const uint8_t kinds[] = {0, PTL_EVENT_PUT_END, PTL_EVENT_GET_END, PTL_EVENT_GETPUT_END};
    int last;

    intent->unlink.md_wanted = 0;
    intent->unlink.me_wanted = 0;
    intent->unlinked.wanted = 0;
    if (intent->start_late) {
        intent->start.stamp = p3_eq_next(view, event->eq);
        intent->start.link = (uint32_t)intent->start.stamp;
    }
    plan_log(view, &intent->end, event, kinds[intent->operation & 3u],
             !(event->options & PTL_MD_EVENT_END_DISABLE), intent->start_late);
    intent->end.fail = fail;
    if (intent->start.wanted)
        intent->end.link = intent->start.link;
    if (md == NULL || md->generation != intent->md_generation || !(md->flags & P3_LIVE)) {
        intent->md = P3_NONE; /* the descriptor was torn away: NIFini, or a corrupt table */
        return;
    }
    intent->end_busy = md->busy ? md->busy - 1 : 0;
    last = intent->end_busy == 0 && (md->flags & P3_UNLINK_DUE);
    if (!last)
        return;
    plan_log(view, &intent->unlinked, event, PTL_EVENT_UNLINK,
             p3_md_logs_unlink(view, event->options), intent->start_late + intent->end.wanted);
    intent->unlinked.link = intent->end.wanted     ? (uint32_t)intent->end.stamp
                            : intent->start.wanted ? intent->start.link
                                                   : intent->unlinked.link;
    p3_unlink_plan(view, &intent->unlink, intent->md,
                   md->me < view->mes && (view->me[md->me].flags & P3_UNLINK) ? md->me : P3_NONE);
}

static int apply_complete(const struct p3_view *view, struct p3_intent *intent)
{
    if (intent->start_late)
        p3_eq_log(view, &intent->event, &intent->start);
    SNIC_STEP("ptl.complete.start");
    p3_eq_log(view, &intent->event, &intent->end);
    SNIC_STEP("ptl.complete.end");
    if (intent->md < view->mds)
        view->md[intent->md].busy = intent->end_busy;
    SNIC_STEP("ptl.complete.busy");
    p3_eq_log(view, &intent->event, &intent->unlinked);
    SNIC_STEP("ptl.complete.unlinked");
    p3_unlink_apply(view, &intent->unlink);
    SNIC_STEP("ptl.complete.applied");
    /* Partner: the acquire load of a process that looks for work left by the dead. */
    atomic_store_explicit(&intent->phase, P3_IDLE, memory_order_release);
    return intent->end.wanted || intent->unlinked.wanted;
}

int p3_target_complete(const struct p3_view *view, struct p3_intent *intent, uint32_t fail)
{
    SNIC_STEP("ptl.complete.begin");
    plan_complete(view, intent, fail);
    SNIC_STEP("ptl.complete.planned");
    atomic_store_explicit(&intent->phase, P3_COMPLETE, memory_order_release);
    SNIC_STEP("ptl.complete.intent");
    return apply_complete(view, intent);
}

void p3_target_finish_dead(const struct p3_view *view, struct p3_intent *intent)
{
    uint32_t fail = PTL_EXT_FAIL_INITIATOR_DIED;

    switch (atomic_load_explicit(&intent->phase, memory_order_acquire)) {
    case P3_IDLE:
        return;
    case P3_ACCEPT:
        apply_accept(view, intent);
        p3_target_complete(view, intent, fail);
        return;
    case P3_MOVING:
        p3_target_complete(view, intent, fail);
        return;
    case P3_COMPLETE:
        /* An END that no process can have seen yet must not claim success. */
        if (!p3_eq_published(view, intent->event.eq, intent->end.stamp))
            intent->end.fail = fail;
        apply_complete(view, intent);
        return;
    default: /* nonsense from a corrupted segment */
        atomic_store_explicit(&intent->phase, P3_IDLE, memory_order_release);
    }
}

void p3_target_recover(const struct p3_view *view, uint32_t dead_slot)
{
    uint32_t high = atomic_load_explicit(&view->area->intents_high, memory_order_acquire);

    for (uint32_t i = 0; i < high && i < view->intents; i++) {
        struct p3_intent *intent = p3_view_intent(view, i);
        uint32_t phase = atomic_load_explicit(&intent->phase, memory_order_acquire);

        /* Under the lock these phases belong to its last owner, or to one whom he was finishing. */
        if (phase == P3_ACCEPT || phase == P3_COMPLETE || (i == dead_slot && phase == P3_MOVING))
            p3_target_finish_dead(view, intent);
    }
}
