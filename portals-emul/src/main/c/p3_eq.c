/* Event queues: making, freeing, taking events, waiting. */
#include "p3_objects.h"

#include "p3_cray.h"

/* A sleeper looks for work that dead initiators left this often. */
#define P3_SLICE_NS 100000000ll
#define P3_EXACT_MAX 4
#define P3_GENEROUS_MAX 1024

static uint32_t round_up(uint64_t count)
{
    uint32_t capacity = 2;

    while (capacity < count)
        capacity *= 2;
    return capacity;
}

/* A program that asks for a queue of ten reckons with the time that a wire takes between two
 * messages: it gets room for more. One that asks for four may want to see what happens to the
 * fifth. */
static uint64_t room_for(const struct p3_ni *ni, uint64_t count)
{
    return ni->is_program && count > P3_EXACT_MAX && count <= P3_GENEROUS_MAX ? 4 * count : count;
}

/* Under ni->objects and the own lock. */
static int eq_place(struct p3_ni *ni, uint32_t first, uint32_t capacity, ptl_eq_handler_t handler,
                    ptl_handle_eq_t *handle)
{
    /* The sequence, low half of the stamp, wraps after the first round of the ring. */
    uint64_t stamp = (1ull << 32) - capacity;
    uint32_t index = p3_take(&ni->view, P3_TABLE_EQ);
    struct p3_eq *eq;

    if (index == P3_NONE)
        return p3_fail(PTL_NO_SPACE, "all %u event queues are in use", ni->view.eqs);
    eq = &ni->view.eq[index];
    eq->first = first;
    eq->capacity = capacity;
    atomic_store_explicit(&eq->tail, stamp, memory_order_release);
    atomic_store_explicit(&eq->head, stamp, memory_order_release);
    eq->head_seen = stamp;
    eq->flags = P3_LIVE;
    ni->handlers[index] = handler;
    *handle = p3_handle(P3_KIND_EQ, ni->view.iface, index, eq->generation);
    return PTL_OK;
}

static int eq_alloc(struct p3_ni *ni, uint32_t capacity, ptl_eq_handler_t handler,
                    ptl_handle_eq_t *handle)
{
    uint32_t first = p3_extents_take(&ni->slots, capacity);
    int code, tries = P3_GROW_TRIES;

    if (first == P3_NONE)
        return p3_fail(PTL_NO_SPACE, "no room for %u events of the %u that all queues share",
                       capacity, ni->view.slots);
    code = p3_reserve(ni, P3_TABLE_SLOT, &ni->slots_ready, first + capacity);
    if (code != PTL_OK) {
        p3_extents_give(&ni->slots, first, capacity);
        return code;
    }
    /* Old stamps would look like events of the new queue. */
    for (uint32_t i = 0; i < capacity; i++)
        atomic_store_explicit(&ni->view.slot[first + i].word[0], 0, memory_order_relaxed);
    do {
        if ((code = p3_lock_own(ni)) != PTL_OK)
            break;
        code = eq_place(ni, first, capacity, handler, handle);
        p3_unlock_own(ni);
    } while (code == PTL_NO_SPACE && tries-- > 0 && p3_grow(ni, P3_TABLE_EQ));
    if (code != PTL_OK)
        p3_extents_give(&ni->slots, first, capacity);
    return code;
}

int PtlEQAlloc(ptl_handle_ni_t ni_handle, ptl_size_t count, ptl_eq_handler_t eq_handler,
               ptl_handle_eq_t *eq_handle)
{
    struct p3_ni *ni;
    int code = p3_ni_enter_to(ni_handle, eq_handle, "PtlEQAlloc: eq_handle", &ni);

    if (code != PTL_OK)
        return code;
    if (count == 0) {
        *eq_handle = PTL_EQ_NONE;
    } else if (count > P3_EQ_COUNT_MAX) {
        code = p3_fail(PTL_NO_SPACE, "PtlEQAlloc: %llu events, more than %u",
                       (unsigned long long)count, P3_EQ_COUNT_MAX);
    } else {
        pthread_mutex_lock(&ni->objects);
        code = eq_alloc(ni, round_up(room_for(ni, count)), eq_handler, eq_handle);
        pthread_mutex_unlock(&ni->objects);
    }
    p3_ni_leave(ni);
    return code;
}

int PtlEQFree(ptl_handle_eq_t eq_handle)
{
    struct p3_ni *ni;
    struct p3_eq *eq;
    uint32_t first = 0, capacity = 0;
    int code = p3_ni_enter(eq_handle, P3_KIND_EQ, PTL_EQ_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    pthread_mutex_lock(&ni->objects);
    code = p3_lock_own(ni);
    if (code == PTL_OK) {
        eq = p3_eq_find(&ni->view, eq_handle);
        if (eq == NULL) {
            code = p3_fail(PTL_EQ_INVALID, "PtlEQFree: no event queue 0x%08x", eq_handle);
        } else {
            /* Descriptors that name it find another generation and log nothing any more. */
            first = eq->first;
            capacity = eq->capacity;
            p3_eq_give(&ni->view, p3_handle_index(eq_handle));
        }
        p3_unlock_own(ni);
    }
    if (capacity != 0 && first <= ni->view.slots && capacity <= ni->view.slots - first)
        p3_extents_give(&ni->slots, first, capacity);
    pthread_mutex_unlock(&ni->objects);
    snic_ring_self(ni->nic); /* wakes waiters: PTL_EQ_INVALID */
    p3_ni_leave(ni);
    return code;
}

/* One look into a queue. */
static int eq_take(struct p3_ni *ni, ptl_handle_eq_t handle, ptl_event_t *event, int peek,
                   ptl_eq_handler_t *handler)
{
    struct p3_eq *eq = p3_eq_find(&ni->view, handle);
    int code;

    if (eq == NULL)
        return p3_fail(PTL_EQ_INVALID, "no event queue 0x%08x", handle);
    code = p3_eq_get(&ni->view, eq, event, peek);
    *handler =
        code == PTL_OK || code == PTL_EQ_DROPPED ? ni->handlers[p3_handle_index(handle)] : NULL;
    return code;
}

/* The handler runs in the caller's thread, after the event left the queue, and may call Portals. */
static int leave_and_handle(struct p3_ni *ni, int code, ptl_eq_handler_t handler,
                            ptl_event_t *event)
{
    p3_ni_leave(ni);
    if (handler != NULL)
        handler(event);
    return code;
}

static int eq_get(ptl_handle_eq_t eq_handle, ptl_event_t *event, int peek)
{
    ptl_eq_handler_t handler = NULL;
    struct p3_ni *ni;
    int code = p3_ni_enter(eq_handle, P3_KIND_EQ, PTL_EQ_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (event == NULL)
        code = p3_fail(PTL_SEGV, "PtlEQGet: event is NULL");
    else
        code = eq_take(ni, eq_handle, event, peek, &handler);
    if (code == PTL_EQ_EMPTY && p3_ni_whole(ni) != PTL_OK)
        code = PTL_FAIL;
    return leave_and_handle(ni, code, peek ? NULL : handler, event);
}

int PtlEQGet(ptl_handle_eq_t eq_handle, ptl_event_t *event)
{
    return eq_get(eq_handle, event, 0);
}

int PtlEQPeek(ptl_handle_eq_t eq_handle, ptl_event_t *event)
{
    return eq_get(eq_handle, event, 1);
}

/* Looks at the queues in array order. */
static int poll_once(struct p3_ni *ni, const ptl_handle_eq_t *handles, int size, ptl_event_t *event,
                     int *which, ptl_eq_handler_t *handler)
{
    for (int i = 0; i < size; i++) {
        int code;

        if (p3_handle_iface(handles[i]) != ni->view.iface ||
            p3_handle_kind(handles[i]) != P3_KIND_EQ) {
            *which = i;
            return p3_fail(PTL_EQ_INVALID, "queue %d (0x%08x) is not of this interface", i,
                           handles[i]);
        }
        code = eq_take(ni, handles[i], event, 0, handler);
        if (code != PTL_EQ_EMPTY) {
            *which = i;
            return code;
        }
    }
    return PTL_EQ_EMPTY;
}

/* All handles are looked at before the first event is taken, so that a bad one never costs an
 * event. */
static int check_queues(struct p3_ni *ni, const ptl_handle_eq_t *handles, int size, int *which)
{
    for (int i = 0; i < size; i++)
        if (p3_eq_find(&ni->view, handles[i]) == NULL) {
            *which = i;
            return p3_fail(PTL_EQ_INVALID, "queue %d: no event queue 0x%08x here", i, handles[i]);
        }
    return PTL_OK;
}

static int poll_until(struct p3_ni *ni, const ptl_handle_eq_t *handles, int size,
                      int64_t timeout_ns, ptl_event_t *event, int *which, ptl_eq_handler_t *handler)
{
    uint64_t begin = timeout_ns > 0 ? snic_now_ns() : 0;

    for (;;) {
        uint32_t seen = snic_doorbell(ni->nic);
        int64_t slice = P3_SLICE_NS;
        int code;

        if (!p3_ni_is_open(ni))
            return p3_fail(PTL_EQ_INVALID, "the interface was closed");
        code = poll_once(ni, handles, size, event, which, handler);
        if (code == PTL_EQ_EMPTY && p3_ni_whole(ni) != PTL_OK)
            return PTL_FAIL;
        if (code != PTL_EQ_EMPTY || timeout_ns == 0)
            return code;
        if (timeout_ns > 0) {
            int64_t left = timeout_ns - (int64_t)(snic_now_ns() - begin);

            if (left <= 0)
                return PTL_EQ_EMPTY;
            if (left < slice)
                slice = left;
        }
        if (snic_wait(ni->nic, seen, slice) == 0)
            p3_reap(ni);
    }
}

int PtlEQWait(ptl_handle_eq_t eq_handle, ptl_event_t *event)
{
    ptl_eq_handler_t handler = NULL;
    struct p3_ni *ni;
    int which;
    int code = p3_ni_enter(eq_handle, P3_KIND_EQ, PTL_EQ_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (event == NULL)
        code = p3_fail(PTL_SEGV, "PtlEQWait: event is NULL");
    else
        code = poll_until(ni, &eq_handle, 1, -1, event, &which, &handler);
    return leave_and_handle(ni, code, handler, event);
}

int PtlEQPoll(ptl_handle_eq_t *eq_handles, int size, ptl_time_t timeout, ptl_event_t *event,
              int *which_eq)
{
    int64_t timeout_ns = timeout == PTL_TIME_FOREVER ? -1 : (int64_t)timeout * 1000000;
    ptl_eq_handler_t handler = NULL;
    struct p3_ni *ni = NULL;
    int code;

    if (!p3_initialised())
        return p3_fail(PTL_NO_INIT, "PtlInit was not called (or PtlFini was)");
    if (size <= 0)
        return p3_fail(PTL_EQ_INVALID, "PtlEQPoll: size is %d", size);
    if (eq_handles == NULL || event == NULL || which_eq == NULL)
        return p3_fail(PTL_SEGV, "PtlEQPoll: a pointer is NULL");
    for (int i = 0; i < size && ni == NULL; i++) {
        code = p3_ni_enter(eq_handles[i], P3_KIND_EQ, PTL_EQ_INVALID, &ni);
        if (code != PTL_OK) {
            *which_eq = i;
            return code;
        }
    }
    code = check_queues(ni, eq_handles, size, which_eq);
    if (code == PTL_OK)
        code = poll_until(ni, eq_handles, size, timeout_ns, event, which_eq, &handler);
    return leave_and_handle(ni, code, handler, event);
}
