/* uGNI calls with flat arguments: domains, devices, endpoints, datagrams. */
#include "gni_call.h"

const char *vgn_error(void)
{
    return vgn.GNI_ExtError != NULL ? vgn.GNI_ExtError() : "";
}

/* ---- domains, devices ---- */

int64_t vgn_cdm_create(uint32_t inst, uint32_t ptag, uint32_t cookie, uint32_t modes)
{
    gni_cdm_handle_t cdm = NULL;
    int32_t code = CALL(GNI_CdmCreate, inst, (uint8_t)ptag, cookie, modes, &cdm);

    return result(code, cdm);
}

int32_t vgn_cdm_destroy(uint64_t cdm)
{
    return -CALL(GNI_CdmDestroy, HANDLE(gni_cdm_handle_t, cdm));
}

int64_t vgn_cdm_attach(uint64_t cdm, uint32_t device, uint64_t address)
{
    gni_nic_handle_t nic = NULL;
    int32_t code =
        CALL(GNI_CdmAttach, HANDLE(gni_cdm_handle_t, cdm), device, AT(uint32_t, address), &nic);

    return result(code, nic);
}

int64_t vgn_nic_address(uint32_t device)
{
    uint32_t address = 0, cpu = 0;
    int32_t code = CALL(GNI_CdmGetNicAddress, device, &address, &cpu);

    return number(code, address);
}

int64_t vgn_device_count(void)
{
    int count = 0;
    int32_t code = CALL(GNI_GetNumLocalDevices, &count);

    return number(code, (uint64_t)count);
}

int64_t vgn_device_type(void)
{
    gni_nic_device_t type = GNI_DEVICE_LAST;
    int32_t code = CALL(GNI_GetDeviceType, &type);

    return number(code, (uint64_t)type);
}

int64_t vgn_version(void)
{
    uint32_t version = 0;
    int32_t code = CALL(GNI_GetVersion, &version);

    return number(code, version);
}

int64_t vgn_ptag(uint32_t device, uint32_t cookie)
{
    uint8_t ptag = 0;
    int32_t code = CALL(GNI_GetPtag, device, cookie, &ptag);

    return number(code, ptag);
}

int32_t vgn_device_resource(uint32_t device, uint32_t resource, uint64_t words)
{
    return -CALL(GNI_GetDevResInfo, device, (gni_dev_res_t)resource, AT(gni_dev_res_desc_t, words));
}

int64_t vgn_statistic(uint64_t nic, uint32_t statistic)
{
    uint32_t value = 0;
    int32_t code = CALL(GNI_GetNicStat, NIC(nic), (gni_statistic_t)statistic, &value);

    return number(code, value);
}

int32_t vgn_statistic_reset(uint64_t nic, uint32_t statistic)
{
    return -CALL(GNI_ResetNicStat, NIC(nic), (gni_statistic_t)statistic);
}

/* ---- endpoints, datagrams ---- */

int64_t vgn_ep_create(uint64_t nic, uint64_t cq)
{
    gni_ep_handle_t ep = NULL;
    int32_t code = CALL(GNI_EpCreate, NIC(nic), CQ(cq), &ep);

    return result(code, ep);
}

int32_t vgn_ep_bind(uint64_t ep, uint32_t address, uint32_t inst)
{
    return -CALL(GNI_EpBind, EP(ep), address, inst);
}

int32_t vgn_ep_unbind(uint64_t ep)
{
    return -CALL(GNI_EpUnbind, EP(ep));
}

int32_t vgn_ep_destroy(uint64_t ep)
{
    return -CALL(GNI_EpDestroy, EP(ep));
}

int32_t vgn_ep_event_data(uint64_t ep, uint32_t local, uint32_t remote)
{
    return -CALL(GNI_EpSetEventData, EP(ep), local, remote);
}

int32_t vgn_ep_idle(uint64_t ep)
{
    return -CALL(GNI_EpIdle, EP(ep));
}

int32_t vgn_data_post(uint64_t ep, uint64_t in, uint32_t length, uint64_t out, uint32_t size)
{
    return -CALL(GNI_EpPostData, EP(ep), AT(void, in), (uint16_t)length, AT(void, out),
                 (uint16_t)size);
}

int32_t vgn_data_post_id(uint64_t ep, uint64_t in, uint32_t length, uint64_t out, uint32_t size,
                         uint64_t id)
{
    return -CALL(GNI_EpPostDataWId, EP(ep), AT(void, in), (uint16_t)length, AT(void, out),
                 (uint16_t)size, id);
}

static int32_t state_of(int32_t code, gni_post_state_t state)
{
    return code == GNI_RC_SUCCESS ? (int32_t)state : -code;
}

int32_t vgn_data_test(uint64_t ep, uint64_t words)
{
    gni_post_state_t state = GNI_POST_PENDING;
    uint32_t *peer = AT(uint32_t, words);
    int32_t code = CALL(GNI_EpPostDataTest, EP(ep), &state, &peer[0], &peer[1]);

    return state_of(code, state);
}

int32_t vgn_data_test_id(uint64_t ep, uint64_t id, uint64_t words)
{
    gni_post_state_t state = GNI_POST_PENDING;
    uint32_t *peer = AT(uint32_t, words);
    int32_t code = CALL(GNI_EpPostDataTestById, EP(ep), id, &state, &peer[0], &peer[1]);

    return state_of(code, state);
}

int32_t vgn_data_wait(uint64_t ep, uint32_t timeout_ms, uint64_t words)
{
    gni_post_state_t state = GNI_POST_PENDING;
    uint32_t *peer = AT(uint32_t, words);
    int32_t code = CALL(GNI_EpPostDataWait, EP(ep), timeout_ms, &state, &peer[0], &peer[1]);

    return state_of(code, state);
}

int32_t vgn_data_wait_id(uint64_t ep, uint64_t id, uint32_t timeout_ms, uint64_t words)
{
    gni_post_state_t state = GNI_POST_PENDING;
    uint32_t *peer = AT(uint32_t, words);
    int32_t code = CALL(GNI_EpPostDataWaitById, EP(ep), id, timeout_ms, &state, &peer[0], &peer[1]);

    return state_of(code, state);
}

int32_t vgn_data_probe(uint64_t nic, uint64_t words)
{
    uint32_t *peer = AT(uint32_t, words);

    return -CALL(GNI_PostDataProbe, NIC(nic), &peer[0], &peer[1]);
}

int32_t vgn_data_probe_id(uint64_t nic, uint64_t id)
{
    return -CALL(GNI_PostDataProbeById, NIC(nic), AT(uint64_t, id));
}

int32_t vgn_data_probe_wait_id(uint64_t nic, uint32_t timeout_ms, uint64_t id)
{
    return -CALL(GNI_PostdataProbeWaitById, NIC(nic), timeout_ms, AT(uint64_t, id));
}

int32_t vgn_data_cancel(uint64_t ep)
{
    return -CALL(GNI_EpPostDataCancel, EP(ep));
}

int32_t vgn_data_cancel_id(uint64_t ep, uint64_t id)
{
    return -CALL(GNI_EpPostDataCancelById, EP(ep), id);
}
