/* Sleeps until shm_poll may have something: for the C tests and benchmarks. */
#ifndef SOFTNIC_TEST_SHM_AWAIT_H
#define SOFTNIC_TEST_SHM_AWAIT_H

#include "shm_private.h"

static inline int shm_has_work(shm_t *s)
{
    if (s->scan ||
        atomic_load_explicit(&s->area->control_bell, memory_order_acquire) != s->bell_seen)
        return 1;
    for (uint32_t i = 0; i < s->open_count; i++) {
        struct shm_link *link = &s->links[s->open[i]];
        if (shm_has_message(s, link) ||
            (link->state != LINK_OPEN && link->position - link->released < s->credits))
            return 1;
    }
    return 0;
}

/* 1: there may be something to poll, or it is time for poll to look whether the peers live. 0: the
 * deadline (CLOCK_MONOTONIC) has passed. */
static inline int shm_await(shm_t *s, int64_t deadline_ns)
{
    uint32_t seen = snic_doorbell(s->nic);
    int64_t now = (int64_t)snic_now_ns(), look = (int64_t)s->next_look_ns;
    int64_t until = deadline_ns < look ? deadline_ns : look;
    if (shm_has_work(s))
        return 1;
    if (until <= now)
        return deadline_ns > now;
    int rc = snic_wait(s->nic, seen, until - now);
    return rc < 0 ? rc : 1;
}

#endif
