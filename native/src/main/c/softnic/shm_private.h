/* What the files of the shm personality share. */
#ifndef SOFTNIC_SHM_PRIVATE_H
#define SOFTNIC_SHM_PRIVATE_H

#include "shm.h"
#include "shm_layout.h"
#include "softnic_private.h"

/* A peer's area with the geometry that was checked at attach. */
struct shm_attachment {
    snic_peer_t *peer; /* NULL: the entry is free */
    uint64_t incarnation;
    uint64_t stopped_since_ns; /* 0: it runs */
    uint64_t next_look_ns;     /* when to ask again whether it is stopped */
    uint32_t users;            /* links */
    struct shm_area *area;
    struct shm_connection *connections;
    uint8_t *rings;
    uint32_t connections_max;
    uint32_t credits;
    uint32_t message_max;
    uint32_t slot_bytes;
    uint32_t credit_bytes;
    uint64_t ring_bytes;
    char name[SNIC_NAME_BYTES];
};

enum shm_link_state {
    LINK_NONE = 0,
    LINK_CONNECTING = 1,
    LINK_REQUESTED = 2, /* offered to the program, which has not answered yet */
    LINK_OPEN = 3,
    LINK_PEER_DONE = 4, /* the peer ended it; what it sent is still being delivered */
    LINK_PEER_LOST = 5, /* likewise, and then PEER_LOST is reported */
    LINK_ENDED = 6      /* the end was reported; messages are still out */
};

/* Our end of the connection in record i of our table: links[i]. */
struct shm_link {
    uint32_t state;
    uint32_t generation; /* of our record */
    uint32_t serial;     /* upper part of the handle: distinguishes former links in this place */
    int32_t lost;        /* LINK_PEER_LOST: status to report */
    uint32_t peer_record;
    uint32_t peer_generation;
    uint64_t context;
    uint64_t deadline_ns; /* LINK_CONNECTING; 0: none */
    struct shm_attachment *at;
    /* as writer of the peer's ring */
    uint64_t sent;
    uint64_t consumed_seen;
    uint8_t *peer_ring;
    /* as reader of ours */
    uint64_t position; /* next to be delivered */
    uint64_t released;
    uint32_t out;    /* delivered and not yet released */
    uint16_t *slots; /* [credits] slot of a position, at position % credits */
    uint8_t *is_out; /* [credits] */
    uint8_t *own_ring;
};

struct shm {
    snic_t *nic;
    struct shm_area *area;
    struct shm_connection *connections;
    uint8_t *rings;
    uint32_t connections_max;
    uint32_t credits;
    uint32_t message_max;
    uint32_t slot_bytes;
    uint32_t credit_bytes;
    uint64_t ring_bytes;
    uint64_t peer_timeout_ns;
    uint64_t look_period_ns;
    uint64_t next_look_ns;
    uint32_t bell_seen;
    uint32_t polls; /* since the clock was read */
    uint32_t serials;
    int scan;           /* control words are to be looked at */
    uint32_t next_open; /* where the next poll begins */
    uint32_t open_count;
    uint32_t *open; /* [connections_max] numbers of links that are OPEN, PEER_DONE or PEER_LOST */
    struct shm_link *links;
    struct shm_attachment *attachments; /* [connections_max] */
    uint8_t *request_data;              /* [connections_max][SHM_PRIVATE_MAX] */
};

struct shm_link *shm_find(shm_t *shm, int64_t handle);
static inline uint32_t shm_index(const shm_t *shm, const struct shm_link *link)
{
    return (uint32_t)(link - shm->links);
}
static inline int64_t shm_handle(const shm_t *shm, const struct shm_link *link)
{
    return (int64_t)((uint64_t)link->serial << 16 | (shm_index(shm, link) + 1u));
}

/* shm_attach.c */
int shm_attachment_get(shm_t *shm, const char *name, uint64_t incarnation,
                       struct shm_attachment **attachment, char *why, size_t why_size);
void shm_attachment_put(struct shm_attachment *attachment);

/* control words: shm_connect.c, shm_control.c */
static inline int shm_change(struct shm_connection *record, uint64_t from, uint64_t to)
{
    /* Acq_rel; partner: the acquire loads of control words. */
    return atomic_compare_exchange_strong_explicit(&record->control, &from, to,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

static inline uint64_t shm_look(struct shm_connection *record)
{
    return atomic_load_explicit(&record->control, memory_order_acquire);
}

static inline uint64_t shm_freed(uint64_t control)
{
    return SHM_CONTROL(SHM_GENERATION(control) + 1, 0, SHM_FREE);
}

/* shm_connect.c */
void shm_link_init(shm_t *shm, struct shm_link *link, uint32_t state, uint32_t generation,
                   uint64_t context);
void shm_link_open(shm_t *shm, struct shm_link *link); /* from now on messages flow */
void shm_drop_link(shm_t *shm, struct shm_link *link);
void shm_end_link(shm_t *shm, struct shm_link *link); /* sets both done bits, drops the link */
/* Frees our record of a request that will not become a connection. */
void shm_free_request(shm_t *shm, struct shm_link *link);
/* Gives up a connect. 0: done, 1: too late, the peer has answered. */
int shm_withdraw(shm_t *shm, struct shm_link *link);

/* shm_control.c */
/* As shm_control, without events for ends: shm_poll reports those after draining. */
int shm_control_for_poll(shm_t *shm, shm_event_t *events, int limit);

/* shm_ring.c */
static inline struct shm_slot *shm_next_slot(const shm_t *shm, const struct shm_link *link)
{
    uint32_t slot = link->slots[link->position & (shm->credits - 1)];
    return (struct shm_slot *)(link->own_ring + shm->credit_bytes +
                               (uint64_t)slot * shm->slot_bytes);
}
static inline int shm_has_message(const shm_t *shm, const struct shm_link *link)
{
    /* All slots are out: there is no next one. */
    if (link->position - link->released >= shm->credits)
        return 0;
    /* Acquire; partner: the release store of flag in publish(). */
    return atomic_load_explicit(&shm_next_slot(shm, link)->flag, memory_order_acquire) ==
           (uint32_t)(link->position + 1);
}
void shm_ring_reset(uint8_t *ring, uint32_t credits, uint32_t credit_bytes, uint32_t slot_bytes);

#endif
