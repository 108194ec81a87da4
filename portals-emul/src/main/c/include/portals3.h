/*
 * Portals 3.3 message passing interface, emulated over a software network card.
 *
 * Source compatible with programs written for Portals 3.3. Two flavours:
 *   REF   the published documents and the reference implementation (default)
 *   CRAY  what programs written for the Cray XT expect; chosen by -DPTL3_FLAVOR_CRAY or by
 *         including <portals/portals3.h>. The flavour is recorded per interface at PtlNIInit.
 * One library serves both. Numeric values are this emulation's own: programs must be compiled
 * against this header. All functions are thread-safe; none blocks except PtlEQWait and PtlEQPoll.
 */
#ifndef PORTALS3_H
#define PORTALS3_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scalar types ---- */

typedef uint64_t ptl_size_t;
typedef uint32_t ptl_handle_any_t;
typedef ptl_handle_any_t ptl_handle_ni_t;
typedef ptl_handle_any_t ptl_handle_eq_t;
typedef ptl_handle_any_t ptl_handle_me_t;
typedef ptl_handle_any_t ptl_handle_md_t;
typedef uint32_t ptl_pt_index_t;
typedef uint32_t ptl_ac_index_t;
typedef uint64_t ptl_match_bits_t;
typedef uint64_t ptl_hdr_data_t;
typedef uint32_t ptl_interface_t;
typedef uint32_t ptl_nid_t;
/* Valid process ids are 1..0xFFFE in both flavours; the library looks at the low 16 bits only. */
#ifdef PTL3_FLAVOR_CRAY
typedef uint16_t ptl_pid_t;
#else
typedef uint32_t ptl_pid_t;
#endif
typedef uint32_t ptl_uid_t;
typedef uint32_t ptl_jid_t;
typedef uint32_t ptl_sr_index_t;
typedef uint64_t ptl_sr_value_t;
typedef uint32_t ptl_seq_t;
typedef uint32_t ptl_ni_fail_t;
typedef uint32_t ptl_time_t; /* milliseconds */

/* ---- special values ---- */

#define PTL_INVALID_HANDLE ((ptl_handle_any_t)0xffffffffu)
#define PTL_HANDLE_NONE ((ptl_handle_any_t)0x7fffffffu)
#define PTL_EQ_NONE ((ptl_handle_eq_t)0xbfffffffu)
#define PTL_NID_ANY ((ptl_nid_t)-1)
#define PTL_PID_ANY ((ptl_pid_t)-1)
#define PTL_UID_ANY ((ptl_uid_t)-1)
#define PTL_JID_ANY ((ptl_jid_t)-1)
#define PTL_PT_INDEX_ANY ((ptl_pt_index_t)-1)
#define PTL_MD_THRESH_INF (-1)
#define PTL_TIME_FOREVER ((ptl_time_t)-1)
#define PTL_NI_OK 0
#define PTL_NI_FAIL 1

/* Every accepted interface name selects the one emulated interface. */
#ifndef PTL_IFACE_DEFAULT
#define PTL_IFACE_DEFAULT ((ptl_interface_t)-1)
#endif
#ifdef PTL3_FLAVOR_CRAY
#define PTL_BRIDGE_QK 1
#define PTL_BRIDGE_UK 2
#define PTL_IFACE_SS 1
#define IFACE_FROM_BRIDGE_AND_NALID(bridge, nal) ((ptl_interface_t)(((bridge) << 16) | (nal)))
#define CRAY_USER_NAL IFACE_FROM_BRIDGE_AND_NALID(PTL_BRIDGE_QK, PTL_IFACE_SS)
#define CRAY_QK_NAL IFACE_FROM_BRIDGE_AND_NALID(PTL_BRIDGE_QK, PTL_IFACE_SS)
#define CRAY_UK_SSNAL IFACE_FROM_BRIDGE_AND_NALID(PTL_BRIDGE_UK, PTL_IFACE_SS)
#define CRAY_ACCEL IFACE_FROM_BRIDGE_AND_NALID(PTL_BRIDGE_QK, PTL_IFACE_SS)
#endif

/* ---- enumerations ---- */

typedef enum { PTL_RETAIN = 0, PTL_UNLINK } ptl_unlink_t;
typedef enum { PTL_INS_BEFORE = 0, PTL_INS_AFTER } ptl_ins_pos_t;

#ifdef PTL3_FLAVOR_CRAY
typedef enum { PTL_ACK_REQ = 0, PTL_NOACK_REQ } ptl_ack_req_t;
#ifndef PTL_NO_ACK_REQ
#define PTL_NO_ACK_REQ PTL_NOACK_REQ
#endif
#else
typedef enum { PTL_ACK_REQ = 0, PTL_NO_ACK_REQ, PTL_NOACK_REQ = 1 } ptl_ack_req_t;
#endif

typedef enum {
    PTL_EVENT_GET_START = 0,
    PTL_EVENT_GET_END,
    PTL_EVENT_PUT_START,
    PTL_EVENT_PUT_END,
    PTL_EVENT_GETPUT_START,
    PTL_EVENT_GETPUT_END,
    PTL_EVENT_REPLY_START,
    PTL_EVENT_REPLY_END,
    PTL_EVENT_SEND_START,
    PTL_EVENT_SEND_END,
    PTL_EVENT_ACK,
    PTL_EVENT_UNLINK
} ptl_event_kind_t;

/* Return codes. PTL_MAX_ERRNO ends the reference implementation's list. */
enum ptl_return_code {
    PTL_OK = 0,
    PTL_AC_INDEX_INVALID,
    PTL_EQ_DROPPED,
    PTL_EQ_EMPTY,
    PTL_EQ_INVALID,
    PTL_FAIL,
    PTL_HANDLE_INVALID,
    PTL_IFACE_INVALID,
    PTL_MD_ILLEGAL,
    PTL_MD_INVALID,
    PTL_MD_IN_USE,
    PTL_MD_NO_UPDATE,
    PTL_ME_INVALID,
    PTL_ME_IN_USE,
    PTL_ME_LIST_TOO_LONG,
    PTL_NI_INVALID,
    PTL_NO_INIT,
    PTL_NO_SPACE,
    PTL_PID_INVALID,
    PTL_PROCESS_INVALID,
    PTL_PT_FULL,
    PTL_PT_INDEX_INVALID,
    PTL_SEGV,
    PTL_SR_INDEX_INVALID,
    PTL_UNKNOWN_ERROR,
    PTL_MAX_ERRNO
};
#ifdef PTL3_FLAVOR_CRAY
/* A second PtlNIInit of an open interface: success, with a usable handle. */
#define PTL_IFACE_DUP 26
#define PTL_EQ_IN_USE 27
#define PTL_IOV_INVALID 28
#else
typedef enum ptl_return_code ptl_err_t;
#endif

/* ---- memory descriptor options ---- */

#define PTL_MD_OP_PUT 0x0001u
#define PTL_MD_OP_GET 0x0002u
#define PTL_MD_MANAGE_REMOTE 0x0004u
#define PTL_MD_TRUNCATE 0x0008u
#define PTL_MD_ACK_DISABLE 0x0010u
#define PTL_MD_IOVEC 0x0020u
#define PTL_MD_MAX_SIZE 0x0040u
#define PTL_MD_EVENT_START_DISABLE 0x0080u
#define PTL_MD_EVENT_END_DISABLE 0x0100u
#ifdef PTL3_FLAVOR_CRAY
#define PTL_MD_EVENT_AUTO_UNLINK_ENABLE 0x0200u
#define PTL_MD_EVENT_MANUAL_UNLINK_ENABLE 0x0400u
#define PTL_MD_FLAG_AUTO_UNLINK 0x0800u
#define PTL_MD_LUSTRE_COMPLETION_SEMANTICS 0u
#define PTL_MD_PHYS 0u
#define PTL_MD_LOCAL_ALIGN8 0u
#endif

/* ---- status registers ---- */

#define PTL_SR_DROP_COUNT 0
#define PTL_SR_DROP_LENGTH 1
#define PTL_SR_RECV_COUNT 2
#define PTL_SR_RECV_LENGTH 3
#define PTL_SR_SEND_COUNT 4
#define PTL_SR_SEND_LENGTH 5
#define PTL_SR_MES_MAX 14
#define PTL_SR_MES_CUR 15
#define PTL_SR_MDS_MAX 18
#define PTL_SR_MDS_CUR 19
#define PTL_SR_EQS_MAX 22
#define PTL_SR_EQS_CUR 23

/* ---- structures (the order of fields is part of the interface) ---- */

typedef struct {
    ptl_nid_t nid;
    ptl_pid_t pid;
} ptl_process_id_t;

typedef struct {
    void *iov_base;
    ptl_size_t iov_len;
} ptl_md_iovec_t;

typedef struct {
    void *start;
    ptl_size_t length; /* bytes, or number of segments with PTL_MD_IOVEC */
    int threshold;
    ptl_size_t max_size;
    unsigned int options;
    void *user_ptr;
    ptl_handle_eq_t eq_handle;
} ptl_md_t;

typedef struct {
    int max_mes;
    int max_mds;
    int max_eqs;
    int max_ac_index; /* largest valid index */
    int max_pt_index; /* largest valid index */
    int max_md_iovecs;
    int max_me_list;
    int max_getput_md;
} ptl_ni_limits_t;

typedef struct {
    ptl_event_kind_t type;
    ptl_process_id_t initiator;
    ptl_uid_t uid;
    ptl_jid_t jid;
    ptl_pt_index_t pt_index;
    ptl_match_bits_t match_bits;
    ptl_size_t rlength;
    ptl_size_t mlength;
    ptl_size_t offset;
    ptl_handle_md_t md_handle;
    ptl_md_t md;
    ptl_hdr_data_t hdr_data;
    ptl_seq_t link;
    ptl_ni_fail_t ni_fail_type;
    volatile ptl_seq_t sequence;
} ptl_event_t;

typedef void (*ptl_eq_handler_t)(ptl_event_t *event);
#ifndef PTL3_FLAVOR_CRAY
#ifndef PTL_EQ_HANDLER_NONE
#define PTL_EQ_HANDLER_NONE ((ptl_eq_handler_t)0)
#endif
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- library and interface ---- */

int PtlInit(int *max_interfaces);
void PtlFini(void);
#ifdef PTL3_FLAVOR_CRAY
/* The same call under another symbol, so that the library learns the flavour. */
int PtlNIInit(ptl_interface_t iface, ptl_pid_t pid, ptl_ni_limits_t *desired,
              ptl_ni_limits_t *actual, ptl_handle_ni_t *ni_handle) __asm__("PtlNIInit_cray");
#else
int PtlNIInit(ptl_interface_t iface, ptl_pid_t pid, ptl_ni_limits_t *desired,
              ptl_ni_limits_t *actual, ptl_handle_ni_t *ni_handle);
#endif
int PtlNIFini(ptl_handle_ni_t ni_handle);
int PtlNIStatus(ptl_handle_ni_t ni_handle, ptl_sr_index_t register_index, ptl_sr_value_t *status);
int PtlNIDist(ptl_handle_ni_t ni_handle, ptl_process_id_t process, unsigned long *distance);
int PtlNIHandle(ptl_handle_any_t handle, ptl_handle_ni_t *ni_handle);
int PtlGetUid(ptl_handle_ni_t ni_handle, ptl_uid_t *uid);
int PtlGetId(ptl_handle_ni_t ni_handle, ptl_process_id_t *id);
int PtlGetJid(ptl_handle_ni_t ni_handle, ptl_jid_t *jid);
#ifndef PtlHandleIsEqual
#define PtlHandleIsEqual(a, b) ((a) == (b))
#endif

/* ---- match entries ---- */

int PtlMEAttach(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, ptl_process_id_t match_id,
                ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t unlink,
                ptl_ins_pos_t position, ptl_handle_me_t *me_handle);
int PtlMEAttachAny(ptl_handle_ni_t ni_handle, ptl_pt_index_t *pt_index, ptl_process_id_t match_id,
                   ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t unlink,
                   ptl_handle_me_t *me_handle);
int PtlMEInsert(ptl_handle_me_t base, ptl_process_id_t match_id, ptl_match_bits_t match_bits,
                ptl_match_bits_t ignore_bits, ptl_unlink_t unlink, ptl_ins_pos_t position,
                ptl_handle_me_t *me_handle);
int PtlMEUnlink(ptl_handle_me_t me_handle);

/* ---- memory descriptors ---- */

int PtlMDAttach(ptl_handle_me_t me_handle, ptl_md_t md, ptl_unlink_t unlink_op,
                ptl_handle_md_t *md_handle);
int PtlMDBind(ptl_handle_ni_t ni_handle, ptl_md_t md, ptl_unlink_t unlink_op,
              ptl_handle_md_t *md_handle);
int PtlMDUnlink(ptl_handle_md_t md_handle);
int PtlMDUpdate(ptl_handle_md_t md_handle, ptl_md_t *old_md, ptl_md_t *new_md,
                ptl_handle_eq_t eq_handle);

/* ---- event queues ---- */

int PtlEQAlloc(ptl_handle_ni_t ni_handle, ptl_size_t count, ptl_eq_handler_t eq_handler,
               ptl_handle_eq_t *eq_handle);
int PtlEQFree(ptl_handle_eq_t eq_handle);
int PtlEQGet(ptl_handle_eq_t eq_handle, ptl_event_t *event);
int PtlEQWait(ptl_handle_eq_t eq_handle, ptl_event_t *event);
int PtlEQPoll(ptl_handle_eq_t *eq_handles, int size, ptl_time_t timeout, ptl_event_t *event,
              int *which_eq);

/* ---- access control ---- */

int PtlACEntry(ptl_handle_ni_t ni_handle, ptl_ac_index_t ac_index, ptl_process_id_t match_id,
               ptl_uid_t user_id, ptl_jid_t job_id, ptl_pt_index_t pt_index);

/* ---- data movement ---- */

int PtlPut(ptl_handle_md_t md_handle, ptl_ack_req_t ack_req, ptl_process_id_t target_id,
           ptl_pt_index_t pt_index, ptl_ac_index_t ac_index, ptl_match_bits_t match_bits,
           ptl_size_t remote_offset, ptl_hdr_data_t hdr_data);
int PtlPutRegion(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                 ptl_ack_req_t ack_req, ptl_process_id_t target_id, ptl_pt_index_t pt_index,
                 ptl_ac_index_t ac_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
                 ptl_hdr_data_t hdr_data);
int PtlGet(ptl_handle_md_t md_handle, ptl_process_id_t target_id, ptl_pt_index_t pt_index,
           ptl_ac_index_t ac_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset);
int PtlGetRegion(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                 ptl_process_id_t target_id, ptl_pt_index_t pt_index, ptl_ac_index_t ac_index,
                 ptl_match_bits_t match_bits, ptl_size_t remote_offset);
int PtlGetPut(ptl_handle_md_t get_md_handle, ptl_handle_md_t put_md_handle,
              ptl_process_id_t target_id, ptl_pt_index_t pt_index, ptl_ac_index_t ac_index,
              ptl_match_bits_t match_bits, ptl_size_t remote_offset, ptl_hdr_data_t hdr_data);

/* ---- Cray's additions ---- */

#ifdef PTL3_FLAVOR_CRAY
int PtlGetPutRegion(ptl_handle_md_t get_md_handle, ptl_size_t local_offset_get,
                    ptl_handle_md_t put_md_handle, ptl_size_t local_offset_put, ptl_size_t length,
                    ptl_process_id_t target_id, ptl_pt_index_t pt_index, ptl_ac_index_t ac_index,
                    ptl_match_bits_t match_bits, ptl_size_t remote_offset, ptl_hdr_data_t hdr_data);
int PtlMEMDAttach(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, ptl_process_id_t match_id,
                  ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t me_unlink,
                  ptl_ins_pos_t position, ptl_md_t md, ptl_unlink_t md_unlink,
                  ptl_handle_me_t *me_handle, ptl_handle_md_t *md_handle);
/* The argument list of PtlMEMDInsert is by analogy; no program that calls it was found. */
int PtlMEMDInsert(ptl_handle_me_t base, ptl_process_id_t match_id, ptl_match_bits_t match_bits,
                  ptl_match_bits_t ignore_bits, ptl_unlink_t me_unlink, ptl_ins_pos_t position,
                  ptl_md_t md, ptl_unlink_t md_unlink, ptl_handle_me_t *me_handle,
                  ptl_handle_md_t *md_handle);
int PtlMEMDPost(ptl_handle_ni_t ni_handle, ptl_handle_me_t base, ptl_process_id_t match_id,
                ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t me_unlink,
                ptl_ins_pos_t position, ptl_md_t md, ptl_unlink_t md_unlink,
                ptl_handle_me_t *me_handle, ptl_handle_md_t *md_handle, ptl_handle_eq_t testeq);
int PtlEQPeek(ptl_handle_eq_t eq_handle, ptl_event_t *event);
#else
const char *PtlErrorStr(unsigned code);
const char *PtlNIFailStr(ptl_handle_ni_t ni_handle, ptl_ni_fail_t fail);
const char *PtlEventKindStr(ptl_event_kind_t kind);
#endif

/* ---- names that programs expect beside the document ---- */

extern const char *ptl_err_str[];
extern const char *ptl_event_str[];
#define PTL_DEBUG_ALL 0xffffffffu
unsigned PtlNIDebug(ptl_handle_ni_t ni_handle, unsigned mask);
/* The initiator does all the work: nothing is left to progress. Returns PTL_OK. */
int PtlProgress(ptl_handle_any_t handle, ptl_time_t timeout);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
