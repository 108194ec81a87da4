/* Operations on their way (p3_wire.h). Order of locks: the peer's mutex, then the wire's. */
#include "p3_wire.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define P3_LATENCY_US_MAX 1000000u
#define P3_RETRY_MS 10000u
#define P3_RETRY_PAUSE_NS 1000000u
/* A rank that has just opened its interface may not have posted its entries yet: for a second, or
 * a tenth of the time that a rank is waited for. */
#define P3_YOUNG_NS 1000000000u
#define P3_FLIGHTS_MAX 65536u
#define P3_NEVER UINT64_MAX

struct p3_flight {
    struct p3_flight *next;
    uint64_t due_ns;
    uint64_t deadline_ns; /* of waiting for the target */
    struct p3_request request;
    struct p3_under_way under_way;
};

void p3_wire_init(struct p3_ni *ni, int is_program)
{
    struct p3_wire *wire = &ni->wire;
    uint32_t us = snic_setting("VERBENA_PORTALS_WIRE_US", 0);
    pthread_condattr_t monotonic;

    pthread_mutex_init(&wire->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&wire->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!is_program)
        return;
    wire->latency_ns = (us < P3_LATENCY_US_MAX ? us : P3_LATENCY_US_MAX) * 1000ull;
    wire->retry_ns = snic_setting("VERBENA_PORTALS_RETRY_MS", P3_RETRY_MS) * 1000000ull;
}

/* ---- arriving ---- */

/* It may have opened after the caller took the time. */
static int is_young(const struct p3_ni *ni, const struct p3_peer *peer, uint64_t now)
{
    uint64_t tenth = ni->wire.retry_ns / 10;

    return now < peer->view.area->opened_ns + (tenth > P3_YOUNG_NS ? tenth : P3_YOUNG_NS);
}

/* One attempt, with the peer's mutex held. 0: it has to be repeated. */
static int attempt(struct p3_ni *ni, struct p3_peer *peer, struct p3_flight *flight, uint64_t now)
{
    uint32_t fail = p3_peer_ready(ni, peer);
    int is_last = now >= flight->deadline_ns;
    int repeats =
        fail == PTL_EXT_FAIL_STALLED || (fail == PTL_EXT_FAIL_UNREACHABLE && peer->is_awaited);

    if (repeats && !is_last)
        return 0;
    if (fail == PTL_EXT_FAIL_STALLED)
        fail = PTL_EXT_FAIL_UNREACHABLE;
    flight->request.message.retried =
        fail == PTL_NI_OK && !is_last && peer->is_awaited && is_young(ni, peer, now);
    switch (p3_move_arrive(ni, peer, &flight->request, &flight->under_way, fail)) {
    case P3_NOT_TAKEN:
        return 0;
    case P3_BLOCKED:
        if (!is_last)
            return 0;
        p3_move_arrive(ni, peer, &flight->request, &flight->under_way, PTL_EXT_FAIL_UNREACHABLE);
        break;
    default:
        break;
    }
    peer->is_awaited = 0; /* it came, or was waited for long enough */
    return 1;
}

static void remove_first(struct p3_ni *ni, struct p3_peer *peer)
{
    struct p3_flight *flight = peer->flights;

    pthread_mutex_lock(&ni->wire.mutex);
    peer->flights = flight->next;
    ni->wire.count--;
    pthread_mutex_unlock(&ni->wire.mutex);
    if (peer->flights == NULL) /* stable: who appends holds the peer's mutex */
        peer->waits = ni->wire.latency_ns != 0 || peer->is_awaited;
    free(flight);
}

/* Lets arrive what is due towards this peer. Returns when to look again. */
static uint64_t arrive(struct p3_ni *ni, struct p3_peer *peer, int is_closing)
{
    for (;;) {
        struct p3_flight *flight;
        uint64_t now = snic_now_ns();
        int is_over;

        pthread_mutex_lock(&ni->wire.mutex);
        flight = peer->flights;
        pthread_mutex_unlock(&ni->wire.mutex);
        if (flight == NULL)
            return P3_NEVER;
        if (now < flight->due_ns)
            return flight->due_ns;
        pthread_mutex_lock(&peer->mutex);
        is_over = attempt(ni, peer, flight, now) || is_closing;
        if (is_over)
            remove_first(ni, peer);
        pthread_mutex_unlock(&peer->mutex);
        if (!is_over)
            return flight->due_ns = now + P3_RETRY_PAUSE_NS;
    }
}

static void sleep_until(struct p3_wire *wire, uint64_t ns)
{
    struct timespec until = {.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};

    if (ns == P3_NEVER)
        pthread_cond_wait(&wire->changed, &wire->mutex);
    else
        pthread_cond_timedwait(&wire->changed, &wire->mutex, &until);
}

/* Looks at every peer, and answers when to look again. Under the wire's mutex, which it releases
 * meanwhile; peers are only ever added, in front. */
static uint64_t look(struct p3_ni *ni)
{
    struct p3_wire *wire = &ni->wire;
    int is_closing = wire->is_closing;
    uint64_t next = P3_NEVER, departures = wire->departures;

    for (struct p3_peer *peer = wire->peers; peer != NULL; peer = peer->next_on_wire) {
        uint64_t due;

        pthread_mutex_unlock(&wire->mutex);
        due = arrive(ni, peer, is_closing);
        pthread_mutex_lock(&wire->mutex);
        next = due < next ? due : next;
    }
    return departures == wire->departures && is_closing == wire->is_closing ? next : 0;
}

static void *run(void *context)
{
    struct p3_ni *ni = context;
    struct p3_wire *wire = &ni->wire;

    pthread_mutex_lock(&wire->mutex);
    while (!wire->is_closing || wire->count != 0) {
        uint64_t next = look(ni);

        if (next != 0 && (!wire->is_closing || wire->count != 0))
            sleep_until(wire, next);
    }
    pthread_mutex_unlock(&wire->mutex);
    return NULL;
}

/* ---- departing ---- */

/* Under the wire's mutex. The program's signals are none of this thread's business. */
static int start_thread(struct p3_ni *ni)
{
    sigset_t all, before;
    int error;

    if (ni->wire.is_running)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&ni->wire.thread, NULL, run, ni);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ni->wire.is_running = error == 0;
    return error;
}

/* Under the wire's mutex. */
static void append(struct p3_ni *ni, struct p3_peer *peer, struct p3_flight *flight)
{
    struct p3_wire *wire = &ni->wire;
    struct p3_flight *last = peer->flights;

    if (last == NULL)
        peer->flights = flight;
    else
        peer->last_flight->next = flight;
    peer->last_flight = flight;
    if (!peer->is_on_wire) {
        peer->is_on_wire = 1;
        peer->next_on_wire = wire->peers;
        wire->peers = peer;
    }
    wire->count++;
    wire->departures++;
    if (last == NULL) /* otherwise the thread looks when the one in front is due */
        pthread_cond_signal(&wire->changed);
}

int p3_wire_depart(struct p3_ni *ni, struct p3_peer *peer, const struct p3_request *r)
{
    struct p3_flight *flight = calloc(1, sizeof(*flight));
    int code = PTL_OK;

    if (flight == NULL)
        return p3_fail(PTL_NO_SPACE, "out of memory");
    flight->request = *r;
    flight->due_ns = snic_now_ns() + ni->wire.latency_ns;
    flight->deadline_ns = flight->due_ns + ni->wire.retry_ns;
    pthread_mutex_lock(&ni->wire.mutex);
    if (ni->wire.count >= P3_FLIGHTS_MAX || start_thread(ni) != 0)
        code = p3_fail(PTL_NO_SPACE, "%u operations are on their way, or there is no thread",
                       ni->wire.count);
    pthread_mutex_unlock(&ni->wire.mutex);
    if (code == PTL_OK)
        code = p3_move_begin(ni, &flight->request, &flight->under_way);
    if (code != PTL_OK) {
        free(flight);
        return code;
    }
    peer->waits = 1;
    pthread_mutex_lock(&ni->wire.mutex);
    append(ni, peer, flight);
    pthread_mutex_unlock(&ni->wire.mutex);
    if (ni->flavor == P3_FLAVOR_CRAY)
        snic_ring_self(ni->nic); /* the events of a get's send */
    p3_outcome(PTL_EXT_UNDER_WAY);
    return PTL_OK;
}

void p3_wire_close(struct p3_ni *ni)
{
    pthread_mutex_lock(&ni->wire.mutex);
    ni->wire.is_closing = 1;
    pthread_cond_signal(&ni->wire.changed);
    pthread_mutex_unlock(&ni->wire.mutex);
    if (ni->wire.is_running)
        pthread_join(ni->wire.thread, NULL);
}
