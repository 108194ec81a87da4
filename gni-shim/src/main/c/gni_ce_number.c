/* A channel's number leads to it, at a NIC address: whose it is, and which of that one's memories.
 * A software NIC without registrations has that name, so that no two living channels of an address
 * have one number, and the names of the dead go as theirs do. */
#include "gni_ce.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBER_TRIES 100
#define READERS_MAX 64u

struct named {
    uint64_t magic;
    uint32_t inst, memory;
};

static void name_of(uint32_t pe, uint32_t id, char name[SNIC_NAME_MAX])
{
    snprintf(name, SNIC_NAME_MAX, "%x.c%x", pe, id);
}

static int open_named(struct gni_ce *ce, const char *name, char *why)
{
    char job[SNIC_NAME_MAX];
    snic_options_t options = {.directory = getenv("GNI_SHIM_DIR"),
                              .job = job,
                              .name = name,
                              .personality = SNIC_UGNI,
                              .initiators_max = READERS_MAX,
                              .registrations_max = 1,
                              .area_bytes = sizeof(struct named)};

    gni_job_of(ce->nic->cdm, job);
    return snic_open(&options, &ce->named, why, SNIC_WHY_MAX);
}

int gni_ce_take_number(struct gni_ce *ce, uint32_t memory, char *why)
{
    uint32_t seed = (uint32_t)snic_incarnation(ce->nic->snic) ^ memory ^ (uint32_t)snic_now_ns();
    char name[SNIC_NAME_MAX];
    struct named *named;
    int error = -EEXIST;

    for (int tries = 0; error == -EEXIST && tries < NUMBER_TRIES; tries++) {
        seed = seed * 1664525u + 1013904223u;
        ce->id = seed >> 8 | 1; /* Aries' events have 24 bits for it */
        name_of(ce->nic->pe, ce->id, name);
        error = open_named(ce, name, why);
    }
    if (error != 0)
        return error;
    named = snic_area(ce->named);
    *named = (struct named){GNI_CE_MAGIC, ce->nic->inst, memory};
    return snic_publish(ce->named);
}

void gni_ce_find(struct gni_nic *nic, uint32_t pe, uint32_t id, struct gni_ce_where *where)
{
    char name[SNIC_NAME_MAX], why[SNIC_WHY_MAX];
    const struct named *named;
    snic_peer_t *peer;

    *where = (struct gni_ce_where){.pe = pe, .id = id};
    name_of(pe, id, name);
    if (snic_attach(nic->snic, name, 0, &peer, why, sizeof(why)) != 0)
        return;
    named = snic_peer_area(peer);
    if (snic_peer_area_bytes(peer) >= sizeof(*named) && named->magic == GNI_CE_MAGIC) {
        where->inst = named->inst;
        where->memory = named->memory;
        where->is_found = 1;
    }
    snic_detach(peer);
}
