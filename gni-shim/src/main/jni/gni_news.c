/* Calls with flat arguments: error events, what gni_ext.h has, memory. */
#include "gni_call.h"

#include <stdlib.h>

/* ---- error events ---- */

#define ERRORS(value) HANDLE(gni_err_handle_t, value)

MAKES(vgn_errors_subscribe, (uint64_t nic, uint32_t device, uint32_t mask, uint32_t count),
      gni_err_handle_t,
      CALL(GNI_SubscribeErrors, NIC(nic), device, (gni_error_mask_t)mask, count, &value))
DOES(vgn_errors_release, (uint64_t errors), CALL(GNI_ReleaseErrors, ERRORS(errors)))
DOES(vgn_errors_get, (uint64_t errors, uint64_t event),
     CALL(GNI_GetErrorEvent, ERRORS(errors), AT(gni_error_event_t, event)))

int32_t vgn_errors_mask(uint64_t errors, uint32_t mask)
{
    gni_error_mask_t before = 0;
    int32_t code = CALL(GNI_SetErrorMask, ERRORS(errors), (gni_error_mask_t)mask, &before);

    return (int32_t)number(code, before);
}

/* ---- what only our own library has ---- */

MAKES(vgn_ext_alloc, (uint64_t nic, uint64_t length), void *,
      CALL(GNI_ExtMemAlloc, NIC(nic), length, &value))
DOES(vgn_ext_free, (uint64_t nic, uint64_t address),
     CALL(GNI_ExtMemFree, NIC(nic), AT(void, address)))
TELLS(vgn_ext_doorbell, (uint64_t nic), uint32_t, CALL(GNI_ExtDoorbell, NIC(nic), &value))
DOES(vgn_ext_wait, (uint64_t nic, uint32_t bell, int64_t timeout_ns),
     CALL(GNI_ExtWait, NIC(nic), bell, timeout_ns))
DOES(vgn_ext_ring, (uint64_t nic), CALL(GNI_ExtRing, NIC(nic)))
DOES(vgn_ext_incarnation, (uint64_t nic, uint64_t incarnation),
     CALL(GNI_ExtIncarnation, NIC(nic), AT(uint64_t, incarnation)))

int32_t vgn_ext_peer_state(uint64_t nic, uint32_t address, uint32_t inst, uint64_t incarnation)
{
    gni_ext_peer_state_t state = GNI_EXT_PEER_DEAD;
    int32_t code =
        CALL(GNI_ExtPeerState, NIC(nic), address, inst, &state, AT(uint64_t, incarnation));

    return code == GNI_RC_SUCCESS ? (int32_t)state : -code;
}

DOES(vgn_ext_peer_pin, (uint64_t nic, uint32_t address, uint32_t inst, uint64_t incarnation),
     CALL(GNI_ExtPeerPin, NIC(nic), address, inst, incarnation))
DOES(vgn_ext_peer_forget, (uint64_t nic, uint32_t address, uint32_t inst),
     CALL(GNI_ExtPeerForget, NIC(nic), address, inst))

/* ---- memory of the process ---- */

#define LINE 64u

int64_t vgn_memory_new(uint64_t bytes)
{
    uint64_t whole = (bytes + LINE - 1) & ~(uint64_t)(LINE - 1);
    void *memory = whole >= bytes ? aligned_alloc(LINE, whole) : NULL;

    if (memory == NULL)
        return -(int64_t)GNI_RC_ERROR_NOMEM;
    for (uint64_t i = 0; i < whole / 8; i++)
        ((uint64_t *)memory)[i] = 0;
    return (int64_t)(uintptr_t)memory;
}

void vgn_memory_delete(uint64_t address)
{
    free(AT(void, address));
}
