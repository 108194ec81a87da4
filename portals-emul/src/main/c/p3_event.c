/* Event rings: writing under the lock, reading by copy and stamp check (portals3_layout.h). */
#include "p3_area.h"

#include <string.h>

#define P3_GET_TRIES 1000

struct p3_eq *p3_eq_find(const struct p3_view *view, uint32_t handle)
{
    uint32_t index = p3_handle_index(handle);
    struct p3_eq *eq;

    if (handle == PTL_EQ_NONE || p3_handle_kind(handle) != P3_KIND_EQ || index >= view->eqs ||
        p3_handle_iface(handle) != view->iface)
        return NULL;
    /* Partner: the release store in p3_table_grow. */
    if (index >= atomic_load_explicit(&view->area->ready[P3_TABLE_EQ], memory_order_acquire))
        return NULL;
    eq = &view->eq[index];
    if (!(eq->flags & P3_LIVE) ||
        (eq->generation & P3_GENERATION_MASK) != p3_handle_generation(handle))
        return NULL;
    return eq;
}

/* First slot and capacity as read once; 0 when they do not fit the ring memory. */
static uint32_t ring_of(const struct p3_view *view, const struct p3_eq *eq, uint32_t *first)
{
    uint32_t capacity = eq->capacity;

    *first = eq->first;
    if (capacity < 2 || (capacity & (capacity - 1)) != 0 || *first > view->slots ||
        capacity > view->slots - *first)
        return 0;
    return capacity;
}

uint64_t p3_eq_next(const struct p3_view *view, uint32_t handle)
{
    struct p3_eq *eq = p3_eq_find(view, handle);

    return eq ? atomic_load_explicit(&eq->tail, memory_order_relaxed) : 0;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
    uint32_t halves[2] = {low, high};
    uint64_t word;

    memcpy(&word, halves, sizeof(word));
    return word;
}

static void slot_words(uint64_t *w, const struct p3_event *event, const struct p3_log *log)
{
    uint8_t small[8];
    uint16_t pid = (uint16_t)event->who.pid;

    memcpy(small, &event->md_handle, 4);
    small[4] = (uint8_t)log->kind;
    small[5] = (uint8_t)log->fail;
    memcpy(small + 6, &pid, 2);
    w[PTL_SLOT_HDR_DATA / 8] = event->hdr_data;
    w[PTL_SLOT_MATCH_BITS / 8] = event->match_bits;
    w[PTL_SLOT_MLENGTH / 8] = event->mlength;
    w[PTL_SLOT_OFFSET / 8] = event->offset;
    w[PTL_SLOT_RLENGTH / 8] = event->rlength;
    w[PTL_SLOT_USER_PTR / 8] = event->user_ptr;
    memcpy(&w[PTL_SLOT_MD_HANDLE / 8], small, 8);
    w[PTL_SLOT_MD_START / 8] = event->start;
    w[PTL_SLOT_MD_LENGTH / 8] = event->length;
    w[PTL_SLOT_MD_MAX_SIZE / 8] = event->max_size;
    w[PTL_SLOT_MD_THRESHOLD / 8] = pair((uint32_t)event->threshold, event->options);
    w[PTL_SLOT_NID / 8] = pair(event->who.nid, event->who.uid);
    w[PTL_SLOT_JID / 8] = pair(event->who.jid, event->pt_index);
    w[PTL_SLOT_LINK / 8] = pair(log->link, 0);
    w[PTL_SLOT_INCARNATION / 8] = event->who.incarnation;
}

/* Does the event with this stamp fall on one that was not taken? The reader's line is looked at
 * once per round of the ring. */
static int is_full(struct p3_eq *eq, uint64_t stamp, uint32_t capacity)
{
    if (stamp - eq->head_seen >= capacity)
        eq->head_seen = atomic_load_explicit(&eq->head, memory_order_acquire);
    return stamp - eq->head_seen >= capacity;
}

int p3_eq_published(const struct p3_view *view, uint32_t handle, uint64_t stamp)
{
    const struct p3_eq *eq = p3_eq_find(view, handle);
    uint32_t first, capacity = eq ? ring_of(view, eq, &first) : 0;

    return capacity != 0 &&
           atomic_load_explicit(&view->slot[first + (uint32_t)(stamp & (capacity - 1))].word[0],
                                memory_order_acquire) == stamp;
}

void p3_eq_log(const struct p3_view *view, const struct p3_event *event, const struct p3_log *log)
{
    struct p3_eq *eq = log->wanted ? p3_eq_find(view, event->eq) : NULL;
    uint32_t first, capacity = eq ? ring_of(view, eq, &first) : 0;
    uint64_t w[PTL_SLOT_BYTES / 8];
    struct p3_slot *slot;

    /* Another tail than planned: a predecessor logged it before he died. */
    if (capacity == 0 || atomic_load_explicit(&eq->tail, memory_order_relaxed) != log->stamp)
        return;
    slot_words(w, event, log);
    slot = &view->slot[first + (uint32_t)(log->stamp & (capacity - 1))];
    /* Every store releases, so that a reader who sees one of the words sees the busy stamp too;
     * partner: the acquire loads of slot_copy (and of the Java reader). Only an event that was not
     * taken needs the mark: no reader looks for the old stamp of another. A mark that is not needed
     * would let a spinning reader snatch the line away in the middle. */
    if (is_full(eq, log->stamp, capacity))
        atomic_store_explicit(&slot->word[0], log->stamp | PTL_SLOT_BUSY, memory_order_release);
    SNIC_STEP("ptl.event.busy");
    for (int i = PTL_SLOT_BYTES / 16; i < PTL_SLOT_BYTES / 8; i++)
        atomic_store_explicit(&slot->word[i], w[i], memory_order_release);
    for (int i = 1; i < PTL_SLOT_BYTES / 16; i++)
        atomic_store_explicit(&slot->word[i], w[i], memory_order_release);
    SNIC_STEP("ptl.event.words");
    atomic_store_explicit(&slot->word[0], log->stamp, memory_order_release);
    SNIC_STEP("ptl.event.stamp");
    atomic_store_explicit(&eq->tail, log->stamp + 1, memory_order_release);
    SNIC_STEP("ptl.event.tail");
}

int p3_eq_pending(const struct p3_eq *eq)
{
    return atomic_load_explicit(&eq->tail, memory_order_acquire) !=
           atomic_load_explicit(&eq->head, memory_order_acquire);
}

/* Copies the event with this stamp; 0 when the slot holds another one, or is being written. */
static int slot_copy(const struct p3_slot *slot, uint64_t stamp, uint64_t *w)
{
    w[0] = atomic_load_explicit(&slot->word[0], memory_order_acquire);
    if (w[0] != stamp)
        return 0;
    for (int i = 1; i < PTL_SLOT_BYTES / 8; i++)
        w[i] = atomic_load_explicit(&slot->word[i], memory_order_acquire);
    return atomic_load_explicit(&slot->word[0], memory_order_acquire) == stamp;
}

static uint32_t half(uint64_t word, int high)
{
    uint32_t halves[2];

    memcpy(halves, &word, sizeof(word));
    return halves[high];
}

static void event_from_words(const uint64_t *w, uint32_t eq_handle, ptl_event_t *event)
{
    uint8_t small[8];
    uint16_t pid;

    memset(event, 0, sizeof(*event));
    memcpy(small, &w[PTL_SLOT_MD_HANDLE / 8], 8);
    memcpy(&event->md_handle, small, 4);
    memcpy(&pid, small + 6, 2);
    event->type = (ptl_event_kind_t)small[4];
    event->ni_fail_type = small[5];
    event->initiator.nid = half(w[PTL_SLOT_NID / 8], 0);
    event->initiator.pid = pid;
    event->uid = half(w[PTL_SLOT_NID / 8], 1);
    event->jid = half(w[PTL_SLOT_JID / 8], 0);
    event->pt_index = half(w[PTL_SLOT_JID / 8], 1);
    event->match_bits = w[PTL_SLOT_MATCH_BITS / 8];
    event->rlength = w[PTL_SLOT_RLENGTH / 8];
    event->mlength = w[PTL_SLOT_MLENGTH / 8];
    event->offset = w[PTL_SLOT_OFFSET / 8];
    event->md.start = (void *)(uintptr_t)w[PTL_SLOT_MD_START / 8];
    event->md.length = w[PTL_SLOT_MD_LENGTH / 8];
    event->md.threshold = (int)half(w[PTL_SLOT_MD_THRESHOLD / 8], 0);
    event->md.max_size = w[PTL_SLOT_MD_MAX_SIZE / 8];
    event->md.options = half(w[PTL_SLOT_MD_THRESHOLD / 8], 1);
    event->md.user_ptr = (void *)(uintptr_t)w[PTL_SLOT_USER_PTR / 8];
    event->md.eq_handle = eq_handle;
    event->hdr_data = w[PTL_SLOT_HDR_DATA / 8];
    event->link = half(w[PTL_SLOT_LINK / 8], 0);
    event->sequence = (ptl_seq_t)w[0];
}

/* The oldest event after `head` that can still be copied; its stamp, or 0. */
static uint64_t oldest_survivor(const struct p3_slot *ring, uint32_t capacity, uint64_t head,
                                uint64_t tail, uint64_t *w)
{
    uint64_t stamp = tail - capacity;

    if (tail < capacity || stamp <= head)
        stamp = head + 1;
    for (uint32_t i = 0; i < capacity && stamp < tail; i++, stamp++)
        if (slot_copy(&ring[stamp & (capacity - 1)], stamp, w))
            return stamp;
    return 0;
}

int p3_eq_get(const struct p3_view *view, struct p3_eq *eq, ptl_event_t *event, int peek)
{
    uint32_t index = (uint32_t)(eq - view->eq);
    uint32_t first, capacity = ring_of(view, eq, &first);
    uint64_t w[PTL_SLOT_BYTES / 8];

    if (capacity == 0)
        return PTL_EQ_INVALID;
    for (int i = 0; i < P3_GET_TRIES; i++) {
        const struct p3_slot *ring = &view->slot[first];
        uint64_t head = atomic_load_explicit(&eq->head, memory_order_acquire);
        uint64_t found = head;
        int code = PTL_OK;

        if (!slot_copy(&ring[head & (capacity - 1)], head, w)) {
            uint64_t tail, there = w[0] & ~PTL_SLOT_BUSY;

            /* An older stamp, or this one being written: nothing yet. The tail, which writers keep
             * changing, is looked at only when events were lost. */
            if ((int64_t)(there - head) < 0 || w[0] == (head | PTL_SLOT_BUSY))
                return PTL_EQ_EMPTY;
            tail = atomic_load_explicit(&eq->tail, memory_order_acquire);
            found = oldest_survivor(ring, capacity, head, tail, w);
            code = PTL_EQ_DROPPED;
            if (found == 0)
                continue;
        }
        /* Taken by another reader meanwhile: what was copied may have been written over, and then
         * without a mark. */
        if (peek && atomic_load_explicit(&eq->head, memory_order_acquire) != head)
            continue;
        /* Readers race for an event by this exchange only; no data hangs on it. */
        if (!peek && !atomic_compare_exchange_strong_explicit(
                         &eq->head, &head, found + 1, memory_order_acq_rel, memory_order_relaxed))
            continue;
        event_from_words(w, p3_handle(P3_KIND_EQ, view->iface, index, eq->generation), event);
        return code;
    }
    return PTL_EQ_EMPTY;
}
