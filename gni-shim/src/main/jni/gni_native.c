/* uGNI calls with flat arguments, for Java. */
#include "gni_native.h"
#include "gni_functions.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- layouts ---- */

#define POST(field) offsetof(gni_post_descriptor_t, field)
#define SMSG(field) offsetof(gni_smsg_attr_t, field)
#define ERROR(field) offsetof(gni_error_event_t, field)
#define LAYOUT(X)                                                                                  \
    X(VGN_POST_BYTES, sizeof(gni_post_descriptor_t))                                               \
    X(VGN_POST_ID, POST(post_id))                                                                  \
    X(VGN_POST_STATUS, POST(status))                                                               \
    X(VGN_POST_COMPLETE, POST(cq_mode_complete))                                                   \
    X(VGN_POST_TYPE, POST(type))                                                                   \
    X(VGN_POST_CQ_MODE, POST(cq_mode))                                                             \
    X(VGN_POST_DLVR_MODE, POST(dlvr_mode))                                                         \
    X(VGN_POST_LOCAL_ADDR, POST(local_addr))                                                       \
    X(VGN_POST_LOCAL_HNDL, POST(local_mem_hndl))                                                   \
    X(VGN_POST_REMOTE_ADDR, POST(remote_addr))                                                     \
    X(VGN_POST_REMOTE_HNDL, POST(remote_mem_hndl))                                                 \
    X(VGN_POST_LENGTH, POST(length))                                                               \
    X(VGN_POST_RDMA_MODE, POST(rdma_mode))                                                         \
    X(VGN_POST_SRC_CQ, POST(src_cq_hndl))                                                          \
    X(VGN_POST_SYNC_VALUE, POST(sync_flag_value))                                                  \
    X(VGN_POST_SYNC_ADDR, POST(sync_flag_addr))                                                    \
    X(VGN_POST_AMO_CMD, POST(amo_cmd))                                                             \
    X(VGN_POST_FIRST, POST(first_operand))                                                         \
    X(VGN_POST_SECOND, POST(second_operand))                                                       \
    X(VGN_POST_CQWRITE, POST(cqwrite_value))                                                       \
    X(VGN_POST_CE_CMD, POST(ce_cmd))                                                               \
    X(VGN_POST_CE_MODE, POST(ce_mode))                                                             \
    X(VGN_POST_CE_ID, POST(ce_red_id))                                                             \
    X(VGN_SMSG_BYTES, sizeof(gni_smsg_attr_t))                                                     \
    X(VGN_SMSG_TYPE, SMSG(msg_type))                                                               \
    X(VGN_SMSG_BUFFER, SMSG(msg_buffer))                                                           \
    X(VGN_SMSG_SIZE, SMSG(buff_size))                                                              \
    X(VGN_SMSG_HNDL, SMSG(mem_hndl))                                                               \
    X(VGN_SMSG_OFFSET, SMSG(mbox_offset))                                                          \
    X(VGN_SMSG_CREDITS, SMSG(mbox_maxcredit))                                                      \
    X(VGN_SMSG_MAX, SMSG(msg_maxsize))                                                             \
    X(VGN_ERROR_BYTES, sizeof(gni_error_event_t))                                                  \
    X(VGN_ERROR_CODE, ERROR(error_code))                                                           \
    X(VGN_ERROR_CATEGORY, ERROR(error_category))                                                   \
    X(VGN_ERROR_PTAG, ERROR(ptag))                                                                 \
    X(VGN_ERROR_SERIAL, ERROR(serial_number))                                                      \
    X(VGN_ERROR_TIME, ERROR(timestamp))                                                            \
    X(VGN_ERROR_INFO, ERROR(info_mmrs))

#define SAME(name, value) _Static_assert(name == (value), #name);
LAYOUT(SAME)
#define ROW(name, value) {#name, (int64_t)(value)},
static const struct {
    const char *name;
    int64_t value;
} layout[] = {LAYOUT(ROW)};
#define ROWS ((int32_t)(sizeof(layout) / sizeof(*layout)))

const char *vgn_layout_name(int32_t row)
{
    return row >= 0 && row < ROWS ? layout[row].name : NULL;
}

int64_t vgn_layout_value(int32_t row)
{
    return row >= 0 && row < ROWS ? layout[row].value : -1;
}

/* ---- helpers ---- */

#define CALL(name, ...) (vgn.name != NULL ? (int32_t)vgn.name(__VA_ARGS__) : VGN_MISSING)
#define AT(type, address) ((type *)(uintptr_t)(address))
#define HANDLE(type, value) ((type)(uintptr_t)(value))
#define NIC(value) HANDLE(gni_nic_handle_t, value)
#define EP(value) HANDLE(gni_ep_handle_t, value)
#define CQ(value) HANDLE(gni_cq_handle_t, value)

static int64_t result(int32_t code, const void *handle)
{
    return code == GNI_RC_SUCCESS ? (int64_t)(uintptr_t)handle : -(int64_t)code;
}

static int64_t number(int32_t code, uint64_t value)
{
    return code == GNI_RC_SUCCESS ? (int64_t)(value & INT64_MAX) : -(int64_t)code;
}

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

int32_t vgn_device_ids(uint32_t count, uint64_t ids)
{
    return -CALL(GNI_GetLocalDeviceIds, (int)count, AT(int, ids));
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

int32_t vgn_job_resource(uint32_t device, uint32_t ptag, uint32_t resource, uint64_t words)
{
    return -CALL(GNI_GetJobResInfo, device, (uint8_t)ptag, (gni_job_res_t)resource,
                 AT(gni_job_res_desc_t, words));
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

/* ---- memory ---- */

#define NO_VMDH 0xffffffffu

int32_t vgn_mem_register(uint64_t nic, uint64_t address, uint64_t length, uint64_t cq,
                         uint32_t flags, uint64_t handle)
{
    return -CALL(GNI_MemRegister, NIC(nic), address, length, CQ(cq), flags, NO_VMDH,
                 AT(gni_mem_handle_t, handle));
}

int32_t vgn_mem_register_segments(uint64_t nic, uint64_t segments, uint32_t count, uint64_t cq,
                                  uint32_t flags, uint64_t handle)
{
    return -CALL(GNI_MemRegisterSegments, NIC(nic), AT(gni_mem_segment_t, segments), count, CQ(cq),
                 flags, NO_VMDH, AT(gni_mem_handle_t, handle));
}

int32_t vgn_mem_deregister(uint64_t nic, uint64_t handle)
{
    return -CALL(GNI_MemDeregister, NIC(nic), AT(gni_mem_handle_t, handle));
}

int32_t vgn_mem_attribute(uint64_t handle, uint32_t attribute)
{
    int yes = 0;
    int32_t code = CALL(GNI_MemHndlQueryAttr, AT(gni_mem_handle_t, handle),
                        (gni_mem_handle_attr_t)attribute, &yes);

    return (int32_t)number(code, yes != 0);
}

int32_t vgn_mem_next(uint64_t nic, uint64_t handle)
{
    uint64_t *words = AT(uint64_t, handle);

    return -CALL(GNI_MemQueryHndls, NIC(nic), 0, AT(gni_mem_handle_t, handle), &words[2],
                 &words[3]);
}

/* ---- completion queues ---- */

int64_t vgn_cq_create(uint64_t nic, uint32_t entries, uint32_t mode)
{
    gni_cq_handle_t cq = NULL;
    int32_t code = CALL(GNI_CqCreate, NIC(nic), entries, 0, mode, NULL, NULL, &cq);

    return result(code, cq);
}

int32_t vgn_cq_destroy(uint64_t cq)
{
    return -CALL(GNI_CqDestroy, CQ(cq));
}

int32_t vgn_cq_get(uint64_t cq, uint64_t entry)
{
    return -CALL(GNI_CqGetEvent, CQ(cq), AT(gni_cq_entry_t, entry));
}

int32_t vgn_cq_test(uint64_t cq)
{
    return -CALL(GNI_CqTestEvent, CQ(cq));
}

int32_t vgn_cq_wait(uint64_t cq, uint64_t timeout_ms, uint64_t entry)
{
    return -CALL(GNI_CqWaitEvent, CQ(cq), timeout_ms, AT(gni_cq_entry_t, entry));
}

int32_t vgn_cq_vector_wait(uint64_t cqs, uint32_t count, uint64_t timeout_ms, uint64_t entry,
                           uint64_t which)
{
    return -CALL(GNI_CqVectorWaitEvent, AT(gni_cq_handle_t, cqs), count, timeout_ms,
                 AT(gni_cq_entry_t, entry), AT(uint32_t, which));
}

int32_t vgn_cq_vector_monitor(uint64_t cqs, uint32_t count, uint64_t timeout_ms, uint64_t which)
{
    return -CALL(GNI_CqVectorMonitor, AT(gni_cq_handle_t, cqs), count, timeout_ms,
                 AT(uint32_t, which));
}

int32_t vgn_cq_error(uint64_t entry, uint64_t text, uint32_t size)
{
    return -CALL(GNI_CqErrorStr, entry, AT(void, text), size);
}

int32_t vgn_cq_recoverable(uint64_t entry)
{
    uint32_t recoverable = 0;
    int32_t code = CALL(GNI_CqErrorRecoverable, entry, &recoverable);

    return (int32_t)number(code, recoverable != 0);
}

int64_t vgn_cq_field(uint64_t entry, uint32_t field)
{
    uint64_t (*const read[])(gni_cq_entry_t) = {
        vgn.gni_cq_get_data,    vgn.gni_cq_get_source, vgn.gni_cq_get_status, vgn.gni_cq_get_type,
        vgn.gni_cq_get_inst_id, vgn.gni_cq_get_tid,    vgn.gni_cq_get_msg_id, vgn.gni_cq_overrun};

    if (field >= sizeof(read) / sizeof(*read) || read[field] == NULL)
        return -VGN_MISSING;
    return (int64_t)read[field](entry);
}

/* ---- posts ---- */

int32_t vgn_post_rdma(uint64_t ep, uint64_t post)
{
    return -CALL(GNI_PostRdma, EP(ep), AT(gni_post_descriptor_t, post));
}

int32_t vgn_post_fma(uint64_t ep, uint64_t post)
{
    return -CALL(GNI_PostFma, EP(ep), AT(gni_post_descriptor_t, post));
}

int32_t vgn_post_cqwrite(uint64_t ep, uint64_t post)
{
    return -CALL(GNI_PostCqWrite, EP(ep), AT(gni_post_descriptor_t, post));
}

int32_t vgn_completed(uint64_t cq, uint64_t entry, uint64_t post)
{
    gni_post_descriptor_t *descriptor = NULL;
    int32_t code = CALL(GNI_GetCompleted, CQ(cq), entry, &descriptor);

    *AT(uint64_t, post) = (uint64_t)(uintptr_t)descriptor;
    return -code;
}

/* ---- short messages ---- */

int64_t vgn_smsg_size(uint64_t attributes)
{
    unsigned int size = 0;
    int32_t code = CALL(GNI_SmsgBufferSizeNeeded, AT(gni_smsg_attr_t, attributes), &size);

    return number(code, size);
}

int32_t vgn_smsg_init(uint64_t ep, uint64_t local, uint64_t remote)
{
    return -CALL(GNI_SmsgInit, EP(ep), AT(gni_smsg_attr_t, local), AT(gni_smsg_attr_t, remote));
}

int32_t vgn_smsg_delivery(uint64_t nic, uint32_t mode)
{
    return -CALL(GNI_SmsgSetDeliveryMode, NIC(nic), (uint16_t)mode);
}

int32_t vgn_smsg_retransmissions(uint64_t nic, uint32_t count)
{
    return -CALL(GNI_SmsgSetMaxRetrans, NIC(nic), (uint16_t)count);
}

int32_t vgn_smsg_send(uint64_t ep, uint64_t header, uint32_t header_length, uint64_t data,
                      uint32_t data_length, uint32_t id, uint32_t tag)
{
    return -CALL(GNI_SmsgSendWTag, EP(ep), AT(void, header), header_length, AT(void, data),
                 data_length, id, (uint8_t)tag);
}

int32_t vgn_smsg_next(uint64_t ep, uint32_t tag, uint64_t words)
{
    uint8_t seen = (uint8_t)tag;
    void *message = NULL;
    int32_t code = CALL(GNI_SmsgGetNextWTag, EP(ep), &message, &seen);

    *AT(uint64_t, words) = (uint64_t)(uintptr_t)message;
    return code == GNI_RC_SUCCESS ? (int32_t)seen : -code;
}

int32_t vgn_smsg_release(uint64_t ep)
{
    return -CALL(GNI_SmsgRelease, EP(ep));
}

/* ---- error events, completion channels ---- */

#define ERRORS(value) HANDLE(gni_err_handle_t, value)
#define CHANNEL(value) HANDLE(gni_comp_chan_handle_t, value)

int64_t vgn_errors_subscribe(uint64_t nic, uint32_t device, uint32_t mask, uint32_t count)
{
    gni_err_handle_t errors = NULL;
    int32_t code =
        CALL(GNI_SubscribeErrors, NIC(nic), device, (gni_error_mask_t)mask, count, &errors);

    return result(code, errors);
}

int32_t vgn_errors_release(uint64_t errors)
{
    return -CALL(GNI_ReleaseErrors, ERRORS(errors));
}

int32_t vgn_errors_get(uint64_t errors, uint64_t event)
{
    return -CALL(GNI_GetErrorEvent, ERRORS(errors), AT(gni_error_event_t, event));
}

int32_t vgn_errors_mask(uint64_t errors, uint32_t mask)
{
    gni_error_mask_t before = 0;
    int32_t code = CALL(GNI_SetErrorMask, ERRORS(errors), (gni_error_mask_t)mask, &before);

    return (int32_t)number(code, before);
}

int64_t vgn_channel_create(uint64_t nic)
{
    gni_comp_chan_handle_t channel = NULL;
    int32_t code = CALL(GNI_CompChanCreate, NIC(nic), &channel);

    return result(code, channel);
}

int32_t vgn_channel_destroy(uint64_t channel)
{
    return -CALL(GNI_CompChanDestroy, CHANNEL(channel));
}

int32_t vgn_channel_fd(uint64_t channel)
{
    int fd = -1;
    int32_t code = CALL(GNI_CompChanFd, CHANNEL(channel), &fd);

    return (int32_t)number(code, (uint64_t)fd);
}

int64_t vgn_channel_event(uint64_t channel)
{
    gni_cq_handle_t cq = NULL;
    int32_t code = CALL(GNI_CompChanGetEvent, CHANNEL(channel), &cq);

    return result(code, cq);
}

int32_t vgn_channel_attach(uint64_t cq, uint64_t channel)
{
    return -CALL(GNI_CqAttachCompChan, CQ(cq), CHANNEL(channel));
}

int32_t vgn_channel_arm(uint64_t cqs, uint32_t count)
{
    return -CALL(GNI_CqArmCompChan, AT(gni_cq_handle_t, cqs), count);
}

/* ---- what only our own library has ---- */

int64_t vgn_ext_alloc(uint64_t nic, uint64_t length)
{
    void *address = NULL;
    int32_t code = CALL(GNI_ExtMemAlloc, NIC(nic), length, &address);

    return result(code, address);
}

int32_t vgn_ext_free(uint64_t nic, uint64_t address)
{
    return -CALL(GNI_ExtMemFree, NIC(nic), AT(void, address));
}

int64_t vgn_ext_doorbell(uint64_t nic)
{
    uint32_t bell = 0;
    int32_t code = CALL(GNI_ExtDoorbell, NIC(nic), &bell);

    return number(code, bell);
}

int32_t vgn_ext_wait(uint64_t nic, uint32_t bell, int64_t timeout_ns)
{
    return -CALL(GNI_ExtWait, NIC(nic), bell, timeout_ns);
}

int32_t vgn_ext_ring(uint64_t nic)
{
    return -CALL(GNI_ExtRing, NIC(nic));
}

int32_t vgn_ext_incarnation(uint64_t nic, uint64_t incarnation)
{
    return -CALL(GNI_ExtIncarnation, NIC(nic), AT(uint64_t, incarnation));
}

int32_t vgn_ext_peer_state(uint64_t nic, uint32_t address, uint32_t inst, uint64_t incarnation)
{
    gni_ext_peer_state_t state = GNI_EXT_PEER_DEAD;
    int32_t code =
        CALL(GNI_ExtPeerState, NIC(nic), address, inst, &state, AT(uint64_t, incarnation));

    return code == GNI_RC_SUCCESS ? (int32_t)state : -code;
}

int32_t vgn_ext_peer_pin(uint64_t nic, uint32_t address, uint32_t inst, uint64_t incarnation)
{
    return -CALL(GNI_ExtPeerPin, NIC(nic), address, inst, incarnation);
}

int32_t vgn_ext_peer_forget(uint64_t nic, uint32_t address, uint32_t inst)
{
    return -CALL(GNI_ExtPeerForget, NIC(nic), address, inst);
}

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
