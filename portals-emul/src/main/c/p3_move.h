/* What the parts of data movement share: the initiator's descriptor, the last step, the copy. */
#ifndef P3_MOVE_H
#define P3_MOVE_H

#include "p3_library.h"

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
    struct p3_who ack_from;
};

/* An operation between its first step and its last. */
struct p3_under_way {
    struct p3_source source;
    struct p3_source get; /* getput: destination of the reply */
    struct p3_finish finish;
};

/* ---- own descriptors and events (p3_finish.c) ---- */

/* Locks what is needed to use this descriptor: the whole own lock, or (*light) only ni->initiator
 * when it is free floating and, if the step logs, has no event queue. A Portals code. */
int p3_lock_source(struct p3_ni *ni, ptl_handle_md_t handle, int logs, int *light);
void p3_unlock_source(struct p3_ni *ni, int light);

void p3_sr_add(struct p3_ni *ni, int index, uint64_t amount);
/* No read-modify-write instruction: the own lock serialises the writers. */
void p3_moving_add(struct p3_ni *ni, uint32_t amount);
/* Finds an active descriptor and checks the region. Changes nothing. */
int p3_source_find(struct p3_ni *ni, ptl_handle_md_t handle, int whole, uint64_t offset,
                   uint64_t *length, struct p3_source *source);
/* Counts an operation on it, takes the event's copy of it and prepares the last step, a send's
 * until another call changes that. Everything is written where it stays: copies of these structures
 * cost a fifth of a put. */
void p3_source_count(struct p3_ni *ni, const struct p3_source *source, struct p3_finish *f);
/* Logs now; returns the event's sequence, *logged: whether there was a queue. */
uint32_t p3_log_now(struct p3_ni *ni, const struct p3_event *event, uint32_t kind, uint32_t fail,
                    const uint32_t *link, uint32_t *logged);
void p3_finish_apply(struct p3_ni *ni, const struct p3_finish *f);
/* 1: the last step logs events of the operation. */
static inline int p3_finish_logs(const struct p3_finish *f)
{
    return f->event.eq != PTL_EQ_NONE && (f->event.options & P3_MD_EVENTS_OFF) != P3_MD_EVENTS_OFF;
}
/* The last step: takes the own lock, or leaves it to the next owner of that lock. */
void p3_finish_do(struct p3_ni *ni, const struct p3_finish *f);

/* ---- bytes, without a lock (p3_copy.c) ---- */

/* Moves bytes of our descriptor to or from the target's place. PTL_NI_OK or a fail type. */
uint32_t p3_move_bytes(struct p3_peer *peer, const struct p3_place *place,
                       const struct p3_source *source, uint64_t offset, uint64_t length, int write);
/* Copies between a private buffer and our own descriptor. */
void p3_scatter(const struct p3_source *source, uint64_t offset, uint8_t *buffer, uint64_t length,
                int into_buffer);

#endif
