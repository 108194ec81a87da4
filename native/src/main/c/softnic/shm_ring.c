/* Receive rings: sending, polling, releasing. The protocol is in shm_layout.h. */
#define _GNU_SOURCE
#include "shm_private.h"
#include <errno.h>
#include <string.h>

#define POLLS_PER_LOOK 4096

void shm_ring_reset(uint8_t *ring, uint32_t credits, uint32_t credit_bytes, uint32_t slot_bytes)
{
    struct shm_credit *credit = (struct shm_credit *)ring;
    atomic_store_explicit(&credit->consumed, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < credits; i++) {
        struct shm_slot *slot = (struct shm_slot *)(ring + credit_bytes + (uint64_t)i * slot_bytes);
        atomic_store_explicit(&slot->flag, 0, memory_order_relaxed);
    }
}

/* ---- writer ---- */

/* The slot for the next message, or NULL if there is no credit. */
static inline struct shm_slot *next_free(struct shm_link *link)
{
    const struct shm_attachment *at = link->at;
    struct shm_credit *credit = (struct shm_credit *)link->peer_ring;
    if (link->sent - link->consumed_seen >= at->credits) {
        /* Acquire; partner: the release store in give_back(). */
        uint64_t consumed = atomic_load_explicit(&credit->consumed, memory_order_acquire);
        if (consumed > link->sent || link->sent - consumed >= at->credits)
            return NULL; /* none, or nonsense in a damaged segment */
        link->consumed_seen = consumed;
    }
    uint32_t slot = (uint32_t)link->sent;
    if (link->sent >= at->credits)
        slot = credit->returned[link->sent & (at->credits - 1)];
    if (slot >= at->credits)
        return NULL;
    return (struct shm_slot *)(link->peer_ring + at->credit_bytes +
                               (uint64_t)slot * at->slot_bytes);
}

static inline void publish(struct shm_link *link, struct shm_slot *slot)
{
    SNIC_STEP("send.filled");
    /* Release; partner: the acquire load in shm_has_message. Everything before it is then visible.
     */
    atomic_store_explicit(&slot->flag, (uint32_t)(link->sent + 1), memory_order_release);
    link->sent++;
    SNIC_STEP("send.published");
    snic_ring(link->at->peer);
    SNIC_STEP("send.rung");
}

static struct shm_link *find_writable(shm_t *s, int64_t connection)
{
    struct shm_link *link = shm_find(s, connection);
    return link && link->state == LINK_OPEN && *link->at->peer->alive == 1 ? link : NULL;
}

int shm_send(shm_t *s, int64_t connection, const void *data, uint32_t length)
{
    struct shm_link *link = find_writable(s, connection);
    if (!link)
        return -ENOTCONN;
    if (length > link->at->message_max)
        return -EMSGSIZE;
    struct shm_slot *slot = next_free(link);
    if (!slot)
        return -EAGAIN;
    slot->kind = SHM_KIND_MESSAGE;
    slot->length = length;
    SNIC_STEP("send.header");
    memcpy(slot->payload, data, length);
    publish(link, slot);
    return 0;
}

int shm_put_notify(shm_t *s, int64_t connection, const snic_key_t *key, uint64_t offset,
                   const void *from, uint64_t length, uint32_t tag)
{
    struct shm_link *link = find_writable(s, connection);
    if (!link)
        return -ENOTCONN;
    struct shm_slot *slot = next_free(link);
    if (!slot)
        return -EAGAIN;
    int rc = snic_put(link->at->peer, key, offset, from, length);
    SNIC_STEP("notify.placed");
    if (rc != 0)
        return rc;
    struct shm_notify notify = {key->slot, key->generation, offset, length};
    slot->kind = SHM_KIND_NOTIFY;
    slot->length = SHM_NOTIFY_BYTES;
    slot->tag = tag;
    memcpy(slot->payload, &notify, sizeof notify);
    publish(link, slot);
    return 0;
}

/* ---- reader ---- */

static void give_back(shm_t *s, struct shm_link *link, uint32_t slot)
{
    struct shm_credit *credit = (struct shm_credit *)link->own_ring;
    uint32_t place = (uint32_t)link->released & (s->credits - 1);
    link->slots[place] = (uint16_t)slot;
    credit->returned[place] = (uint16_t)slot;
    link->released++;
    SNIC_STEP("release.returned");
    /* Release; partner: the acquire load in next_free. */
    atomic_store_explicit(&credit->consumed, link->released, memory_order_release);
    SNIC_STEP("release.consumed");
}

/* Delivers the message that is there. 1: an event was made, 0: the slot held nonsense and was given
 * back. */
static int deliver(shm_t *s, struct shm_link *link, shm_event_t *event)
{
    struct shm_slot *slot = shm_next_slot(s, link);
    uint32_t number = link->slots[link->position & (s->credits - 1)];
    uint32_t kind = slot->kind, length = slot->length;
    link->position++;
    SNIC_STEP("poll.taken");
    event->connection = shm_handle(s, link);
    event->context = link->context;
    event->status = 0;
    int fits = length <= s->message_max;
    if (kind == SHM_KIND_MESSAGE && fits) {
        event->type = SHM_EVENT_MESSAGE;
        event->data = slot->payload;
        event->length = length;
        event->token = (uint64_t)link->serial << 32 | (uint64_t)shm_index(s, link) << 16 | number;
        link->is_out[number] = 1;
        link->out++;
        return 1;
    }
    struct shm_notify notify;
    memcpy(&notify, slot->payload, sizeof notify);
    event->type = SHM_EVENT_NOTIFY;
    event->tag = slot->tag;
    event->key_slot = notify.slot;
    event->key_generation = notify.generation;
    event->offset = notify.offset;
    event->bytes = notify.length;
    give_back(s, link, number);
    if (kind == SHM_KIND_NOTIFY && length == SHM_NOTIFY_BYTES)
        return 1;
    atomic_fetch_add_explicit(&s->area->malformed, 1, memory_order_relaxed);
    return 0;
}

/* The ring is empty and its writer has finished. 1: the event was made. */
static int report_end(shm_t *s, struct shm_link *link, shm_event_t *event)
{
    event->type = link->state == LINK_PEER_DONE ? SHM_EVENT_DISCONNECTED : SHM_EVENT_PEER_LOST;
    event->status = link->state == LINK_PEER_DONE ? 0 : link->lost;
    event->connection = shm_handle(s, link);
    event->context = link->context;
    shm_end_link(s, link);
    return 1;
}

int shm_poll(shm_t *s, shm_event_t *events, int limit)
{
    int n = 0;
    if (snic_is_forked(s->nic))
        return -ECHILD;
    if (atomic_load_explicit(&s->area->control_bell, memory_order_acquire) != s->bell_seen ||
        s->scan || ++s->polls >= POLLS_PER_LOOK)
        n = shm_control_for_poll(s, events, limit);
    if (n < 0)
        return n;
    uint32_t count = s->open_count;
    for (uint32_t i = 0; i < count && n < limit; i++) {
        uint32_t at = s->next_open + i;
        at = at >= count ? at - count : at;
        struct shm_link *link = &s->links[s->open[at]];
        /* At most what one connection can have in flight, so that none starves the others. */
        for (uint32_t k = 0; k < s->credits && n < limit && shm_has_message(s, link); k++)
            n += deliver(s, link, &events[n]);
        if (link->state != LINK_OPEN && n < limit && !shm_has_message(s, link)) {
            n += report_end(s, link, &events[n]);
            break; /* the list of open links has changed */
        }
    }
    s->next_open = s->open_count ? (s->next_open + 1) % s->open_count : 0;
    return n;
}

int shm_release(shm_t *s, uint64_t token)
{
    uint32_t number = (uint32_t)token & 0xffffu, index = (uint32_t)(token >> 16) & 0xffffu;
    if (index >= s->connections_max || number >= s->credits)
        return -EINVAL;
    struct shm_link *link = &s->links[index];
    if (link->state == LINK_NONE || link->serial != (uint32_t)(token >> 32) ||
        !link->is_out[number])
        return -EINVAL;
    link->is_out[number] = 0;
    link->out--;
    give_back(s, link, number);
    if (link->state == LINK_ENDED && link->out == 0)
        shm_end_link(s, link);
    return 0;
}
