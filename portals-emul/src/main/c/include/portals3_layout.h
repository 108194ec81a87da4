/*
 * Layout of an event queue in shared memory, for readers that are not this library (the Java side).
 * All fields are in native byte order; every offset is checked by the library at compile time.
 *
 * A queue is a header and a ring of slots; the ring's capacity is a power of two. Events of a
 * queue are numbered by a 64-bit stamp that starts at 2^32 - capacity and rises by one; the
 * Portals `sequence` is its low half. The event with stamp s sits in slot (s & (capacity - 1)).
 *
 * Writing (any process, under the interface's lock): if the slot holds an event that was not taken
 * yet (stamp - head >= capacity), store stamp | BUSY first. Then the slot's other words, then the
 * stamp, then tail = stamp + 1; every one of these is a release store. A full queue overwrites the
 * oldest event.
 *
 * Reading the event h = head:
 *
 *   1. s = load-acquire(slot(h).stamp). If s == h: copy the other words (each load with acquire
 *      order), load the stamp again; if it is still h the copy is good: head = h + 1, done. The
 *      head must not be advanced before the copy was made.
 *
 *   2. If (s & ~BUSY) - h, taken as signed, is < 0, or if s == h | BUSY: the queue is empty. (The
 *      test t = load-acquire(tail), t - h <= 0 is right too, but takes the writers' line away.)
 *
 *   3. Otherwise events were overwritten. With t = load-acquire(tail), the oldest that may survive
 *      is o = max(h + 1, t - capacity); try o, o + 1, ... up to t - 1 as in step 1. The event found
 *      is returned together with "events were dropped before it" (PTL_EQ_DROPPED), and head = its
 *      stamp + 1.
 *
 * With several readers in one process head is advanced by compare-and-set from h; a reader that
 * loses starts again. Only the owning process reads. Offsets are relative to the addresses in
 * ptl_ext_eq_view_t.
 */
#ifndef PORTALS3_LAYOUT_H
#define PORTALS3_LAYOUT_H

#define PTL_SLOT_BYTES 128
#define PTL_SLOT_STAMP 0         /* u64 */
#define PTL_SLOT_HDR_DATA 8      /* u64 */
#define PTL_SLOT_MATCH_BITS 16   /* u64 */
#define PTL_SLOT_MLENGTH 24      /* u64 */
#define PTL_SLOT_OFFSET 32       /* u64 */
#define PTL_SLOT_RLENGTH 40      /* u64 */
#define PTL_SLOT_USER_PTR 48     /* u64: ptl_md_t.user_ptr */
#define PTL_SLOT_MD_HANDLE 56    /* u32 */
#define PTL_SLOT_KIND 60         /* u8: ptl_event_kind_t */
#define PTL_SLOT_NI_FAIL 61      /* u8: ptl_ni_fail_t */
#define PTL_SLOT_PID 62          /* u16: initiator.pid */
#define PTL_SLOT_MD_START 64     /* u64: ptl_md_t.start */
#define PTL_SLOT_MD_LENGTH 72    /* u64: ptl_md_t.length */
#define PTL_SLOT_MD_MAX_SIZE 80  /* u64: ptl_md_t.max_size */
#define PTL_SLOT_MD_THRESHOLD 88 /* i32: ptl_md_t.threshold */
#define PTL_SLOT_MD_OPTIONS 92   /* u32: ptl_md_t.options */
#define PTL_SLOT_NID 96          /* u32: initiator.nid */
#define PTL_SLOT_UID 100         /* u32 */
#define PTL_SLOT_JID 104         /* u32 */
#define PTL_SLOT_PT_INDEX 108    /* u32 */
#define PTL_SLOT_LINK 112        /* u32 */
#define PTL_SLOT_RESERVED 116    /* u32 */
#define PTL_SLOT_INCARNATION 120 /* u64: incarnation of the process named by initiator */

/* Set in a stamp while its slot is being written. */
#define PTL_SLOT_BUSY 0x8000000000000000ull

/* Header of a queue: tail is written by initiators, head by the reader; each on a pair of cache
 * lines of its own. */
#define PTL_QUEUE_BYTES 384
#define PTL_QUEUE_TAIL 0   /* u64: stamp of the next event */
#define PTL_QUEUE_HEAD 256 /* u64: stamp that the reader expects next */

#endif
