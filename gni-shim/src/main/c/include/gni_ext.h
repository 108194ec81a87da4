/* What this library offers beside uGNI. */
#ifndef GNI_EXT_H
#define GNI_EXT_H

#include "gni_pub.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Memory that peers map: a put into it is stores, where any other memory costs a system call for
 * each transfer. Zeroed, page aligned; freed with the NIC handle at the latest. */
gni_return_t GNI_ExtMemAlloc(gni_nic_handle_t nic_hndl, uint64_t length, void **address);
/* INVALID_STATE while registered. */
gni_return_t GNI_ExtMemFree(gni_nic_handle_t nic_hndl, void *address);

/* Sleeping until something happens: read the bell, look at everything once more, wait. Remote
 * events, datagrams and GNI_ExtRing ring it; events of our own posts do on queues that block.
 * A peer that dies between an event and the bell rings for nobody: wait in slices. */
gni_return_t GNI_ExtDoorbell(gni_nic_handle_t nic_hndl, uint32_t *bell);
/* SUCCESS: it rang since `bell` was read; TIMEOUT after timeout_ns (negative: no limit). The NIC
 * handle must stay attached meanwhile. */
gni_return_t GNI_ExtWait(gni_nic_handle_t nic_hndl, uint32_t bell, int64_t timeout_ns);
/* From any thread. */
gni_return_t GNI_ExtRing(gni_nic_handle_t nic_hndl);

/* Every attaching is an incarnation, never 0: a process that was started again is another peer,
 * also where it took its predecessor's address and instance. */
gni_return_t GNI_ExtIncarnation(gni_nic_handle_t nic_hndl, uint64_t *incarnation);
typedef enum gni_ext_peer_state {
    GNI_EXT_PEER_ALIVE = 0,
    GNI_EXT_PEER_STOPPED = 1,
    GNI_EXT_PEER_DEAD = 2 /* or never there, or of another tag or cookie: incarnation 0 */
} gni_ext_peer_state_t;
gni_return_t GNI_ExtPeerState(gni_nic_handle_t nic_hndl, uint32_t remote_addr, uint32_t remote_id,
                              gni_ext_peer_state_t *state, uint64_t *incarnation);
/* Operations of this NIC handle towards the peer go to this incarnation only, and fail as
 * unreachable when it is gone; 0 undoes it. */
gni_return_t GNI_ExtPeerPin(gni_nic_handle_t nic_hndl, uint32_t remote_addr, uint32_t remote_id,
                            uint64_t incarnation);
/* Lets go of what is held of the peer: its mapping, the slot taken in it, the pin. */
gni_return_t GNI_ExtPeerForget(gni_nic_handle_t nic_hndl, uint32_t remote_addr, uint32_t remote_id);

/* Why the last call of this thread that failed did so; never NULL. */
const char *GNI_ExtError(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
