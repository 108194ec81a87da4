/* What tests that open shm personalities share. */
#ifndef SHM_OPEN_H
#define SHM_OPEN_H
#include "test.h"
#include "shm_await.h"

static inline int64_t now_ns(void)
{
    return (int64_t)snic_now_ns();
}

/* One of the job "job", whose slots all connections can fill. */
static inline shm_t *open_shm_with(const char *name, uint32_t credits, uint32_t message_max,
                                   uint32_t connections, uint64_t peer_timeout_ns)
{
    char why[SNIC_WHY_MAX];
    shm_t *s;
    shm_options_t o = {.job = "job",
                       .name = name,
                       .initiators_max = 8,
                       .registrations_max = 64,
                       .credits = credits,
                       .message_max = message_max,
                       .connections_max = connections,
                       .receive_slots = credits * connections,
                       .peer_timeout_ns = peer_timeout_ns};
    int rc = shm_create(&o, &s, why, sizeof why);
    if (rc != 0)
        test_fail(__FILE__, __LINE__, "shm_create %s: %d %s", name, rc, why);
    return s;
}

#endif
