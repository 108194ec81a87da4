/*
 * Calls that Portals 3.3 lacks and an embedding runtime needs: several interfaces per process, an
 * explicit job, memory that peers map, the doorbell, the liveness of a peer, error texts.
 * Not part of Portals; a portable program does not need them. Include portals3.h first.
 *
 * Functions return a Portals code unless stated otherwise. They never block unless stated.
 */
#ifndef PORTALS3_EXT_H
#define PORTALS3_EXT_H

#include <stddef.h>
#include <stdint.h>

#include "portals3.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PTL_EXT_REF 0
#define PTL_EXT_CRAY 1

/* ni_fail_type beyond PTL_NI_FAIL. */
#define PTL_EXT_FAIL_UNREACHABLE 2 /* no such process, or it closed its interface */
#define PTL_EXT_FAIL_PEER_DIED 3   /* at the initiator: the target died meanwhile */
#define PTL_EXT_FAIL_FAULT 4       /* memory of either side could not be reached */
#define PTL_EXT_FAIL_INITIATOR_DIED                                                                \
    5                          /* at the target: the initiator died; the bytes are undefined */
#define PTL_EXT_FAIL_STALLED 6 /* a stopped process sits on the target's lock */
#define PTL_EXT_FAIL_CORRUPT 7 /* the target's segment holds nonsense */

/* What became of the calling thread's last PtlPut, PtlGet or PtlGetPut (also the region forms). */
#define PTL_EXT_DELIVERED 0 /* accepted by the target; a get has its data */
#define PTL_EXT_DROPPED 1   /* nothing at the target accepts it: it was dropped and counted there */
#define PTL_EXT_REPLY_DROPPED                                                                      \
    2 /* the target served it, the initiator's descriptor was gone or inactive */
#define PTL_EXT_UNDER_WAY 3 /* PtlNIInit's interface only: it will arrive after the call */
/* PTL_EXT_FAILED + one of the ni_fail_type values: it failed. */
#define PTL_EXT_FAILED 16

/* State of another process. */
#define PTL_EXT_ALIVE 0
#define PTL_EXT_STOPPED 1
#define PTL_EXT_DEAD 2 /* or never there */

typedef struct {
    const char *directory;   /* NULL: softnic's default ($VERBENA_SHM_DIR, else /dev/shm) */
    const char *job;         /* NULL: $PTL_JOB, else "default"; only interfaces of one job meet */
    uint32_t flavor;         /* PTL_EXT_REF, PTL_EXT_CRAY */
    uint32_t nid;            /* 0: $PTL_NID, else 1 */
    uint32_t pid;            /* 1..0xFFFE; 0 or 0xFFFF: assigned by the library */
    uint32_t jid;            /* 0: $PTL_JID, else the pid of this interface */
    uint32_t event_slots;    /* slots of all event queues together, 128 bytes each; 0:
                                $PTL_EVENT_SLOTS, else 2097152 */
    uint32_t initiators_max; /* interfaces that may send to this one; 0: 1024 */
    uint32_t foreign_bounce; /* 1: ask softnic for bounce copies where cross-memory attach is
                                forbidden */
    uint32_t
        lock_timeout_ms; /* how long a call waits for a lock held by a stopped process; 0: 200 */
} ptl_ext_options_t;

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Opens one more interface of this process (PtlNIInit always names the same one); PtlNIFini closes
 * it. desired NULL: maximum; actual and why may be NULL. why gets a text for people when the code
 * is not PTL_OK. */
int PtlExtNIOpen(const ptl_ext_options_t *options, const ptl_ni_limits_t *desired,
                 ptl_ni_limits_t *actual, ptl_handle_ni_t *ni_handle, char *why, size_t why_size);

/* Text of the calling thread's last failed call; never NULL. Valid until the thread's next failure.
 */
const char *PtlExtError(void);
/* PTL_EXT_DELIVERED, ...: outcome of the calling thread's last data movement. */
int PtlExtLastOutcome(void);

/* Memory that peers map, so that puts and gets are plain copies. Zeroed, page aligned. flags 1: try
 * huge pages. */
int PtlExtMemoryAlloc(ptl_handle_ni_t ni_handle, uint64_t length, uint32_t flags, void **address);
/* PTL_MD_IN_USE while a descriptor covers any of it. */
int PtlExtMemoryFree(ptl_handle_ni_t ni_handle, void *address);

/* The doorbell rings when an event is logged for this interface. Read it, look into the queues,
 * wait with what was read. */
int PtlExtDoorbell(ptl_handle_ni_t ni_handle, uint32_t *seen);
/* Blocks until the doorbell differs from `seen` or timeout_ns (negative: no limit) have passed;
 * finishes operations of dead initiators while it waits, and rings for events that they logged.
 * PTL_OK: rung; PTL_EQ_EMPTY: timed out; PTL_NI_INVALID: closed meanwhile. */
int PtlExtWait(ptl_handle_ni_t ni_handle, uint32_t seen, int64_t timeout_ns);
/* Wakes waiters of this interface, from any thread. */
int PtlExtRing(ptl_handle_ni_t ni_handle);
/* Finishes operations that dead initiators left. Callers that poll without waiting call it now and
 * then. Returns how many were finished, or the negated Portals code. */
int PtlExtReap(ptl_handle_ni_t ni_handle);

/* Incarnation of the interface: another one for each opening. */
int PtlExtIncarnation(ptl_handle_ni_t ni_handle, uint64_t *incarnation);
/* State and incarnation (0 when unknown) of the interface (nid, pid). A closed interface is DEAD.
 */
int PtlExtPeerState(ptl_handle_ni_t ni_handle, ptl_process_id_t id, int *state,
                    uint64_t *incarnation);
/* From now on operations towards `id` go to this incarnation only and fail as unreachable when it
 * is gone; 0 undoes it. */
int PtlExtPeerPin(ptl_handle_ni_t ni_handle, ptl_process_id_t id, uint64_t incarnation);
/* Forgets what is held of the interface (nid, pid): its mapping and the slot taken in it. */
int PtlExtPeerForget(ptl_handle_ni_t ni_handle, ptl_process_id_t id);

/* Where an event queue is in this process (portals3_layout.h). Valid until PtlEQFree or PtlNIFini.
 */
typedef struct {
    void *header; /* PTL_QUEUE_BYTES */
    void *slots;  /* capacity * PTL_SLOT_BYTES */
    uint64_t capacity;
} ptl_ext_eq_view_t;
int PtlExtEQView(ptl_handle_eq_t eq_handle, ptl_ext_eq_view_t *view);

/* Entries (name, value) of every size and offset in portals3_layout.h and of the public structures,
 * as this library was compiled. NULL and -1 past the end. */
const char *PtlExtLayoutName(int index);
int64_t PtlExtLayoutValue(int index);

/* Walks the whole segment of an interface under its lock and checks every list, count and link.
 * Returns the number of faults found; the first is described in why. A negated code if it could not
 * check, as a stopped process holds the lock. For tests and for `status` tools; not a fast call. */
int PtlExtCheck(ptl_handle_ni_t ni_handle, char *why, size_t why_size);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
