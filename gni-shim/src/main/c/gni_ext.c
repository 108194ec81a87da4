/* What gni_ext.h adds for libraries that put a protocol of their own upon uGNI: sleeping until
 * something happens, and knowing which process is behind an instance, and whether it lives. */
#include "gni_library.h"

/* ---- sleeping: a doorbell that everything rings which an owner may wait for ---- */

gni_return_t GNI_ExtDoorbell(gni_nic_handle_t nic_hndl, uint32_t *bell)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);

    if (nic == NULL || bell == NULL)
        return GNI_RC_INVALID_PARAM;
    *bell = snic_doorbell(nic->snic);
    return gni_nic_whole(nic);
}

gni_return_t GNI_ExtWait(gni_nic_handle_t nic_hndl, uint32_t bell, int64_t timeout_ns)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);

    if (nic == NULL)
        return GNI_RC_INVALID_PARAM;
    return gni_nic_whole(nic) != GNI_RC_SUCCESS          ? GNI_RC_INVALID_STATE
           : snic_wait(nic->snic, bell, timeout_ns) == 1 ? GNI_RC_SUCCESS
                                                         : GNI_RC_TIMEOUT;
}

gni_return_t GNI_ExtRing(gni_nic_handle_t nic_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);

    if (nic == NULL)
        return GNI_RC_INVALID_PARAM;
    snic_ring_self(nic->snic);
    return GNI_RC_SUCCESS;
}

/* ---- who is there ---- */

gni_return_t GNI_ExtIncarnation(gni_nic_handle_t nic_hndl, uint64_t *incarnation)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);

    if (nic == NULL || incarnation == NULL)
        return GNI_RC_INVALID_PARAM;
    *incarnation = snic_incarnation(nic->snic);
    return GNI_RC_SUCCESS;
}

/* The lock is held. */
static gni_ext_peer_state_t state_of(struct gni_nic *nic, struct gni_peer *peer,
                                     uint64_t *incarnation)
{
    uint32_t status = gni_peer_ready(nic, peer);
    int liveness = status == GNI_STATUS_OK ? snic_peer_liveness(peer->snic) : SNIC_DEAD;

    *incarnation = status == GNI_STATUS_OK ? snic_peer_incarnation(peer->snic) : 0;
    if (liveness == SNIC_DEAD)
        gni_peer_drop(peer); /* no more stores into memory of the dead */
    return liveness == SNIC_ALIVE     ? GNI_EXT_PEER_ALIVE
           : liveness == SNIC_STOPPED ? GNI_EXT_PEER_STOPPED
                                      : GNI_EXT_PEER_DEAD;
}

gni_return_t GNI_ExtPeerState(gni_nic_handle_t nic_hndl, uint32_t remote_addr, uint32_t remote_id,
                              gni_ext_peer_state_t *state, uint64_t *incarnation)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_peer *peer;

    if (nic == NULL || state == NULL || incarnation == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&nic->lock);
    peer = gni_peer_find(nic, remote_addr, remote_id);
    if (peer != NULL)
        *state = state_of(nic, peer, incarnation);
    gni_leave(&nic->lock);
    return peer != NULL ? GNI_RC_SUCCESS : GNI_RC_ERROR_NOMEM;
}

/* Pins the peer to an incarnation, 0: to none, and lets go of another one. */
static gni_return_t pin(gni_nic_handle_t nic_hndl, uint32_t pe, uint32_t inst, uint64_t incarnation,
                        int drops_any)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_peer *peer;

    if (nic == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&nic->lock);
    peer = gni_peer_find(nic, pe, inst);
    if (peer != NULL) {
        peer->pinned = incarnation;
        if (drops_any || (incarnation != 0 && peer->snic != NULL &&
                          snic_peer_incarnation(peer->snic) != incarnation))
            gni_peer_drop(peer);
    }
    gni_leave(&nic->lock);
    return peer != NULL ? GNI_RC_SUCCESS : GNI_RC_ERROR_NOMEM;
}

gni_return_t GNI_ExtPeerPin(gni_nic_handle_t nic_hndl, uint32_t remote_addr, uint32_t remote_id,
                            uint64_t incarnation)
{
    return pin(nic_hndl, remote_addr, remote_id, incarnation, 0);
}

gni_return_t GNI_ExtPeerForget(gni_nic_handle_t nic_hndl, uint32_t remote_addr, uint32_t remote_id)
{
    return pin(nic_hndl, remote_addr, remote_id, 0, 1);
}
