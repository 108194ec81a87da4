/* Other NIC handles of the domain: attaching to them, and noticing that they are gone. */
#include "gni_library.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct gni_peer **bucket_of(struct gni_nic *nic, uint32_t pe, uint32_t inst)
{
    return &nic->peers[((pe * 2654435761u) ^ (inst * 40503u) ^ inst >> 10) % GNI_PEER_BUCKETS];
}

static struct gni_peer *known(struct gni_nic *nic, uint32_t pe, uint32_t inst)
{
    struct gni_peer *peer = *bucket_of(nic, pe, inst);

    while (peer != NULL && (peer->pe != pe || peer->inst != inst))
        peer = peer->next;
    return peer;
}

struct gni_peer *gni_peer_find(struct gni_nic *nic, uint32_t pe, uint32_t inst)
{
    struct gni_peer **bucket = bucket_of(nic, pe, inst);
    struct gni_peer *peer = known(nic, pe, inst);

    if (peer != NULL)
        return peer;
    peer = calloc(1, sizeof(*peer));
    if (peer == NULL)
        return NULL;
    peer->pe = pe;
    peer->inst = inst;
    peer->drops = 1;
    peer->next = *bucket;
    *bucket = peer;
    return peer;
}

gni_return_t gni_nic_whole(const struct gni_nic *nic)
{
    char why[SNIC_WHY_MAX];

    if (snic_damage(nic->snic, why, sizeof(why)) == 0)
        return GNI_RC_SUCCESS;
    gni_fail("%s", why);
    return GNI_RC_INVALID_STATE;
}

void gni_peer_drop(struct gni_peer *peer)
{
    if (peer->snic != NULL)
        snic_detach(peer->snic);
    peer->snic = NULL;
    peer->drops += peer->drops == UINT32_MAX ? 2 : 1;
}

static uint32_t attach(struct gni_nic *nic, struct gni_peer *peer)
{
    char name[SNIC_NAME_MAX], why[SNIC_WHY_MAX] = "";
    uint64_t wanted = peer->pinned;

    snprintf(name, sizeof(name), "%x.%x", peer->pe, peer->inst);
    if (snic_attach(nic->snic, name, wanted, &peer->snic, why, sizeof(why)) != 0) {
        peer->snic = NULL;
        gni_fail("%s: %s", name, why);
        return GNI_STATUS_UNREACHABLE;
    }
    if (gni_view_open(&peer->view, snic_peer_area(peer->snic), snic_peer_area_bytes(peer->snic)) !=
            0 ||
        snic_peer_liveness(peer->snic) == SNIC_DEAD) {
        gni_peer_drop(peer);
        gni_fail("%s is dead, or its segment holds nonsense", name);
        return GNI_STATUS_UNREACHABLE;
    }
    /* The segment's place says so already; a segment that was put there by hand does not count. */
    if (peer->view.area->ptag != nic->cdm->ptag || peer->view.area->cookie != nic->cdm->cookie) {
        gni_peer_drop(peer);
        gni_fail("%s has another protection tag or cookie", name);
        return GNI_STATUS_PROTECTION;
    }
    peer->checked_ns = snic_coarse_ns();
    return GNI_STATUS_OK;
}

/* Who goes through the tree of a collective still reads a channel of this peer. Only then is one
 * that is gone kept: its successor could not be reached. */
static int is_walked(const struct gni_nic *nic, const struct gni_peer *peer)
{
    return (nic->ce_walk & 1) && peer->walk == nic->ce_walk;
}

uint32_t gni_peer_ready(struct gni_nic *nic, struct gni_peer *peer)
{
    if (peer->snic != NULL) {
        int gone = !snic_peer_is_open(peer->snic);
        uint64_t now = snic_coarse_ns();

        peer->turn = nic->turn;
        peer->posts = 0;
        if (!gone && now - peer->checked_ns > GNI_LIVENESS_NS) {
            peer->checked_ns = now;
            gone = snic_peer_liveness(peer->snic) == SNIC_DEAD;
        }
        if (!gone)
            return GNI_STATUS_OK;
        if (is_walked(nic, peer))
            return GNI_STATUS_UNREACHABLE;
        gni_peer_drop(peer);
    }
    return attach(nic, peer);
}

uint32_t gni_peer_reach(struct gni_nic *nic, uint32_t pe, uint32_t inst, struct gni_peer **peer)
{
    int is_new = known(nic, pe, inst) == NULL;
    uint32_t status;

    *peer = gni_peer_find(nic, pe, inst);
    status = *peer != NULL ? gni_peer_ready(nic, *peer) : (uint32_t)GNI_STATUS_UNREACHABLE;
    if (status != GNI_STATUS_OK && is_new && *peer != NULL) {
        *bucket_of(nic, pe, inst) = (*peer)->next; /* the first: it was just put there */
        free(*peer);
        *peer = NULL;
    }
    return status;
}

void gni_peers_close(struct gni_nic *nic)
{
    for (uint32_t i = 0; i < GNI_PEER_BUCKETS; i++) {
        while (nic->peers[i] != NULL) {
            struct gni_peer *peer = nic->peers[i];

            nic->peers[i] = peer->next;
            gni_peer_drop(peer);
            free(peer);
        }
    }
}
