/* What happens to connections: the look at our control words and at whether peers live. The
 * protocol of the control words is in shm_layout.h. */
#define _GNU_SOURCE
#include "shm_private.h"
#include <errno.h>
#include <string.h>

static void event_init(shm_t *s, struct shm_link *link, uint32_t type, int status, shm_event_t *e)
{
    memset(e, 0, sizeof *e);
    e->type = type;
    e->status = status;
    e->connection = shm_handle(s, link);
    e->context = link->context;
}

/* A request in record `index` that no link knows yet. 1: offered. */
static int offer(shm_t *s, uint32_t index, uint64_t control, shm_event_t *event)
{
    struct shm_connection *own = &s->connections[index];
    struct shm_link *link = &s->links[index];
    char name[SNIC_NAME_BYTES];
    memcpy(name, own->peer_name, sizeof name);
    name[sizeof name - 1] = 0;
    uint64_t incarnation = own->peer_incarnation;
    uint32_t length = own->private_length;
    struct shm_attachment *at = NULL;
    /* Its writer must be the process that it names; everything else is checked at use. */
    if (length > SHM_PRIVATE_MAX || incarnation == 0 ||
        shm_attachment_get(s, name, incarnation, &at, NULL, 0) != 0) {
        shm_change(own, control, shm_freed(control));
        return 0;
    }
    shm_link_init(s, link, LINK_REQUESTED, SHM_GENERATION(control), 0);
    link->at = at;
    link->peer_record = own->peer_record;
    link->peer_generation = own->peer_generation;
    if (link->peer_record >= at->connections_max) {
        shm_free_request(s, link);
        return 0;
    }
    event_init(s, link, SHM_EVENT_CONNECT_REQUEST, 0, event);
    memcpy(s->request_data + (uint64_t)index * SHM_PRIVATE_MAX, own->private_data, length);
    event->data = s->request_data + (uint64_t)index * SHM_PRIVATE_MAX;
    event->length = length;
    event->incarnation = incarnation;
    memcpy(event->peer, name, sizeof name);
    return 1;
}

/* A connect of ours: has the peer answered? 1: event made. */
static int look_connecting(shm_t *s, struct shm_link *link, uint64_t now, shm_event_t *event)
{
    uint64_t control = shm_look(&s->connections[shm_index(s, link)]);
    int status = 0;
    if (SHM_GENERATION(control) != link->generation) {
        status = -EIO; /* a damaged segment */
    } else if (SHM_PHASE(control) == SHM_OPEN) {
        shm_link_open(s, link);
        event_init(s, link, SHM_EVENT_CONNECTED, 0, event);
        s->scan = 1; /* the peer may have ended it already */
        return 1;
    } else if (SHM_PHASE(control) == SHM_REJECTED) {
        status = -ECONNREFUSED;
    } else if (snic_peer_liveness(link->at->peer) == SNIC_DEAD) {
        status = -ESRCH;
    } else if (!snic_peer_is_open(link->at->peer)) {
        status = -ECONNREFUSED;
    } else if (link->deadline_ns && now >= link->deadline_ns) {
        status = -ETIMEDOUT;
    } else {
        return 0;
    }
    event_init(s, link, SHM_EVENT_CONNECT_FAILED, status, event);
    if (status == -ECONNREFUSED && SHM_PHASE(control) == SHM_REJECTED)
        shm_free_request(s, link);
    else if (shm_withdraw(s, link) == 0 || status == -EIO)
        shm_drop_link(s, link);
    else
        return 0; /* it answered this very moment: next time */
    return 1;
}

/* Whether it is dead costs one poll of a pidfd; whether it is stopped costs a look into /proc, so
 * that is asked less often: eight times in a timeout. */
static int peer_lost(shm_t *s, struct shm_attachment *at, uint64_t now)
{
    if (snic_peer_is_damaged(at->peer))
        return -EIO;
    if (at->peer->pidfd >= 0) {
        if (snic_pidfd_dead(at->peer->pidfd))
            return -ESRCH;
        if (now < at->next_look_ns)
            return at->stopped_since_ns && now - at->stopped_since_ns >= s->peer_timeout_ns
                       ? -EHOSTDOWN
                       : 0;
        at->next_look_ns = now + s->peer_timeout_ns / 8;
    }
    switch (snic_peer_liveness(at->peer)) {
    case SNIC_DEAD:
        return -ESRCH;
    case SNIC_STOPPED:
        at->stopped_since_ns = at->stopped_since_ns ? at->stopped_since_ns : now;
        return now - at->stopped_since_ns >= s->peer_timeout_ns ? -EHOSTDOWN : 0;
    default:
        at->stopped_since_ns = 0;
        return 0;
    }
}

/* 1: event made. */
static int look_open(shm_t *s, struct shm_link *link, uint64_t now, int look_at_life,
                     shm_event_t *event, int want_done)
{
    uint64_t control = shm_look(&s->connections[shm_index(s, link)]);
    if (SHM_GENERATION(control) != link->generation || SHM_PHASE(control) != SHM_OPEN ||
        (control & SHM_REMOTE_DONE)) {
        link->state = LINK_PEER_DONE;
    } else if (look_at_life && (link->lost = peer_lost(s, link->at, now)) != 0) {
        /* It may have ended the connection in order and exited since we looked. */
        control = shm_look(&s->connections[shm_index(s, link)]);
        link->state = control & SHM_REMOTE_DONE ? LINK_PEER_DONE : LINK_PEER_LOST;
    } else if (look_at_life && !snic_peer_is_open(link->at->peer)) {
        link->lost = snic_peer_is_damaged(link->at->peer) ? -EIO : -ESRCH;
        link->state = LINK_PEER_LOST;
    }
    if (link->state == LINK_OPEN || !want_done)
        return 0;
    event_init(s, link, link->state == LINK_PEER_DONE ? SHM_EVENT_PEER_DONE : SHM_EVENT_PEER_LOST,
               link->lost, event);
    return 1;
}

/* A record without a link: a new request, or what a dead process left. 1: event made. */
static int look_unlinked(shm_t *s, uint32_t index, int look_at_life, shm_event_t *event)
{
    struct shm_connection *own = &s->connections[index];
    uint64_t control = shm_look(own);
    switch (SHM_PHASE(control)) {
    case SHM_FREE:
        return 0;
    case SHM_REQUESTED:
        return offer(s, index, control, event);
    case SHM_WITHDRAWN:
    case SHM_REJECTED:
        shm_change(own, control, shm_freed(control));
        return 0;
    default:
        /* CLAIMED: its claimer may be about to ask. OPEN with LOCAL_DONE: its writer may not have
         * noticed. */
        if (look_at_life && SHM_TOKEN(control) != SNIC_LOCK_SELF &&
            snic_token_is_dead(&s->nic->segment, SHM_TOKEN(control)))
            shm_change(own, control, shm_freed(control));
        return 0;
    }
}

static int control_scan(shm_t *s, shm_event_t *events, int limit, int want_done)
{
    uint32_t bell = atomic_load_explicit(&s->area->control_bell, memory_order_acquire);
    uint64_t now = snic_now_ns();
    int look_at_life = now >= s->next_look_ns, n = 0;
    s->polls = 0;
    if (bell == s->bell_seen && !s->scan && !look_at_life)
        return 0;
    s->scan = 0;
    for (uint32_t i = 0; i < s->connections_max; i++) {
        struct shm_link *link = &s->links[i];
        if (n == limit) {
            s->scan = 1; /* the rest another time */
            return n;
        }
        if (link->state == LINK_NONE) {
            n += look_unlinked(s, i, look_at_life, &events[n]);
        } else if (link->state == LINK_CONNECTING) {
            n += look_connecting(s, link, now, &events[n]);
        } else if (link->state == LINK_OPEN) {
            n += look_open(s, link, now, look_at_life, &events[n], want_done);
        } else if (link->state == LINK_REQUESTED) {
            uint64_t control = shm_look(&s->connections[i]);
            if (SHM_PHASE(control) != SHM_REQUESTED ||
                SHM_GENERATION(control) != link->generation ||
                (look_at_life && snic_peer_liveness(link->at->peer) == SNIC_DEAD))
                shm_free_request(s, link);
        }
    }
    if (look_at_life)
        s->next_look_ns = now + s->look_period_ns;
    s->bell_seen = bell;
    return n;
}

int shm_control(shm_t *s, shm_event_t *events, int limit)
{
    if (snic_is_forked(s->nic))
        return -ECHILD;
    return control_scan(s, events, limit, 1);
}

int shm_control_for_poll(shm_t *s, shm_event_t *events, int limit)
{
    return control_scan(s, events, limit, 0);
}
