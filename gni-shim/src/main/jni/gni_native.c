/* uGNI calls with flat arguments: domains, devices, endpoints, datagrams. */
#include "gni_call.h"

const char *vgn_error(void)
{
    return vgn.GNI_ExtError != NULL ? vgn.GNI_ExtError() : "";
}

/* ---- domains, devices ---- */

MAKES(vgn_cdm_create, (uint32_t inst, uint32_t ptag, uint32_t cookie, uint32_t modes),
      gni_cdm_handle_t, CALL(GNI_CdmCreate, inst, (uint8_t)ptag, cookie, modes, &value))
DOES(vgn_cdm_destroy, (uint64_t cdm), CALL(GNI_CdmDestroy, HANDLE(gni_cdm_handle_t, cdm)))
MAKES(vgn_cdm_attach, (uint64_t cdm, uint32_t device, uint64_t address), gni_nic_handle_t,
      CALL(GNI_CdmAttach, HANDLE(gni_cdm_handle_t, cdm), device, AT(uint32_t, address), &value))

int64_t vgn_nic_address(uint32_t device)
{
    uint32_t address = 0, cpu = 0;
    int32_t code = CALL(GNI_CdmGetNicAddress, device, &address, &cpu);

    return number(code, address);
}

TELLS(vgn_device_count, (void), int, CALL(GNI_GetNumLocalDevices, &value))
TELLS(vgn_device_type, (void), gni_nic_device_t, CALL(GNI_GetDeviceType, &value))
TELLS(vgn_version, (void), uint32_t, CALL(GNI_GetVersion, &value))
TELLS(vgn_ptag, (uint32_t device, uint32_t cookie), uint8_t,
      CALL(GNI_GetPtag, device, cookie, &value))
DOES(vgn_device_resource, (uint32_t device, uint32_t resource, uint64_t words),
     CALL(GNI_GetDevResInfo, device, (gni_dev_res_t)resource, AT(gni_dev_res_desc_t, words)))
TELLS(vgn_statistic, (uint64_t nic, uint32_t statistic), uint32_t,
      CALL(GNI_GetNicStat, NIC(nic), (gni_statistic_t)statistic, &value))
DOES(vgn_statistic_reset, (uint64_t nic, uint32_t statistic),
     CALL(GNI_ResetNicStat, NIC(nic), (gni_statistic_t)statistic))

/* ---- endpoints, datagrams ---- */

MAKES(vgn_ep_create, (uint64_t nic, uint64_t cq), gni_ep_handle_t,
      CALL(GNI_EpCreate, NIC(nic), CQ(cq), &value))
DOES(vgn_ep_bind, (uint64_t ep, uint32_t address, uint32_t inst),
     CALL(GNI_EpBind, EP(ep), address, inst))
DOES(vgn_ep_unbind, (uint64_t ep), CALL(GNI_EpUnbind, EP(ep)))
DOES(vgn_ep_destroy, (uint64_t ep), CALL(GNI_EpDestroy, EP(ep)))
DOES(vgn_ep_event_data, (uint64_t ep, uint32_t local, uint32_t remote),
     CALL(GNI_EpSetEventData, EP(ep), local, remote))
DOES(vgn_ep_idle, (uint64_t ep), CALL(GNI_EpIdle, EP(ep)))
DOES(vgn_data_post, (uint64_t ep, uint64_t in, uint32_t length, uint64_t out, uint32_t size),
     CALL(GNI_EpPostData, EP(ep), AT(void, in), (uint16_t)length, AT(void, out), (uint16_t)size))
DOES(vgn_data_post_id,
     (uint64_t ep, uint64_t in, uint32_t length, uint64_t out, uint32_t size, uint64_t id),
     CALL(GNI_EpPostDataWId, EP(ep), AT(void, in), (uint16_t)length, AT(void, out), (uint16_t)size,
          id))

/* The state of an exchange; `words` gets the address and the instance of its peer. */
#define STATE(name, parameters, call)                                                              \
    int32_t name parameters                                                                        \
    {                                                                                              \
        gni_post_state_t state = GNI_POST_PENDING;                                                 \
        uint32_t *peer = AT(uint32_t, words);                                                      \
        int32_t code = (call);                                                                     \
                                                                                                   \
        return code == GNI_RC_SUCCESS ? (int32_t)state : -code;                                    \
    }

STATE(vgn_data_test, (uint64_t ep, uint64_t words),
      CALL(GNI_EpPostDataTest, EP(ep), &state, &peer[0], &peer[1]))
STATE(vgn_data_test_id, (uint64_t ep, uint64_t id, uint64_t words),
      CALL(GNI_EpPostDataTestById, EP(ep), id, &state, &peer[0], &peer[1]))
STATE(vgn_data_wait, (uint64_t ep, uint32_t timeout_ms, uint64_t words),
      CALL(GNI_EpPostDataWait, EP(ep), timeout_ms, &state, &peer[0], &peer[1]))
STATE(vgn_data_wait_id, (uint64_t ep, uint64_t id, uint32_t timeout_ms, uint64_t words),
      CALL(GNI_EpPostDataWaitById, EP(ep), id, timeout_ms, &state, &peer[0], &peer[1]))

int32_t vgn_data_probe(uint64_t nic, uint64_t words)
{
    uint32_t *peer = AT(uint32_t, words);

    return -CALL(GNI_PostDataProbe, NIC(nic), &peer[0], &peer[1]);
}

DOES(vgn_data_probe_id, (uint64_t nic, uint64_t id),
     CALL(GNI_PostDataProbeById, NIC(nic), AT(uint64_t, id)))
DOES(vgn_data_probe_wait_id, (uint64_t nic, uint32_t timeout_ms, uint64_t id),
     CALL(GNI_PostdataProbeWaitById, NIC(nic), timeout_ms, AT(uint64_t, id)))
DOES(vgn_data_cancel, (uint64_t ep), CALL(GNI_EpPostDataCancel, EP(ep)))
DOES(vgn_data_cancel_id, (uint64_t ep, uint64_t id), CALL(GNI_EpPostDataCancelById, EP(ep), id))
