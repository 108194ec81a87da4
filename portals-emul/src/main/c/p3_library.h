/*
 * The process's side of Portals: the table of open interfaces, what the owner keeps for himself
 * about his objects, and the peers he knows.
 *
 * Threads: any. An interface is kept alive by p3_ni_enter/p3_ni_leave around each call; PtlNIFini
 * waits until all have left. Order of locks: peer mutex, ni->objects, ni->growth, the target's
 * exchange lock, then either the target's interface lock or ni->initiator and the own lock; never
 * two interface locks. Under the wire's mutex no other is taken.
 */
#ifndef P3_LIBRARY_H
#define P3_LIBRARY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <stdatomic.h>

#include "include/portals3.h"
#include "include/portals3_ext.h"
#include "p3_area.h"
#include "p3_target.h"
#include "softnic_host.h"

#define P3_PEER_BUCKETS 1024u
#define P3_LIVENESS_PERIOD_NS 50000000ull

/* The segments of a PTL_MD_IOVEC descriptor. */
struct p3_segments {
    ptl_md_iovec_t *iovs; /* copy of the caller's array */
    uint32_t first;       /* extent in the shared iov table, given back lazily */
    uint32_t taken;
};

/* What only the owner needs of a descriptor. The shared record is not trusted for addresses. */
struct p3_local_md {
    uint32_t generation; /* of the shared record; valid while `live` */
    uint32_t live;
    uint8_t *start;
    uint64_t length; /* bytes */
    struct p3_segments segments;
    uint32_t iov_count;
    void *user_start;
    uint32_t floating; /* bound, not attached */
};

/* Free extents of a shared array; only the owner allocates, so this is private. */
struct p3_extent {
    uint32_t first;
    uint32_t count;
};
struct p3_extents {
    struct p3_extent *free; /* sorted, never adjacent */
    uint32_t used;
    uint32_t room;
};

struct p3_peer {
    struct p3_peer *next; /* bucket chain; entries live until the interface is closed */
    uint32_t nid;
    uint32_t pid;
    pthread_mutex_t mutex; /* one operation at a time: FIFO per pair, one intent record */
    snic_peer_t *snic;     /* NULL: not attached */
    struct p3_view view;
    struct p3_intent *intent;
    uint64_t pinned; /* incarnation asked for, 0: any */
    uint64_t checked_ns;
    int unfinished; /* a completion could not get the target's lock */
    uint32_t unfinished_fail;
    /* Operations that do not arrive within their call (p3_wire.h). `flights` and what belongs to it
     * is changed under the wire's mutex, by holders of `mutex`. */
    int waits;      /* 1: the next operation has to go by the wire */
    int is_rank;    /* of the maps; stays */
    int is_awaited; /* a rank that nothing has arrived at yet */
    int is_on_wire;
    struct p3_flight *flights, *last_flight;
    struct p3_peer *next_on_wire;
};

/* An initiator-side completion that could not get the own lock (a stopped peer sits on it). */
struct p3_deferred;

struct p3_flight;
struct p3_wire {
    uint64_t latency_ns;
    uint64_t retry_ns;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread; /* started by the first operation that waits */
    int is_running;
    int is_closing;
    uint32_t count; /* operations on their way */
    uint64_t departures;
    struct p3_peer *peers;
};

struct p3_ni {
    snic_t *nic;
    struct p3_view view;
    struct p3_who self;
    uint32_t flavor;
    int64_t lock_timeout_ns;
    ptl_ni_limits_t limits;
    pthread_mutex_t objects;    /* allocation of objects and of the private tables */
    struct p3_local_md *mds;    /* view.mds entries */
    ptl_eq_handler_t *handlers; /* view.eqs entries */
    struct p3_extents slots;
    struct p3_extents iovs;
    /* Entries of these whose space is reserved; under `objects`. */
    uint32_t slots_ready;
    uint32_t iovs_ready;
    struct p3_geometry geometry;
    pthread_mutex_t growth;  /* one grows tables at a time; taken after `objects` */
    uint32_t mds_high;       /* indices at or above were never used */
    _Atomic uint32_t moving; /* own operations under way; written under `initiator` */
    /* Held whenever the own lock is held, and alone for operations on free-floating descriptors,
     * which no peer ever touches: a put from one needs no line that peers write. */
    pthread_mutex_t initiator;
    /* What this process counted itself; PtlNIStatus adds the shared registers. Under `initiator`.
     */
    _Atomic uint64_t own_sr[PTL_SR_SEND_LENGTH + 1];
    pthread_mutex_t peers_mutex; /* insertion only */
    struct p3_peer *_Atomic peers[P3_PEER_BUCKETS];
    pthread_mutex_t deferred_mutex;
    struct p3_deferred *_Atomic deferred;
    _Atomic uint32_t debug;
    int is_program; /* opened by PtlNIInit */
    struct p3_wire wire;
    void **retired; /* under `objects` */
    uint32_t retired_count;
};

enum p3_slot_state { P3_CLOSED = 0, P3_OPENING = 1, P3_OPEN = 2, P3_CLOSING = 3 };

/* One entry of the process's table; never freed, so that a stale handle is always safe to look up.
 */
struct p3_ni_slot {
    _Atomic uint32_t state; /* enum p3_slot_state */
    _Atomic uint32_t users;
    _Atomic uint32_t generation;
    struct p3_ni *ni;
};

/* ---- the table (p3_library.c) ---- */

/* PTL_OK and *ni, or PTL_NO_INIT or `invalid`. Every success is followed by p3_ni_leave. kind: what
 * the handle must name. */
int p3_ni_enter(ptl_handle_any_t handle, enum p3_kind kind, int invalid, struct p3_ni **ni);
/* The same by the interface's handle, where the call answers by `to`; what: its name, for the text
 * where it is NULL. */
int p3_ni_enter_to(ptl_handle_ni_t handle, const void *to, const char *what, struct p3_ni **ni);
void p3_ni_leave(struct p3_ni *ni);
int p3_ni_is_open(const struct p3_ni *ni);
/* PTL_OK, or PTL_FAIL: a file of the interface's memory was cut. Asked where nothing else is to do.
 */
int p3_ni_whole(const struct p3_ni *ni);
int p3_iface_is_open(uint32_t iface);
ptl_handle_ni_t p3_ni_handle(const struct p3_ni *ni);
int p3_initialised(void);
/* Records the text for PtlExtError and returns code. */
int p3_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
void p3_outcome(int outcome);

/* ---- one interface (p3_ni.c) ---- */

struct p3_ni_place {
    uint32_t iface;
    uint32_t generation;
    uint32_t first_pid; /* of the process's first interface, 0: this is it */
    int is_program;     /* opened by PtlNIInit */
};
/* Opens and publishes an interface for this place of the table. A Portals code. */
int p3_ni_open(const struct p3_ni_place *place, const ptl_ext_options_t *options,
               const ptl_ni_limits_t *desired, struct p3_ni **opened, char *why, size_t why_size);
/* When no thread of this process is inside any more: waits (bounded) for peers that move bytes, and
 * frees everything. */
void p3_ni_close(struct p3_ni *ni);

/* After a call answered PTL_NO_SPACE, without the own lock: makes the table longer. 1: there are
 * entries to take now. */
int p3_grow(struct p3_ni *ni, enum p3_table table);
/* At most this often: a damaged free list may hold entries without end. */
#define P3_GROW_TRIES 3
/* Reserves the space of entries up to `to`. Under ni->objects, without the own lock. A Portals
 * code. */
int p3_reserve(struct p3_ni *ni, enum p3_table table, uint32_t *ready, uint32_t to);

/* ---- ranks (p3_rank.c) ---- */

/* 1: the maps have a place for the rank that this process is. */
int p3_rank_own(uint32_t *nid, uint32_t *pid);
/* 1: the maps have a rank there. */
int p3_rank_is(uint32_t nid, uint32_t pid);

/* ---- locks and recovery (p3_peer.c) ---- */

int p3_lock_own(
    struct p3_ni *ni); /* PTL_OK, PTL_NO_SPACE (held by a stopped process), PTL_NI_INVALID */
void p3_unlock_own(struct p3_ni *ni);
/* The same with ni->initiator held already; on failure it is released. */
int p3_lock_own_rest(struct p3_ni *ni);
/* Finishes operations of dead initiators. Returns how many. */
int p3_reap(struct p3_ni *ni);

/* The peer's entry, made if necessary; NULL without memory. */
struct p3_peer *p3_peer_find(struct p3_ni *ni, uint32_t nid, uint32_t pid, int create);
/* With the peer's mutex held: attached, alive and without leftovers. PTL_NI_OK or a fail type. */
uint32_t p3_peer_ready(struct p3_ni *ni, struct p3_peer *peer);
void p3_peer_drop(struct p3_peer *peer);
/* Locks the target's interface: 0, -EBUSY, -ESRCH. */
int p3_lock_target(struct p3_ni *ni, struct p3_peer *peer);
void p3_unlock_target(struct p3_peer *peer);
/* Completes the intent of this peer: waits longer for the lock, else leaves it to the next
 * operation. */
void p3_peer_complete(struct p3_ni *ni, struct p3_peer *peer, uint32_t fail);

/* ---- extents (p3_extents.c) ---- */

int p3_extents_init(struct p3_extents *extents, uint32_t count);
uint32_t p3_extents_take(struct p3_extents *extents, uint32_t count); /* P3_NONE: no room */
void p3_extents_give(struct p3_extents *extents, uint32_t first, uint32_t count);
void p3_extents_free(struct p3_extents *extents);

/* ---- objects of the owner ---- */

/* Index of the live object that the handle names, or P3_NONE. Under the own lock. */
uint32_t p3_md_find(const struct p3_ni *ni, ptl_handle_md_t handle);
uint32_t p3_me_find(const struct p3_ni *ni, ptl_handle_me_t handle);
/* Under objects and the own lock: after a descriptor went, or before its slot is used again. */
void p3_md_release_private(struct p3_ni *ni, uint32_t index);
/* Explicit unlink of a descriptor and/or entry, under the own lock: logs (CRAY) and unlinks. */
void p3_own_unlink(struct p3_ni *ni, uint32_t md, uint32_t me);

/* Runs operations whose completion was deferred. Under the own lock. */
void p3_deferred_run(struct p3_ni *ni);
void p3_deferred_free(struct p3_ni *ni);

/* Keeps memory that running operations may still read until the interface is closed. */
void p3_retire(struct p3_ni *ni, void *memory);

#endif
