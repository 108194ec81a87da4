/*
 * The functions that the calls with flat arguments use, as a table: filled with those that are
 * linked in, until another library is opened.
 */
#ifndef VERBENA_GNI_FUNCTIONS_H
#define VERBENA_GNI_FUNCTIONS_H

#include "gni_ext.h"

/* clang-format off */
#define VGN_STANDARD(X) \
    X(GNI_CdmCreate) X(GNI_CdmDestroy) X(GNI_CdmGetNicAddress) X(GNI_CdmAttach) X(GNI_GetPtag) \
    X(GNI_EpCreate) X(GNI_EpBind) X(GNI_EpUnbind) X(GNI_EpDestroy) X(GNI_EpSetEventData) \
    X(GNI_EpIdle) X(GNI_EpPostData) X(GNI_EpPostDataWId) X(GNI_EpPostDataTest) \
    X(GNI_EpPostDataTestById) X(GNI_EpPostDataWait) X(GNI_EpPostDataWaitById) \
    X(GNI_PostDataProbe) X(GNI_PostDataProbeById) X(GNI_PostdataProbeWaitById) \
    X(GNI_EpPostDataCancel) X(GNI_EpPostDataCancelById) \
    X(GNI_MemRegister) X(GNI_MemRegisterSegments) X(GNI_MemDeregister) X(GNI_MemHndlQueryAttr) \
    X(GNI_MemQueryHndls) \
    X(GNI_CqCreate) X(GNI_CqDestroy) X(GNI_CqGetEvent) X(GNI_CqTestEvent) X(GNI_CqWaitEvent) \
    X(GNI_CqVectorWaitEvent) X(GNI_CqVectorMonitor) X(GNI_CqErrorStr) X(GNI_CqErrorRecoverable) \
    X(gni_cq_get_data) X(gni_cq_get_source) X(gni_cq_get_status) X(gni_cq_get_type) \
    X(gni_cq_get_inst_id) X(gni_cq_get_tid) X(gni_cq_get_msg_id) X(gni_cq_overrun) \
    X(GNI_PostRdma) X(GNI_PostFma) X(GNI_PostCqWrite) X(GNI_GetCompleted) \
    X(GNI_SmsgBufferSizeNeeded) X(GNI_SmsgInit) X(GNI_SmsgSetDeliveryMode) \
    X(GNI_SmsgSetMaxRetrans) X(GNI_SmsgSendWTag) X(GNI_SmsgGetNextWTag) X(GNI_SmsgRelease) \
    X(GNI_SubscribeErrors) X(GNI_ReleaseErrors) X(GNI_GetErrorEvent) X(GNI_SetErrorMask) \
    X(GNI_GetNumLocalDevices) X(GNI_GetLocalDeviceIds) X(GNI_GetVersion) X(GNI_GetDeviceType) \
    X(GNI_GetDevResInfo) X(GNI_GetJobResInfo) X(GNI_GetNicStat) X(GNI_ResetNicStat) \
    X(GNI_CompChanCreate) X(GNI_CompChanDestroy) X(GNI_CompChanFd) X(GNI_CompChanGetEvent) \
    X(GNI_CqAttachCompChan) X(GNI_CqArmCompChan) \
    X(GNI_MsgqInit) X(GNI_MsgqRelease) X(GNI_MsgqIdle) X(GNI_MsgqGetConnAttrs) X(GNI_MsgqConnect) \
    X(GNI_MsgqConnRelease) X(GNI_MsgqSend) X(GNI_MsgqProgress) \
    X(GNI_CeCreate) X(GNI_CeGetId) X(GNI_EpSetCeAttr) X(GNI_CeConfigure) X(GNI_CeCheckResult) \
    X(GNI_CeDestroy)
/* Only our own library has these. */
#define VGN_EXTENSIONS(X) \
    X(GNI_ExtMemAlloc) X(GNI_ExtMemFree) X(GNI_ExtError) X(GNI_ExtDoorbell) X(GNI_ExtWait) \
    X(GNI_ExtRing) X(GNI_ExtIncarnation) X(GNI_ExtPeerState) X(GNI_ExtPeerPin) \
    X(GNI_ExtPeerForget)
/* clang-format on */
#define VGN_FUNCTIONS(X) VGN_STANDARD(X) VGN_EXTENSIONS(X)

#define VGN_POINTER(name) __typeof__(&name) name;
struct vgn_functions {
    VGN_FUNCTIONS(VGN_POINTER)
};
#undef VGN_POINTER

extern struct vgn_functions vgn;

#endif
