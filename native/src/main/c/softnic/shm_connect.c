/* Connections of the shm personality. The protocol of the control words is in shm_layout.h. */
#define _GNU_SOURCE
#include "shm_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- control words ---- */

/* Sets a done bit; the one who sets the second one frees the record. */
static void set_done(struct shm_connection *record, uint32_t generation, uint32_t bit)
{
    for (;;) {
        uint64_t control = shm_look(record);
        /* REQUESTED: the accepter has set our record and is about to set its own. */
        if (SHM_GENERATION(control) != generation ||
            (SHM_PHASE(control) != SHM_OPEN && SHM_PHASE(control) != SHM_REQUESTED))
            return;
        uint64_t done = control | bit;
        uint32_t both = SHM_LOCAL_DONE | SHM_REMOTE_DONE;
        if (shm_change(record, control, (done & both) == both ? shm_freed(control) : done))
            return;
    }
}

static void ring_control(struct shm_attachment *at)
{
    /* Release; partner: the acquire load of control_bell in shm_control. */
    atomic_fetch_add_explicit(&at->area->control_bell, 1, memory_order_release);
    snic_ring(at->peer);
    SNIC_STEP("control.rung");
}

/* ---- links ---- */

void shm_link_init(shm_t *s, struct shm_link *link, uint32_t state, uint32_t generation,
                   uint64_t context)
{
    s->serials = (s->serials + 1) & 0x7fffffffu;
    s->serials = s->serials ? s->serials : 1;
    link->state = state;
    link->generation = generation;
    link->serial = s->serials;
    link->context = context;
    link->deadline_ns = 0;
    link->at = NULL;
    link->sent = link->consumed_seen = link->position = link->released = 0;
    link->out = 0;
    for (uint32_t i = 0; i < s->credits; i++)
        link->slots[i] = (uint16_t)i;
    memset(link->is_out, 0, s->credits);
}

void shm_link_open(shm_t *s, struct shm_link *link)
{
    link->state = LINK_OPEN;
    link->peer_ring = link->at->rings + (uint64_t)link->peer_record * link->at->ring_bytes;
    s->open[s->open_count++] = shm_index(s, link);
}

void shm_drop_link(shm_t *s, struct shm_link *link)
{
    uint32_t index = shm_index(s, link);
    for (uint32_t i = 0; i < s->open_count; i++)
        if (s->open[i] == index) {
            s->open[i] = s->open[--s->open_count];
            break;
        }
    shm_attachment_put(link->at);
    link->at = NULL;
    link->state = LINK_NONE;
}

void shm_end_link(shm_t *s, struct shm_link *link)
{
    struct shm_connection *own = &s->connections[shm_index(s, link)];
    if (link->at) {
        SNIC_STEP("end.before");
        set_done(&link->at->connections[link->peer_record], link->peer_generation, SHM_REMOTE_DONE);
        SNIC_STEP("end.remote");
        ring_control(link->at);
        shm_attachment_put(link->at);
        link->at = NULL;
    }
    if (link->out != 0) {
        /* Messages are still out: the ring must not be given to another connection yet. */
        uint32_t out = link->out;
        shm_drop_link(s, link);
        link->out = out;
        link->state = LINK_ENDED;
        return;
    }
    set_done(own, link->generation, SHM_LOCAL_DONE);
    SNIC_STEP("end.local");
    shm_drop_link(s, link);
}

/* Takes a free record; *control is the word it has then. `links` are those of our own records (NULL
 * for a peer's): a damaged word may call a record free that a link still uses. */
static int claim(struct shm_connection *records, uint32_t count, const struct shm_link *links,
                 uint32_t token, uint32_t *index, uint64_t *control)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = shm_look(&records[i]);
        if (SHM_PHASE(word) != SHM_FREE || (links && links[i].state != LINK_NONE))
            continue;
        *control = SHM_CONTROL(SHM_GENERATION(word), token, SHM_CLAIMED);
        if (shm_change(&records[i], word, *control)) {
            *index = i;
            return 0;
        }
    }
    return -EAGAIN;
}

/* ---- connect ---- */

int shm_listen(shm_t *s)
{
    if (snic_is_forked(s->nic))
        return -ECHILD;
    atomic_store_explicit(&s->area->listening, 1, memory_order_release);
    return 0;
}

/* Writes the request into the peer's table. */
static int request(shm_t *s, struct shm_link *link, const void *data, uint32_t length, char *why,
                   size_t why_size)
{
    struct shm_attachment *at = link->at;
    uint64_t control;
    int rc = claim(at->connections, at->connections_max, NULL, at->peer->token, &link->peer_record,
                   &control);
    if (rc != 0) {
        SNIC_WHY("%s: all %u connections are taken", at->name, at->connections_max);
        return rc;
    }
    SNIC_STEP("connect.claimed_peer");
    struct shm_connection *record = &at->connections[link->peer_record];
    shm_ring_reset(at->rings + (uint64_t)link->peer_record * at->ring_bytes, at->credits,
                   at->credit_bytes, at->slot_bytes);
    link->peer_generation = SHM_GENERATION(control);
    record->peer_record = shm_index(s, link);
    record->peer_generation = link->generation;
    record->peer_incarnation = snic_incarnation(s->nic);
    record->private_length = length;
    memcpy(record->peer_name, s->nic->name, sizeof record->peer_name);
    if (length)
        memcpy(record->private_data, data, length);
    SNIC_STEP("connect.filled");
    shm_change(record, control, SHM_CONTROL(link->peer_generation, at->peer->token, SHM_REQUESTED));
    SNIC_STEP("connect.requested");
    ring_control(at);
    return 0;
}

int64_t shm_connect(shm_t *s, const char *name, uint64_t incarnation, const void *private_data,
                    uint32_t private_length, uint64_t context, int64_t timeout_ns, char *why,
                    size_t why_size)
{
    uint32_t index;
    uint64_t control;
    struct shm_attachment *at;
    if (snic_is_forked(s->nic))
        return -ECHILD;
    if (private_length > SHM_PRIVATE_MAX) {
        SNIC_WHY("%u bytes of private data, at most %u", private_length, SHM_PRIVATE_MAX);
        return -EMSGSIZE;
    }
    int rc = shm_attachment_get(s, name, incarnation, &at, why, why_size);
    if (rc != 0)
        return rc;
    if (!atomic_load_explicit(&at->area->listening, memory_order_acquire)) {
        SNIC_WHY("%s does not listen", name);
        shm_attachment_put(at);
        return -ECONNREFUSED;
    }
    rc = claim(s->connections, s->connections_max, s->links, SNIC_LOCK_SELF, &index, &control);
    if (rc != 0) {
        SNIC_WHY("all %u connections are taken", s->connections_max);
        shm_attachment_put(at);
        return rc;
    }
    SNIC_STEP("connect.claimed_own");
    struct shm_link *link = &s->links[index];
    shm_link_init(s, link, LINK_CONNECTING, SHM_GENERATION(control), context);
    link->at = at;
    link->deadline_ns = timeout_ns < 0 ? 0 : snic_now_ns() + (uint64_t)timeout_ns;
    shm_ring_reset(link->own_ring, s->credits, s->credit_bytes, s->slot_bytes);
    uint64_t connecting = SHM_CONTROL(link->generation, SNIC_LOCK_SELF, SHM_CONNECTING);
    shm_change(&s->connections[index], control, connecting);
    SNIC_STEP("connect.waiting");
    rc = request(s, link, private_data, private_length, why, why_size);
    if (rc != 0) {
        shm_change(&s->connections[index], connecting, shm_freed(connecting));
        shm_drop_link(s, link);
        return rc;
    }
    return shm_handle(s, link);
}

int shm_withdraw(shm_t *s, struct shm_link *link)
{
    struct shm_connection *own = &s->connections[shm_index(s, link)];
    uint64_t connecting = SHM_CONTROL(link->generation, SNIC_LOCK_SELF, SHM_CONNECTING);
    if (!shm_change(own, connecting, shm_freed(connecting)))
        return 1;
    SNIC_STEP("withdraw.own");
    struct shm_attachment *at = link->at;
    uint64_t asked = SHM_CONTROL(link->peer_generation, at->peer->token, SHM_REQUESTED);
    shm_change(&at->connections[link->peer_record], asked, (asked & ~0x3full) | SHM_WITHDRAWN);
    SNIC_STEP("withdraw.peer");
    ring_control(at);
    return 0;
}

/* ---- accept, reject, disconnect ---- */

void shm_free_request(shm_t *s, struct shm_link *link)
{
    struct shm_connection *own = &s->connections[shm_index(s, link)];
    uint64_t control = shm_look(own);
    while (SHM_GENERATION(control) == link->generation && SHM_PHASE(control) != SHM_FREE &&
           !shm_change(own, control, shm_freed(control)))
        control = shm_look(own);
    shm_drop_link(s, link);
}

/* Changes the requester's record from CONNECTING; 0 if it no longer waits. */
static int answer(struct shm_link *link, uint32_t phase)
{
    struct shm_connection *record = &link->at->connections[link->peer_record];
    uint64_t waiting = SHM_CONTROL(link->peer_generation, SNIC_LOCK_SELF, SHM_CONNECTING);
    return shm_change(record, waiting,
                      SHM_CONTROL(link->peer_generation, link->at->peer->token, phase));
}

int shm_accept(shm_t *s, int64_t connection, uint64_t context)
{
    struct shm_link *link = shm_find(s, connection);
    if (snic_is_forked(s->nic))
        return -ECHILD;
    if (!link || link->state != LINK_REQUESTED)
        return -ENOTCONN;
    struct shm_connection *own = &s->connections[shm_index(s, link)];
    if (snic_peer_liveness(link->at->peer) == SNIC_DEAD || !answer(link, SHM_OPEN)) {
        shm_free_request(s, link);
        return -ENOTCONN;
    }
    SNIC_STEP("accept.peer");
    for (;;) {
        uint64_t control = shm_look(own);
        if (SHM_PHASE(control) != SHM_REQUESTED || SHM_GENERATION(control) != link->generation) {
            /* Only a damaged segment gets here: once the peer is OPEN it no longer withdraws. */
            shm_free_request(s, link);
            return -ENOTCONN;
        }
        /* Keeps a done bit that the peer may have set already. */
        if (shm_change(own, control, (control & ~0x3full) | SHM_OPEN))
            break;
    }
    SNIC_STEP("accept.own");
    link->context = context;
    shm_link_open(s, link);
    s->scan = 1; /* that done bit */
    ring_control(link->at);
    return 0;
}

int shm_reject(shm_t *s, int64_t connection)
{
    struct shm_link *link = shm_find(s, connection);
    if (snic_is_forked(s->nic))
        return -ECHILD;
    if (!link || link->state != LINK_REQUESTED)
        return -ENOTCONN;
    if (answer(link, SHM_REJECTED)) {
        SNIC_STEP("reject.peer");
        ring_control(link->at);
    }
    shm_free_request(s, link);
    return 0;
}

int shm_disconnect(shm_t *s, int64_t connection)
{
    struct shm_link *link = shm_find(s, connection);
    if (snic_is_forked(s->nic))
        return -ECHILD;
    if (!link)
        return -ENOTCONN;
    switch (link->state) {
    case LINK_REQUESTED:
        return shm_reject(s, connection);
    case LINK_CONNECTING:
        if (shm_withdraw(s, link) == 0) {
            shm_drop_link(s, link);
            return 0;
        }
        if (SHM_PHASE(shm_look(&s->connections[shm_index(s, link)])) == SHM_REJECTED) {
            shm_free_request(s, link);
            return 0;
        }
        shm_link_open(s, link); /* accepted meanwhile: end it in order */
        break;
    default:
        break;
    }
    shm_end_link(s, link);
    return 0;
}

int shm_finish(shm_t *s, int64_t connection)
{
    struct shm_link *link = shm_find(s, connection);
    if (!link || (link->state != LINK_PEER_DONE && link->state != LINK_PEER_LOST))
        return -ENOTCONN;
    link->out = 0;
    shm_end_link(s, link);
    return 0;
}
