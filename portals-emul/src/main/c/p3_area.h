/*
 * The shared area of a Portals interface: tables, lists, event rings and intent records, and the
 * checked view through which every process looks at it. Nothing here knows softnic or threads, so
 * that it can be fuzzed on plain memory.
 *
 * All tables are changed under the interface's lock. Whoever is not the owner of the area plans
 * his changes in his intent record first, as absolute values, and applies them afterwards: a
 * successor can apply the same record again.
 */
#ifndef P3_AREA_H
#define P3_AREA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "include/portals3.h"
#include "include/portals3_layout.h"
#include "softnic.h"

#define P3_MAGIC 0x33736c6174726f50ull /* "Portals3" in little-endian memory order */
#define P3_VERSION 2u
#define P3_NONE 0xffffffffu
#define P3_PID_ANY 0xffffu

#define P3_FLAVOR_REF 0u
#define P3_FLAVOR_CRAY 1u
/* Cray's options as the library sees them; portals3.h shows them in the CRAY flavour only. */
#define P3_MD_AUTO_UNLINK_ENABLE 0x0200u
#define P3_MD_MANUAL_UNLINK_ENABLE 0x0400u
#define P3_MD_OPTIONS_REF 0x01ffu
#define P3_MD_OPTIONS_CRAY 0x0fffu
#define P3_MD_EVENTS_OFF (PTL_MD_EVENT_START_DISABLE | PTL_MD_EVENT_END_DISABLE)

/* Limits of the emulation (specification, section 10). */
#define P3_MES_MAX 65536u
#define P3_MDS_MAX 65536u
#define P3_EQS_MAX 65536u
#define P3_AC_INDEX_MAX 63u
#define P3_PT_INDEX_MAX 63u
#define P3_IOVECS_MAX 1024u
#define P3_ME_LIST_MAX 65536u
#define P3_GETPUT_MAX 64u
#define P3_SLOTS_DEFAULT (1u << 21)
#define P3_SLOTS_MAX (1u << 26)
#define P3_EQ_COUNT_MAX (1u << 20)
#define P3_INITIATORS_DEFAULT 1024u
#define P3_IOVS 16384u
#define P3_SR_COUNT 32
/* The START of a shorter put is logged together with its END, after the initiator's events. */
#define P3_SHORT_BYTES 4096u

/* First-in first-out, so that an index rests as long as possible before it is used again. */
struct p3_free_list {
    uint32_t head;
    uint32_t tail;
    uint32_t count;
    uint32_t pad;
};

struct p3_area {
    uint64_t magic;
    uint32_t version;
    uint32_t flavor;
    uint32_t nid;
    uint32_t pid;
    uint32_t uid;
    uint32_t jid;
    uint64_t incarnation;
    uint32_t max_mes;
    uint32_t max_mds;
    uint32_t max_eqs;
    uint32_t max_ac_index;
    uint32_t max_pt_index;
    uint32_t max_md_iovecs;
    uint32_t max_me_list;
    uint32_t max_getput_md;
    uint32_t intents_max;
    uint32_t slots_max;
    uint32_t iovs_max;
    uint32_t iface; /* of the owner, in the handles of its objects */
    uint64_t bytes;
    /* Entries of each table that are laid out and whose space is reserved (enum p3_table). The
     * owner raises them, under the lock; a peer's link beyond them is a damaged one. */
    _Atomic uint32_t ready[3];
    uint32_t first_generation;
    uint64_t opened_ns; /* CLOCK_MONOTONIC */
    uint8_t pad1[8];
    /* line 2: the lock, written by every operation */
    snic_lock_t lock;
    snic_lock_t exchange;          /* serialises getput operations; taken before `lock` */
    _Atomic uint32_t open;         /* 1 between publication and PtlNIFini; owner, under the lock */
    _Atomic uint32_t intents_high; /* intent records at or above this were never used */
    /* Not 0: a getput is about to swap, puts and gets come by the exchange lock. Set under the
     * lock, by the holder of the exchange lock; what a dead one left is cleared by the next holder.
     */
    _Atomic uint32_t swapping;
    uint8_t pad2[36];
    struct p3_free_list me_free;
    struct p3_free_list md_free;
    struct p3_free_list eq_free;
    uint8_t pad3[16];
    _Atomic uint64_t sr[P3_SR_COUNT]; /* written under the lock, read without */
};
_Static_assert(offsetof(struct p3_area, lock) == 128, "p3_area.lock");
_Static_assert(offsetof(struct p3_area, sr) == 256, "p3_area.sr");
_Static_assert(sizeof(struct p3_area) == 512, "p3_area");

struct p3_pt {
    uint32_t head; /* index of the first match entry, or P3_NONE */
    uint32_t tail;
    uint32_t count;
    uint32_t pad;
};

struct p3_ac {
    uint32_t nid;
    uint32_t pid;
    uint32_t uid;
    uint32_t jid;
    uint32_t pt_index;
    uint32_t pad[3];
};

enum p3_flag { P3_LIVE = 1, P3_INACTIVE = 2, P3_UNLINK = 4, P3_UNLINK_DUE = 8 };

struct p3_me {
    uint32_t generation;
    uint32_t flags; /* P3_LIVE, P3_UNLINK */
    uint32_t nid;
    uint32_t pid;
    uint64_t match_bits;
    uint64_t ignore_bits;
    uint32_t md; /* index or P3_NONE */
    uint32_t pt_index;
    uint32_t prev;
    uint32_t next;  /* in the match list, or in the free list */
    uint64_t order; /* rises along the match list */
    uint32_t chain_prev;
    uint32_t chain_next;
};
_Static_assert(sizeof(struct p3_me) == 64, "p3_me");

/*
 * The index over the match lists. Every entry is in one chain: those that ignore no bit in the
 * chain that their portal index and match bits hash to, those with ignored bits in the chain of
 * their portal index. Chains are sorted by portal index, then by order. The entries that a request
 * may match are therefore in two chains only, and merging these by order meets them as the match
 * list has them.
 */
struct p3_chain {
    uint32_t head; /* index of a match entry, or P3_NONE */
    uint32_t tail;
};

struct p3_md {
    uint32_t generation;
    uint32_t flags; /* enum p3_flag */
    uint32_t options;
    int32_t threshold;
    uint32_t busy; /* operations in progress */
    uint32_t me;   /* index or P3_NONE */
    uint32_t eq;   /* handle, checked with its generation at each event */
    uint32_t next; /* in the free list */
    uint64_t offset;
    uint64_t length; /* bytes */
    uint64_t max_size;
    uint64_t user_ptr;
    uint64_t start;
    uint64_t user_length; /* as given: bytes or segments */
    snic_location_t location;
    uint32_t iov_first; /* PTL_MD_IOVEC: segments in the iov table */
    uint32_t iov_count;
    uint64_t pad[2];
};
_Static_assert(sizeof(struct p3_md) == 128, "p3_md");

struct p3_eq {
    /* Writers' lines. Nobody else looks here while the queue is only read. */
    _Atomic uint64_t tail; /* PTL_QUEUE_TAIL */
    uint64_t head_seen;    /* head as a writer saw it last, at most the real one; under the lock */
    uint8_t pad0[112];
    /* Read by both sides at every event, written when the queue is made and freed. Atomic because
     * readers look without the lock while the owner may free the queue. */
    _Atomic uint32_t generation;
    _Atomic uint32_t flags;
    _Atomic uint32_t first; /* slot */
    _Atomic uint32_t capacity;
    uint32_t next; /* in the free list */
    uint8_t pad1[108];
    /* Readers' lines. */
    _Atomic uint64_t head; /* PTL_QUEUE_HEAD; the owner's readers */
    uint8_t pad2[120];
};
_Static_assert(offsetof(struct p3_eq, head) == PTL_QUEUE_HEAD, "p3_eq.head");
_Static_assert(sizeof(struct p3_eq) == PTL_QUEUE_BYTES, "p3_eq");

struct p3_iov {
    snic_location_t location;
    uint64_t length;
};

/* 16 words; written and read with release and acquire order, see portals3_layout.h. */
struct p3_slot {
    _Atomic uint64_t word[PTL_SLOT_BYTES / 8];
};
_Static_assert(sizeof(struct p3_slot) == PTL_SLOT_BYTES, "p3_slot");

enum p3_operation { P3_PUT = 1, P3_GET = 2, P3_GETPUT = 3 };

/* An interface, as events and requests name it. */
struct p3_who {
    uint64_t incarnation;
    uint32_t nid, pid, uid, jid;
};

/* A request as the target sees it; the initiator fills it. */
struct p3_message {
    struct p3_who from;
    uint32_t operation; /* enum p3_operation */
    uint32_t pt_index;
    uint32_t ac_index;
    uint32_t ack; /* 1: acknowledgement wanted */
    uint64_t match_bits;
    uint64_t hdr_data;
    uint64_t rlength;
    uint64_t remote_offset;
    uint32_t retried; /* 1: sent again when nothing takes it, so not counted as a drop */
};

/* What an event says, apart from kind, failure and link. */
struct p3_event {
    uint64_t hdr_data;
    uint64_t match_bits;
    uint64_t mlength;
    uint64_t offset;
    uint64_t rlength;
    struct p3_who who;
    uint32_t pt_index;
    uint32_t md_handle;
    /* copy of the descriptor after the operation was counted */
    uint64_t start;
    uint64_t length;
    uint64_t max_size;
    uint64_t user_ptr;
    int32_t threshold;
    uint32_t options;
    uint32_t eq;
    uint32_t pad;
};

/* An event planned: nothing when `wanted` is 0. */
struct p3_log {
    uint32_t wanted;
    uint32_t kind;
    uint32_t fail;
    uint32_t link;
    uint64_t stamp;
};

/* Unlinking of a descriptor, and of its match entry, planned: every value is absolute. */
struct p3_unlink {
    uint32_t md_wanted;
    uint32_t me_wanted;
    uint32_t md;
    uint32_t md_generation; /* after */
    uint32_t md_tail;       /* of the free list, before */
    uint32_t md_count;      /* after */
    uint32_t me;            /* P3_NONE: none */
    uint32_t me_generation; /* after */
    uint32_t me_tail;
    uint32_t me_count;
    uint32_t pt_index;
    uint32_t pt_count; /* after */
    uint32_t prev;
    uint32_t next;
    uint32_t chain;
    uint32_t chain_prev;
    uint32_t chain_next;
    uint32_t pad;
    uint64_t mds_current; /* after */
    uint64_t mes_current; /* after */
};

/*
 * IDLE -> ACCEPT (accept plan complete; being applied, under the lock) -> MOVING (bytes move,
 * no lock) -> COMPLETE (completion plan complete; being applied, under the lock) -> IDLE.
 */
enum p3_phase { P3_IDLE = 0, P3_ACCEPT = 1, P3_MOVING = 2, P3_COMPLETE = 3 };

struct p3_intent {
    _Atomic uint32_t phase;       /* stored with release after the plan, loaded with acquire */
    uint32_t operation;           /* enum p3_operation */
    _Atomic uint64_t incarnation; /* of the initiator's interface */
    struct p3_event event;
    uint32_t md;
    uint32_t md_generation;
    /* accept plan */
    uint64_t md_offset;
    int32_t md_threshold;
    uint32_t md_flags;
    uint32_t md_busy;
    uint32_t start_late; /* START is part of the completion plan */
    uint64_t recv_count;
    uint64_t recv_length;
    uint64_t send_count;
    uint64_t send_length;
    struct p3_log start;
    /* completion plan */
    uint32_t end_busy;
    uint32_t pad1;
    struct p3_log end;
    struct p3_log unlinked;
    struct p3_unlink unlink;
    uint8_t pad2[8];
};
_Static_assert(sizeof(struct p3_intent) <= 512, "p3_intent");
#define P3_INTENT_BYTES 512

/* An area whose geometry was checked; the geometry is a private copy. */
struct p3_view {
    struct p3_area *area;
    struct p3_pt *pt;
    struct p3_ac *ac;
    struct p3_chain *chain; /* buckets, then one for each portal index */
    struct p3_me *me;
    struct p3_md *md;
    struct p3_eq *eq;
    struct p3_iov *iov;
    struct p3_slot *slot;
    uint8_t *intent;
    uint32_t flavor;
    uint32_t mes;
    uint32_t mds;
    uint32_t eqs;
    uint32_t acs; /* entries: largest index + 1 */
    uint32_t pts;
    uint32_t iovs;
    uint32_t slots;
    uint32_t intents;
    uint32_t iface;
    uint32_t buckets; /* a power of two */
};

struct p3_geometry {
    uint32_t mes, mds, eqs, acs, pts, iovs, slots, intents;
};

/* The first three begin short and are laid out as they fill, the space of the other two is reserved
 * as it is taken: most programs never need the rest. */
enum p3_table {
    P3_TABLE_ME = 0,
    P3_TABLE_MD = 1,
    P3_TABLE_EQ = 2,
    P3_TABLE_IOV = 3,
    P3_TABLE_SLOT = 4
};
#define P3_TABLES 3

/* Bytes that an area of this geometry takes. */
uint64_t p3_area_bytes(const struct p3_geometry *geometry);
/* Lays the area out in zeroed memory. limits have been cut to the emulation's. */
void p3_area_build(void *memory, const ptl_ni_limits_t *limits, const struct p3_geometry *geometry,
                   uint32_t generation);
/* Bytes of the area in front of the first table. */
uint64_t p3_area_head(const struct p3_geometry *geometry);
/* Where entries [from, to) of a table are in the area. */
void p3_table_extent(const struct p3_geometry *geometry, enum p3_table table, uint32_t from,
                     uint32_t to, uint64_t *offset, uint64_t *bytes);
/* How long a table is when it has grown once more; `ready` when it cannot grow. */
uint32_t p3_table_next(const struct p3_geometry *geometry, enum p3_table table, uint32_t ready);
/* Lays entries up to `to` out and appends them to the free list. The owner, under the lock; their
 * space is reserved. */
void p3_table_grow(const struct p3_view *view, enum p3_table table, uint32_t to);
/* Entries that can be taken without growing. Under the lock. */
uint32_t p3_table_free(const struct p3_view *view, enum p3_table table);

/* Checks the header against the memory that is really there. 0 or -EPROTO. */
int p3_view_open(struct p3_view *view, void *memory, uint64_t bytes);
struct p3_intent *p3_view_intent(const struct p3_view *view, uint32_t slot);

/* ---- handles: index 0-15, interface 16-23, kind 24-25, generation 26-31 ---- */

enum p3_kind { P3_KIND_NI = 0, P3_KIND_EQ = 1, P3_KIND_ME = 2, P3_KIND_MD = 3 };
#define P3_IFACES 255u /* interface 255 would collide with the special values */
#define P3_GENERATION_MASK 0x3fu
static inline uint32_t p3_handle(uint32_t kind, uint32_t iface, uint32_t index, uint32_t generation)
{
    return index | iface << 16 | kind << 24 | (generation & P3_GENERATION_MASK) << 26;
}
static inline uint32_t p3_handle_index(uint32_t handle)
{
    return handle & 0xffffu;
}
static inline uint32_t p3_handle_iface(uint32_t handle)
{
    return handle >> 16 & 0xffu;
}
static inline uint32_t p3_handle_kind(uint32_t handle)
{
    return handle >> 24 & 3u;
}
static inline uint32_t p3_handle_generation(uint32_t handle)
{
    return handle >> 26;
}

/* ---- tables, under the lock ---- */

/* Takes an index from the free list, P3_NONE when none is left (or the list is corrupt). */
uint32_t p3_take(const struct p3_view *view, enum p3_table table);
void p3_eq_give(const struct p3_view *view, uint32_t index);
/* ---- match lists and their index, under the lock (p3_lists.c) ---- */

/* Chain of entries that ignore no bit; those that ignore some are in chain buckets + pt_index. */
uint32_t p3_chain_of_bits(const struct p3_view *view, uint32_t pt_index, uint64_t match_bits);
uint32_t p3_chain_of(const struct p3_view *view, const struct p3_me *entry);
/* Puts entry `me` into its list before (after) `base`, or at the head (tail) when base is P3_NONE;
 * and into the index. The owner only: its interface is gone if it dies in here. */
void p3_me_link(const struct p3_view *view, uint32_t me, uint32_t base, ptl_ins_pos_t position);
/* Plans the unlinking of a descriptor (P3_NONE: none) and of a match entry (P3_NONE: keep). */
void p3_unlink_plan(const struct p3_view *view, struct p3_unlink *plan, uint32_t md, uint32_t me);
/* Does what was planned; may be repeated. */
void p3_unlink_apply(const struct p3_view *view, const struct p3_unlink *plan);

/* ---- events, under the lock ---- */

/* The queue that a handle names, or NULL. */
struct p3_eq *p3_eq_find(const struct p3_view *view, uint32_t handle);
/* Stamp that the next event of the queue gets; 0 when there is no such queue. */
uint64_t p3_eq_next(const struct p3_view *view, uint32_t handle);
/* Writes a planned event unless it is there already. */
void p3_eq_log(const struct p3_view *view, const struct p3_event *event, const struct p3_log *log);
/* 1 when the event with this stamp can be seen by readers. */
int p3_eq_published(const struct p3_view *view, uint32_t handle, uint64_t stamp);
/* 1 when the queue holds an event that was not taken. */
int p3_eq_pending(const struct p3_eq *eq);
/* Takes (or, with peek, copies) the oldest event: PTL_OK, PTL_EQ_DROPPED, PTL_EQ_EMPTY. Any thread
 * of the owner; no lock. */
int p3_eq_get(const struct p3_view *view, struct p3_eq *eq, ptl_event_t *event, int peek);

/* ---- descriptors, under the lock ---- */

/* Counts one operation: threshold, and inactivity with what follows from it. */
void p3_md_count(int32_t *threshold, uint32_t *flags);
/* 1 when an automatic unlink of this descriptor is to be logged. */
int p3_md_logs_unlink(const struct p3_view *view, uint32_t options);
/* Fills the descriptor's part of an event. */
void p3_event_from_md(const struct p3_view *view, struct p3_event *event, uint32_t md);

/* Walks everything; returns the number of faults, the first described in why. Under the lock. */
int p3_area_check(const struct p3_view *view, int exact_busy, char *why, size_t why_size);

#endif
