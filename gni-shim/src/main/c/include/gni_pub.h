/*
 * uGNI for programs written for Cray's Gemini and Aries networks, over a network card in software.
 * Names, values and layouts are those of the interface's revision 0x5d on x86-64; what each call
 * means here is in docs/ugni.md. Plain C89 with stdint.h; also C++.
 */
#ifndef _GNI_PUB_H_
#define _GNI_PUB_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* clang-format off */

#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif

/* ---- version ---- */

#define GNI_MAJOR_REV 0x00
#define GNI_MINOR_REV 0x5d
#define GNI_CODE_REV 0x0102
#define GNI_GET_MAJOR(value) (((value) >> 24) & 0xFF)
#define GNI_GET_MINOR(value) (((value) >> 16) & 0xFF)
#define GNI_GET_REV(value) ((value) & 0xFFFF)
#define GNI_VERSION_CHECK(major, minor, code) (((major) << 24) | ((minor) << 16) | (code))
#define GNI_VERSION GNI_VERSION_CHECK(GNI_MAJOR_REV, GNI_MINOR_REV, GNI_CODE_REV)
#define GNI_VERSION_FMA_SHARING 0x5b0000
#define GNI_VERSION_FMA_CHAIN_TRANSACTIONS 0x5d0000

/* ---- handles and scalars ---- */

typedef struct gni_nic *gni_nic_handle_t;
typedef struct gni_cdm *gni_cdm_handle_t;
typedef struct gni_ep *gni_ep_handle_t;
typedef struct gni_cq *gni_cq_handle_t;
typedef struct gni_err *gni_err_handle_t;
typedef struct gni_msgq *gni_msgq_handle_t;
typedef struct gni_ce *gni_ce_handle_t;
typedef struct gni_comp_chan *gni_comp_chan_handle_t;
typedef uint32_t gni_cq_mode_t;
typedef uint64_t gni_cq_entry_t;
typedef uint8_t gni_error_mask_t;
/* A message of a shared queue arrived; 0: stop for now. */
typedef int gni_msgq_rcv_cb_func(uint32_t snd_id, uint32_t snd_pe, void *msg, uint8_t msg_tag, void *cb_data);

/* What every call answers. */
typedef enum gni_return {
    GNI_RC_SUCCESS = 0,
    GNI_RC_NOT_DONE = 1,
    GNI_RC_INVALID_PARAM = 2,
    GNI_RC_ERROR_RESOURCE = 3,
    GNI_RC_TIMEOUT = 4,
    GNI_RC_PERMISSION_ERROR = 5,
    GNI_RC_DESCRIPTOR_ERROR = 6,
    GNI_RC_ALIGNMENT_ERROR = 7,
    GNI_RC_INVALID_STATE = 8,
    GNI_RC_NO_MATCH = 9,
    GNI_RC_SIZE_ERROR = 10,
    GNI_RC_TRANSACTION_ERROR = 11,
    GNI_RC_ILLEGAL_OP = 12,
    GNI_RC_ERROR_NOMEM = 13
} gni_return_t;
/* Names of the above, indexed by them. */
extern const char *gni_err_str[];

/* ---- protection tags, keys, cookies ---- */

#define GNI_PTAG_LND 1
#define GNI_PTAG_OFED 2
#define GNI_PTAG_USER_START 3
#define GNI_PTAG_LND_KNC 128
#define GNI_PTAG_USER_END 253
#define GNI_PTAG_HSNBOOT 254
#define GNI_PTAG_MAX 254
#define GNI_PTAG_LB 255
#define GNI_FIND_ALLOC_PTAG GNI_PTAG_LB
#define GNI_PKEY_INVALID 0
#define GNI_PKEY_LND 1
#define GNI_PKEY_OFED 2
#define GNI_PKEY_USER_START 128
#define GNI_PKEY_USER_END 65407
#define GNI_PKEY_HSNBOOT 65408
#define GNI_PKEY_MAX 65534
#define GNI_PKEY_LB 65535
#define GNI_COOKIE_PKEY_MASK 0xFFFF
#define GNI_COOKIE_PKEY_SHIFT 16
#define GNI_COOKIE_CBPS_MDD_MASK 0x7
#define GNI_COOKIE_CBPS_MDD_SHIFT 3
#define GNI_JOB_CREATE_COOKIE(pkey, cbps) (((uint32_t)(pkey) << GNI_COOKIE_PKEY_SHIFT) | (((cbps) & GNI_COOKIE_CBPS_MDD_MASK) << GNI_COOKIE_CBPS_MDD_SHIFT))

/* ---- communication domain modes ---- */

#define GNI_CDM_MODE_FORK_NOCOPY 0x00000001
#define GNI_CDM_MODE_FORK_FULLCOPY 0x00000002
#define GNI_CDM_MODE_FORK_PARTCOPY 0x00000004
#define GNI_CDM_MODE_ERR_NO_KILL 0x00000008
#define GNI_CDM_MODE_ERR_ALL_KILL 0x00000010
#define GNI_CDM_MODE_FAST_DATAGRAM_POLL 0x00000020
#define GNI_CDM_MODE_BTE_SINGLE_CHANNEL 0x00000040
#define GNI_CDM_MODE_USE_PCI_IOMMU 0x00000080
#define GNI_CDM_MODE_MDD_DEDICATED 0x00000100
#define GNI_CDM_MODE_MDD_SHARED 0x00000200
#define GNI_CDM_MODE_DUAL_EVENTS 0x00001000
#define GNI_CDM_MODE_DLA_ENABLE_FORWARDING 0x00004000
#define GNI_CDM_MODE_DLA_DISABLE_FORWARDING 0x00008000
#define GNI_CDM_MODE_FMA_DEDICATED 0x00010000
#define GNI_CDM_MODE_FMA_SHARED 0x00020000
#define GNI_CDM_MODE_CACHED_AMO_ENABLED 0x00040000
#define GNI_CDM_MODE_CQ_NIC_LOCAL_PLACEMENT 0x00080000
#define GNI_CDM_MODE_FLBTE_DISABLE 0x00100000
#define GNI_CDM_MODE_FMA_SMALL_WINDOW 0x00200000
#define GNI_CDM_MODE_MASK 0x0FFFFFFF
#define GNI_CDM_MODE_PRIV_RESERVED_1 0x10000000
#define GNI_CDM_MODE_PRIV_RESERVED_2 0x20000000
#define GNI_CDM_MODE_PRIV_RESERVED_3 0x40000000
#define GNI_CDM_MODE_PRIV_RESERVED_4 0x80000000
#define GNI_CDM_MODE_PRIV_MASK 0xF0000000

/* ---- memory registration flags ---- */

#define GNI_MEM_READWRITE 0x00000000
#define GNI_MEM_READ_ONLY 0x00000001
#define GNI_MEM_USE_VMDH 0x00000002
#define GNI_MEM_USE_GART 0x00000004
#define GNI_MEM_PHYS_CONT 0x00000008
#define GNI_MEM_PHYS_SEGMENTS 0x00000010
#define GNI_MEM_STRICT_PI_ORDERING 0x00000020
#define GNI_MEM_PI_FLUSH 0x00000040
#define GNI_MEM_MDD_CLONE 0x00000080
#define GNI_MEM_RELAXED_PI_ORDERING 0x00000100
#define GNI_MEM_RESERVE_REGION 0x00000200
#define GNI_MEM_UPDATE_REGION 0x00000400
#define GNI_MEM_MDD_SHARED 0x00000800
#define GNI_MEM_MDD_DEDICATED 0x00001000
#define GNI_MEM_PRIV_RESERVED_1 0x00100000
#define GNI_MEM_PRIV_RESERVED_2 0x00200000
#define GNI_MEM_PRIV_RESERVED_3 0x00400000
#define GNI_MEM_PRIV_RESERVED_4 0x00800000
#define GNI_MEM_PRIV_MASK 0x00F00000
#define GNI_MEM_CUDA 0x01000000
#define GNI_EXMEM_FLAGS(flags) ((flags) >> 24)
#define GNI_MEM_IS_EXTERNAL(flags) GNI_EXMEM_FLAGS(flags)

typedef enum gni_mem_handle_attr {
    GNI_MEMHNDL_ATTR_READONLY = 1,
    GNI_MEMHNDL_ATTR_VMDH = 2,
    GNI_MEMHNDL_ATTR_MRT = 3,
    GNI_MEMHNDL_ATTR_GART = 4,
    GNI_MEMHNDL_ATTR_IOMMU = 5,
    GNI_MEMHNDL_ATTR_PCI_IOMMU = 6,
    GNI_MEMHNDL_ATTR_CLONE = 7
} gni_mem_handle_attr_t;

/* ---- completion queue modes, event modes of a post, event types ---- */

#define GNI_CQ_NOBLOCK 0x00000000
#define GNI_CQ_BLOCKING 0x00000001
#define GNI_CQ_EMULATED 0x00000002
#define GNI_CQ_EMULATED_INVALID 0x00000003
#define GNI_CQ_PHYS_PAGES 0x00000004
#define GNI_CQ_UNMANAGED 0x00000008
#define GNI_CQ_NOAUTOFILL 0x00000010
#define GNI_CQ_IS_NON_BLOCKING(mode) (!((mode) & GNI_CQ_BLOCKING))
#define GNI_CQ_IS_BLOCKING(mode) ((mode) & GNI_CQ_BLOCKING)
#define GNI_CQ_IS_EMULATED(mode) ((mode) & GNI_CQ_EMULATED)
#define GNI_CQ_IS_NOT_EMULATED(mode) (!((mode) & GNI_CQ_EMULATED))
#define GNI_CQ_IS_INVALID_EMULATED(mode) (((mode) & GNI_CQ_EMULATED_INVALID) == GNI_CQ_EMULATED_INVALID)
#define GNI_CQ_USE_PHYS_PAGES(mode) ((mode) & GNI_CQ_PHYS_PAGES)
#define GNI_CQMODE_SILENT 0x0000
#define GNI_CQMODE_LOCAL_EVENT 0x0001
#define GNI_CQMODE_GLOBAL_EVENT 0x0002
#define GNI_CQMODE_REMOTE_EVENT 0x0004
#define GNI_CQMODE_DUAL_EVENTS (GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT)
#define GNI_CQ_EVENT_TYPE_POST 0x0ULL
#define GNI_CQ_EVENT_TYPE_SMSG 0x1ULL
#define GNI_CQ_EVENT_TYPE_DMAPP 0x2ULL
#define GNI_CQ_EVENT_TYPE_MSGQ 0x3ULL

/* ---- delivery, RDMA and collective modes of a post ---- */

#define GNI_DLVMODE_PERFORMANCE 0x0000
#define GNI_DLVMODE_NO_ADAPT 0x0001
#define GNI_DLVMODE_NO_HASH 0x0002
#define GNI_DLVMODE_NO_RADAPT 0x0004
#define GNI_DLVMODE_IN_ORDER (GNI_DLVMODE_NO_ADAPT | GNI_DLVMODE_NO_HASH)
#define GNI_DLVMODE_MNON_HASH GNI_DLVMODE_IN_ORDER
#define GNI_DLVMODE_NMIN_HASH 0x0008
#define GNI_DLVMODE_MIN_HASH 0x0010
#define GNI_DLVMODE_ADAPTIVE0 GNI_DLVMODE_PERFORMANCE
#define GNI_DLVMODE_ADAPTIVE1 0x0020
#define GNI_DLVMODE_ADAPTIVE2 0x0040
#define GNI_DLVMODE_ADAPTIVE3 0x0080
#define GNI_DLVMODE_ORDERED_TAIL 0x0100
#define GNI_RDMAMODE_PHYS_ADDR 0x0001
#define GNI_RDMAMODE_FENCE 0x0002
#define GNI_RDMAMODE_GETWC_DIS 0x0004
#define GNI_CEMODE_TWO_OP 0x01
#define GNI_CEMODE_FPE_OP_INVAL 0x02
#define GNI_CEMODE_FPE_OFLOW 0x04
#define GNI_CEMODE_FPE_UFLOW 0x08
#define GNI_CEMODE_FPE_PRECISION 0x10

typedef enum gni_post_type {
    GNI_POST_RDMA_PUT = 1,
    GNI_POST_RDMA_GET = 2,
    GNI_POST_FMA_PUT = 3,
    GNI_POST_FMA_PUT_W_SYNCFLAG = 4,
    GNI_POST_FMA_GET = 5,
    GNI_POST_AMO = 6,
    GNI_POST_CQWRITE = 7,
    GNI_POST_CE = 8,
    GNI_POST_FMA_GET_W_FLAG = 9,
    GNI_POST_AMO_W_FLAG = 10
} gni_post_type_t;

/* How far a datagram is. */
typedef enum gni_post_state {
    GNI_POST_PENDING = 0,
    GNI_POST_COMPLETED = 1,
    GNI_POST_ERROR = 2,
    GNI_POST_TIMEOUT = 3,
    GNI_POST_TERMINATED = 4,
    GNI_POST_REMOTE_DATA = 5
} gni_post_state_t;

/* ---- limits of messages and datagrams ---- */

#define GNI_FMA_FLAGGED_RESPONSE_SIZE 4
#define GNI_SMSG_ANY_TAG 0xFF
#define GNI_SMSG_MAX_SIZE 65535
#define FMA_SMSG_MAX_RETRANS_DEFAULT 10
#define GNI_DATAGRAM_MAXSIZE 128
#define GNI_MSGQ_MSG_SZ_MAX 128
#define GNI_MSGQ_NODE_INSTS_MAX 128
#define GNI_MSGQ_MODE_BLOCKING 0x01

typedef enum gni_smsg_type {
    GNI_SMSG_TYPE_INVALID = 0,
    GNI_SMSG_TYPE_MBOX = 1,
    GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT = 2
} gni_smsg_type_t;

/* ---- errors, jobs ---- */

#define GNI_ERRMASK_CORRECTABLE_MEMORY 1
#define GNI_ERRMASK_CRITICAL 2
#define GNI_ERRMASK_TRANSACTION 4
#define GNI_ERRMASK_ADDRESS_TRANSLATION 8
#define GNI_ERRMASK_TRANSIENT 16
#define GNI_ERRMASK_INFORMATIONAL 32
#define GNI_ERRMASK_DIAG_ONLY 64
#define GNI_ERRMASK_UNKNOWN_TRANSACTION 128
#define GNI_JOB_INVALID_LIMIT (-1)
#define GNI_JOB_CTRL_NTT_CLEANUP 0x01
#define GNI_JOB_CTRL_CE0_MASK 0x1
#define GNI_JOB_CTRL_CE1_MASK 0x2
#define GNI_JOB_CTRL_CE2_MASK 0x4
#define GNI_JOB_CTRL_CE3_MASK 0x8
#define GNI_JOB_CTRL_ALL_CE_MASK 0xF

typedef enum gni_nic_device {
    GNI_DEVICE_GEMINI = 0,
    GNI_DEVICE_ARIES = 1,
    GNI_DEVICE_PISCES = 2,
    GNI_DEVICE_LAST = 3
} gni_nic_device_t;

typedef enum gni_dev_res {
    GNI_DEV_RES_FIRST = 0,
    GNI_DEV_RES_MDD = 1,
    GNI_DEV_RES_MRT = 2,
    GNI_DEV_RES_CQ = 3,
    GNI_DEV_RES_FMA = 4,
    GNI_DEV_RES_CE = 5,
    GNI_DEV_RES_DLA = 6,
    GNI_DEV_RES_TCR = 7,
    GNI_DEV_RES_DVA = 8,
    GNI_DEV_RES_LAST = 9
} gni_dev_res_t;

typedef enum gni_job_res {
    GNI_JOB_RES_FIRST = 0,
    GNI_JOB_RES_MDD = 1,
    GNI_JOB_RES_MRT = 2,
    GNI_JOB_RES_IOMMU = 3,
    GNI_JOB_RES_GART = 4,
    GNI_JOB_RES_CQ = 5,
    GNI_JOB_RES_FMA = 6,
    GNI_JOB_RES_RDMA = 7,
    GNI_JOB_RES_CE = 8,
    GNI_JOB_RES_DLA = 9,
    GNI_JOB_RES_SFMA = 10,
    GNI_JOB_RES_DIRECT = 11,
    GNI_JOB_RES_PCI_IOMMU = 12,
    GNI_JOB_RES_NONVMDH = 13,
    GNI_JOB_RES_LAST = 14
} gni_job_res_t;

typedef enum gni_statistic {
    GNI_STAT_SMSG_BUFF_CREDITS_STALL = 0,
    GNI_STAT_SMSG_DLA_STALL,
    GNI_STAT_SMSG_MBOX_CREDITS_STALL,
    GNI_STAT_SMSG_REQ_STALL,
    GNI_STAT_SMSG_RETRANS_COUNT,
    GNI_STAT_SMSG_RETRANS_DLA_COUNT,
    GNI_STAT_SMSG_RETRANS_STALL,
#ifdef CRAY_CONFIG_GHAL_ARIES
    GNI_STAT_DLA_ALLOC_STATUS_STALL,
    GNI_STAT_DLA_ALLOC_STATUS_TIMEOUT,
    GNI_STAT_DLA_BLOCK_ORPHANED,
    GNI_STAT_DLA_BLOCK_RETRANS_COUNT,
    GNI_STAT_DLA_FREE_BLOCKS_STALL,
    GNI_STAT_DLA_FREE_FMAD_BLOCKS_STALL,
    GNI_STAT_DLA_HIGH_RETRANS_COUNT,
    GNI_STAT_DLA_OVERFLOW_RESEND,
    GNI_STAT_DLA_RETRANS_COUNT,
    GNI_STAT_DLA_TOTAL_RETRANS_COUNT,
    GNI_STAT_FLBTE_TXD_CORRUPT,
    GNI_STAT_FLBTE_TXD_NONE,
    GNI_STAT_FMA_LAUNCH_COUNT,
#endif
    GNI_STAT_MR_MULTI_PAGESIZE,
    GNI_NUM_STATS
} gni_statistic_t;
extern const char *gni_statistic_str[];

/* ---- balanced injection, version text ---- */

#define GNI_BI_FLAG_APPLY_NOW 0x1
#define GNI_BI_FLAG_APPLY_AFTER_THROTTLE 0x2
#define GNI_BI_FLAG_USE_DEFAULT_SETTINGS 0x4
#define GNI_BI_FLAG_VALUE_IS_NUM_ORB_ENTRIES 0x8
#define GNI_BI_INJECT_BW_MIN 0
#define GNI_BI_INJECT_BW_MAX 100
#define GNI_BI_INJECT_ORB_MIN 0
#define GNI_BI_INJECT_ORB_MAX 992
#define MAX_BUILD_STRING_LENGTH 80

typedef enum gni_ce_child {
    GNI_CE_CHILD_UNUSED = 0,
    GNI_CE_CHILD_VCE = 1,
    GNI_CE_CHILD_PE = 2
} gni_ce_child_t;

/* ---- collective engine ---- */

#define GNI_CE_MAX_CHILDREN 32
#define GNI_CE_MODE_ROUND_UP 0x1
#define GNI_CE_MODE_ROUND_DOWN 0x2
#define GNI_CE_MODE_ROUND_NEAR 0x4
#define GNI_CE_MODE_ROUND_ZERO 0x8
#define GNI_CE_MODE_CQE_ONCOMP 0x10
#define GNI_CE_MODE_CQE_ONERR 0x40
#define GNI_CE_MODE_RC_NMIN_HASH 0x80
#define GNI_CE_MODE_RC_MIN_HASH 0x100
#define GNI_CE_MODE_RC_MNON_HASH 0x200
#define GNI_CE_MODE_RC_ADAPT 0x400
#define GNI_CE_FPE_OP_INVAL 1
#define GNI_CE_FPE_OFLOW 2
#define GNI_CE_FPE_UFLOW 4
#define GNI_CE_FPE_PRECISION 8

typedef enum gni_ce_cmd_type {
    GNI_FMA_CE_AND_S = 0x00,
    GNI_FMA_CE_AND = 0x01,
    GNI_FMA_CE_OR_S = 0x02,
    GNI_FMA_CE_OR = 0x03,
    GNI_FMA_CE_XOR_S = 0x04,
    GNI_FMA_CE_XOR = 0x05,
    GNI_FMA_CE_IMIN_LIDX_S = 0x10,
    GNI_FMA_CE_IMIN_LIDX = 0x11,
    GNI_FMA_CE_IMAX_LIDX_S = 0x12,
    GNI_FMA_CE_IMAX_LIDX = 0x13,
    GNI_FMA_CE_IADD_S = 0x14,
    GNI_FMA_CE_IADD = 0x15,
    GNI_FMA_CE_FPMIN_LIDX_S = 0x18,
    GNI_FMA_CE_FPMIN_LIDX = 0x19,
    GNI_FMA_CE_FPMAX_LIDX_S = 0x1A,
    GNI_FMA_CE_FPMAX_LIDX = 0x1B,
    GNI_FMA_CE_FPADD_S = 0x1C,
    GNI_FMA_CE_FPADD = 0x1D,
    GNI_FMA_CE_IMIN_GIDX_S = 0x30,
    GNI_FMA_CE_IMIN_GIDX = 0x31,
    GNI_FMA_CE_IMAX_GIDX_S = 0x32,
    GNI_FMA_CE_IMAX_GIDX = 0x33,
    GNI_FMA_CE_FPMIN_GIDX_S = 0x38,
    GNI_FMA_CE_FPMIN_GIDX = 0x39,
    GNI_FMA_CE_FPMAX_GIDX_S = 0x3A,
    GNI_FMA_CE_FPMAX_GIDX = 0x3B
} gni_ce_cmd_type_t;

/* Atomic operations: first generation (64 bits), then the second (_S: 32 bits; _C: cached; F: fetching). */
typedef enum gni_fma_cmd_type {
    GNI_FMA_ATOMIC_FADD = 0x008,
    GNI_FMA_ATOMIC_ADD = 0x108,
    GNI_FMA_ATOMIC_FAND = 0x009,
    GNI_FMA_ATOMIC_AND = 0x109,
    GNI_FMA_ATOMIC_FOR = 0x00A,
    GNI_FMA_ATOMIC_OR = 0x10A,
    GNI_FMA_ATOMIC_FXOR = 0x00B,
    GNI_FMA_ATOMIC_XOR = 0x10B,
    GNI_FMA_ATOMIC_FAX = 0x00C,
    GNI_FMA_ATOMIC_AX = 0x10C,
    GNI_FMA_ATOMIC_CSWAP = 0x00D,
    GNI_FMA_ATOMIC_FADD_C = 0x018,
    GNI_FMA_ATOMIC_ADD_C = 0x118,
    GNI_FMA_ATOMIC_FAND_C = 0x019,
    GNI_FMA_ATOMIC_AND_C = 0x119,
    GNI_FMA_ATOMIC_FOR_C = 0x01A,
    GNI_FMA_ATOMIC_OR_C = 0x11A,
    GNI_FMA_ATOMIC_FXOR_C = 0x01B,
    GNI_FMA_ATOMIC_XOR_C = 0x11B,
    GNI_FMA_ATOMIC_FAX_C = 0x01C,
    GNI_FMA_ATOMIC_AX_C = 0x11C,
    GNI_FMA_ATOMIC_CSWAP_C = 0x01D,
    GNI_FMA_ATOMIC2_FAND = 0x041,
    GNI_FMA_ATOMIC2_FAND_S = 0x240,
    GNI_FMA_ATOMIC2_FAND_C = 0x061,
    GNI_FMA_ATOMIC2_FAND_SC = 0x260,
    GNI_FMA_ATOMIC2_AND = 0x141,
    GNI_FMA_ATOMIC2_AND_S = 0x340,
    GNI_FMA_ATOMIC2_AND_C = 0x161,
    GNI_FMA_ATOMIC2_AND_SC = 0x360,
    GNI_FMA_ATOMIC2_FOR = 0x043,
    GNI_FMA_ATOMIC2_FOR_S = 0x242,
    GNI_FMA_ATOMIC2_FOR_C = 0x063,
    GNI_FMA_ATOMIC2_FOR_SC = 0x262,
    GNI_FMA_ATOMIC2_OR = 0x143,
    GNI_FMA_ATOMIC2_OR_S = 0x342,
    GNI_FMA_ATOMIC2_OR_C = 0x163,
    GNI_FMA_ATOMIC2_OR_SC = 0x362,
    GNI_FMA_ATOMIC2_FXOR = 0x045,
    GNI_FMA_ATOMIC2_FXOR_S = 0x244,
    GNI_FMA_ATOMIC2_FXOR_C = 0x065,
    GNI_FMA_ATOMIC2_FXOR_SC = 0x264,
    GNI_FMA_ATOMIC2_XOR = 0x145,
    GNI_FMA_ATOMIC2_XOR_S = 0x344,
    GNI_FMA_ATOMIC2_XOR_C = 0x165,
    GNI_FMA_ATOMIC2_XOR_SC = 0x364,
    GNI_FMA_ATOMIC2_FSWAP = 0x047,
    GNI_FMA_ATOMIC2_FSWAP_S = 0x246,
    GNI_FMA_ATOMIC2_FSWAP_C = 0x067,
    GNI_FMA_ATOMIC2_FSWAP_SC = 0x266,
    GNI_FMA_ATOMIC2_SWAP = 0x147,
    GNI_FMA_ATOMIC2_SWAP_S = 0x346,
    GNI_FMA_ATOMIC2_SWAP_C = 0x167,
    GNI_FMA_ATOMIC2_SWAP_SC = 0x366,
    GNI_FMA_ATOMIC2_FAX = 0x049,
    GNI_FMA_ATOMIC2_FAX_S = 0x248,
    GNI_FMA_ATOMIC2_FAX_C = 0x069,
    GNI_FMA_ATOMIC2_FAX_SC = 0x268,
    GNI_FMA_ATOMIC2_AX = 0x149,
    GNI_FMA_ATOMIC2_AX_S = 0x348,
    GNI_FMA_ATOMIC2_AX_C = 0x169,
    GNI_FMA_ATOMIC2_AX_SC = 0x368,
    GNI_FMA_ATOMIC2_FCSWAP = 0x04B,
    GNI_FMA_ATOMIC2_FCSWAP_S = 0x24A,
    GNI_FMA_ATOMIC2_FCSWAP_C = 0x06B,
    GNI_FMA_ATOMIC2_FCSWAP_SC = 0x26A,
    GNI_FMA_ATOMIC2_CSWAP = 0x14B,
    GNI_FMA_ATOMIC2_CSWAP_S = 0x34A,
    GNI_FMA_ATOMIC2_CSWAP_C = 0x16B,
    GNI_FMA_ATOMIC2_CSWAP_SC = 0x36A,
    GNI_FMA_ATOMIC2_FIMIN = 0x051,
    GNI_FMA_ATOMIC2_FIMIN_S = 0x250,
    GNI_FMA_ATOMIC2_FIMIN_C = 0x071,
    GNI_FMA_ATOMIC2_FIMIN_SC = 0x270,
    GNI_FMA_ATOMIC2_IMIN = 0x151,
    GNI_FMA_ATOMIC2_IMIN_S = 0x350,
    GNI_FMA_ATOMIC2_IMIN_C = 0x171,
    GNI_FMA_ATOMIC2_IMIN_SC = 0x370,
    GNI_FMA_ATOMIC2_FIMAX = 0x053,
    GNI_FMA_ATOMIC2_FIMAX_S = 0x252,
    GNI_FMA_ATOMIC2_FIMAX_C = 0x073,
    GNI_FMA_ATOMIC2_FIMAX_SC = 0x272,
    GNI_FMA_ATOMIC2_IMAX = 0x153,
    GNI_FMA_ATOMIC2_IMAX_S = 0x352,
    GNI_FMA_ATOMIC2_IMAX_C = 0x173,
    GNI_FMA_ATOMIC2_IMAX_SC = 0x372,
    GNI_FMA_ATOMIC2_FIADD = 0x055,
    GNI_FMA_ATOMIC2_FIADD_S = 0x254,
    GNI_FMA_ATOMIC2_FIADD_C = 0x075,
    GNI_FMA_ATOMIC2_FIADD_SC = 0x274,
    GNI_FMA_ATOMIC2_IADD = 0x155,
    GNI_FMA_ATOMIC2_IADD_S = 0x354,
    GNI_FMA_ATOMIC2_IADD_C = 0x175,
    GNI_FMA_ATOMIC2_IADD_SC = 0x374,
    GNI_FMA_ATOMIC2_FFPMIN = 0x059,
    GNI_FMA_ATOMIC2_FFPMIN_S = 0x258,
    GNI_FMA_ATOMIC2_FFPMIN_C = 0x079,
    GNI_FMA_ATOMIC2_FFPMIN_SC = 0x278,
    GNI_FMA_ATOMIC2_FPMIN = 0x159,
    GNI_FMA_ATOMIC2_FPMIN_S = 0x358,
    GNI_FMA_ATOMIC2_FPMIN_C = 0x179,
    GNI_FMA_ATOMIC2_FPMIN_SC = 0x378,
    GNI_FMA_ATOMIC2_FFPMAX = 0x05B,
    GNI_FMA_ATOMIC2_FFPMAX_S = 0x25A,
    GNI_FMA_ATOMIC2_FFPMAX_C = 0x07B,
    GNI_FMA_ATOMIC2_FFPMAX_SC = 0x27A,
    GNI_FMA_ATOMIC2_FPMAX = 0x15B,
    GNI_FMA_ATOMIC2_FPMAX_S = 0x35A,
    GNI_FMA_ATOMIC2_FPMAX_C = 0x17B,
    GNI_FMA_ATOMIC2_FPMAX_SC = 0x37A,
    GNI_FMA_ATOMIC2_FFPADD = 0x05D,
    GNI_FMA_ATOMIC2_FFPADD_S = 0x25C,
    GNI_FMA_ATOMIC2_FFPADD_C = 0x07D,
    GNI_FMA_ATOMIC2_FFPADD_SC = 0x27C,
    GNI_FMA_ATOMIC2_FPADD = 0x15D,
    GNI_FMA_ATOMIC2_FPADD_S = 0x35C,
    GNI_FMA_ATOMIC2_FPADD_C = 0x17D,
    GNI_FMA_ATOMIC2_FPADD_SC = 0x37C
} gni_fma_cmd_type_t;

/* ---- structures ---- */

typedef struct gni_mem_handle {
    uint64_t qword1;
    uint64_t qword2;
} gni_mem_handle_t;

typedef struct gni_mem_segment {
    uint64_t address;
    uint64_t length;
} gni_mem_segment_t;

typedef struct gni_smsg_attr {
    gni_smsg_type_t msg_type;
    void *msg_buffer;
    uint32_t buff_size;
    gni_mem_handle_t mem_hndl;
    uint32_t mbox_offset;     /* of this mailbox from msg_buffer, bytes */
    uint16_t mbox_maxcredit;  /* messages under way */
    uint32_t msg_maxsize;     /* bytes of header and data */
} gni_smsg_attr_t;

typedef struct gni_ntt_entry {
    uint32_t blck_addr;
    uint32_t rplc_addr;
    uint8_t rplc_size;
} gni_ntt_entry_t;

typedef struct gni_ntt_descriptor {
    uint32_t group_size;
    uint8_t granularity;
    union {
        uint32_t *table;
        gni_ntt_entry_t *table_v2;
    } u;
    uint8_t flags;
} gni_ntt_descriptor_t;

typedef struct gni_error_event {
    uint16_t error_code;
    uint8_t error_category;
    uint8_t ptag;
    uint32_t serial_number;
    uint64_t timestamp;
    uint64_t info_mmrs[4];
} gni_error_event_t;

typedef struct gni_job_limits {
    int32_t mdd_limit;
    union {
        int32_t mrt_limit;
        struct {
            uint8_t ce_limit;
            uint8_t iommu_limit;
            uint8_t res_byte2;
            uint8_t res_byte3;
        } m;
    } a;
    union {
        int32_t gart_limit;
        int32_t dla_limit;
    } b;
    int32_t fma_limit;
    int32_t bte_limit;
    int32_t cq_limit;
    int32_t ntt_ctrl;
    int32_t ntt_base;
    int32_t ntt_size;
} gni_job_limits_t;

typedef struct gni_dev_res_desc {
    uint64_t available;
    uint64_t reserved;
    uint64_t held;
    uint64_t total;
} gni_dev_res_desc_t;

typedef struct gni_job_res_desc {
    uint64_t used;
    uint64_t limit;
} gni_job_res_desc_t;

typedef struct gni_msgq_attr {
    uint32_t max_msg_sz;
    uint32_t smsg_q_sz;
    uint32_t rcv_pool_sz;
    uint32_t num_msgq_eps;
    uint32_t nloc_insts;
    uint8_t modes;
    uint32_t rcv_cq_sz;
} gni_msgq_attr_t;

typedef struct gni_msgq_rem_inst {
    uint32_t id;
    gni_mem_handle_t mdh;
    uint64_t mdh_off;
} gni_msgq_rem_inst_t;

typedef struct gni_msgq_ep_attr {
    uint32_t pe_addr;
    uint32_t max_msg_sz;
    uint32_t smsg_q_sz;
    uint32_t num_insts;
    gni_msgq_rem_inst_t insts[GNI_MSGQ_NODE_INSTS_MAX];
} gni_msgq_ep_attr_t;

typedef struct gni_version_info {
    uint32_t ugni_version;
    uint32_t ugni_svn_revision;
    char ugni_build_string[MAX_BUILD_STRING_LENGTH];
    uint32_t kgni_version;
    uint32_t kgni_svn_revision;
    char kgni_build_string[MAX_BUILD_STRING_LENGTH];
} gni_version_info_t;

typedef struct gni_bi_desc {
    uint16_t current_bw;
    uint16_t current_aot_bw;
    uint16_t current_norbs;
    uint16_t flags;
    uint16_t sys_def_bw;
    uint16_t sys_def_aot_bw;
    uint16_t cle_seqnum;
    uint16_t hss_seqnum;
} gni_bi_desc_t;

/* To be aligned to 32 bytes by whoever uses it. */
typedef struct gni_ce_result {
    uint64_t control;
    uint64_t result1;
    uint64_t result2;
} gni_ce_result_t;

/* One transaction. It belongs to the library until its last event was fetched. */
typedef struct gni_post_descriptor {
    void *next_descr;
    void *prev_descr;
    uint64_t post_id;
    uint64_t status;
    uint16_t cq_mode_complete;
    gni_post_type_t type;
    uint16_t cq_mode;
    uint16_t dlvr_mode;
    uint64_t local_addr;
    gni_mem_handle_t local_mem_hndl;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t length;
    uint16_t rdma_mode;
    gni_cq_handle_t src_cq_hndl;
    uint64_t sync_flag_value;
    uint64_t sync_flag_addr;
    gni_fma_cmd_type_t amo_cmd;
    uint64_t first_operand;
    uint64_t second_operand;
    uint64_t cqwrite_value;
    gni_ce_cmd_type_t ce_cmd;
    uint32_t ce_mode;
    uint64_t ce_red_id;
} gni_post_descriptor_t;

typedef struct gni_ct_put_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    uint64_t length;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t local_addr;
} gni_ct_put_post_descriptor_t;

typedef struct gni_ct_get_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    uint64_t length;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t local_addr;
    gni_mem_handle_t local_mem_hndl;
} gni_ct_get_post_descriptor_t;

typedef struct gni_ct_amo_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    uint64_t length;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t local_addr;
    gni_mem_handle_t local_mem_hndl;
    gni_fma_cmd_type_t amo_cmd;
    uint64_t first_operand;
    uint64_t second_operand;
} gni_ct_amo_post_descriptor_t;

typedef struct gni_ct_cqw_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t cqwrite_value;
} gni_ct_cqw_post_descriptor_t;

typedef struct gni_ct_uni_post_descriptor {
    union {
        gni_ct_put_post_descriptor_t put;
        gni_ct_get_post_descriptor_t get;
        gni_ct_amo_post_descriptor_t amo;
        gni_ct_cqw_post_descriptor_t cqw;
    } u;
} gni_ct_uni_post_descriptor_t;

/* ---- completion queue entries ---- */

#ifndef GNI_INLINE_CQ_FUNCTIONS
uint64_t gni_cq_get_data(gni_cq_entry_t entry);
uint64_t gni_cq_get_source(gni_cq_entry_t entry);
uint64_t gni_cq_get_status(gni_cq_entry_t entry);
uint64_t gni_cq_get_info(gni_cq_entry_t entry);
uint64_t gni_cq_overrun(gni_cq_entry_t entry);
uint64_t gni_cq_rem_overrun(gni_cq_entry_t entry);
uint64_t gni_cq_get_inst_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_rem_inst_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_tid(gni_cq_entry_t entry);
uint64_t gni_cq_get_msg_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_type(gni_cq_entry_t entry);
uint64_t gni_cq_get_block_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_unsuccessful_cnt(gni_cq_entry_t entry);
uint64_t gni_cq_get_marker_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_failed_enqueue_cnt(gni_cq_entry_t entry);
uint64_t gni_cq_get_ce_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_reductn_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_trans_type(gni_cq_entry_t entry);
unsigned gni_cq_status_dla_overflow(gni_cq_entry_t entry);
unsigned gni_cq_bte_enq_status(gni_cq_entry_t entry);
void gni_cq_set_inst_id(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_set_rem_inst_id(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_set_tid(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_set_msg_id(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_set_type(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_clr_status(gni_cq_entry_t *entry);
#endif

#define GNI_CQ_GET_DATA gni_cq_get_data
#define GNI_CQ_GET_SOURCE gni_cq_get_source
#define GNI_CQ_GET_STATUS gni_cq_get_status
#define GNI_CQ_GET_INFO gni_cq_get_info
#define GNI_CQ_OVERRUN gni_cq_overrun
#define GNI_CQ_REM_OVERRUN gni_cq_rem_overrun
#define GNI_CQ_GET_INST_ID gni_cq_get_inst_id
#define GNI_CQ_GET_REM_INST_ID gni_cq_get_rem_inst_id
#define GNI_CQ_GET_TID gni_cq_get_tid
#define GNI_CQ_GET_MSG_ID gni_cq_get_msg_id
#define GNI_CQ_GET_TYPE gni_cq_get_type
#define GNI_CQ_GET_BLOCK_ID gni_cq_get_block_id
#define GNI_CQ_GET_UNSUCCESSFUL_CNT gni_cq_get_unsuccessful_cnt
#define GNI_CQ_GET_MARKER_ID gni_cq_get_marker_id
#define GNI_CQ_GET_FAILED_ENQUEUE_CNT gni_cq_get_failed_enqueue_cnt
#define GNI_CQ_GET_CE_ID gni_cq_get_ce_id
#define GNI_CQ_GET_REDUCTN_ID gni_cq_get_reductn_id
#define GNI_CQ_GET_TRANS_TYPE gni_cq_get_trans_type
#define GNI_CQ_STATUS_DLA_OVERFLOW(entry) gni_cq_status_dla_overflow(entry)
#define GNI_CQ_BTE_ENQ_STATUS(entry) gni_cq_bte_enq_status(entry)
#define GNI_CQ_STATUS_OK(entry) (gni_cq_get_status(entry) == 0)
#define GNI_CQ_SET_INST_ID(entry, value) gni_cq_set_inst_id(&(entry), value)
#define GNI_CQ_SET_REM_INST_ID(entry, value) gni_cq_set_rem_inst_id(&(entry), value)
#define GNI_CQ_SET_TID(entry, value) gni_cq_set_tid(&(entry), value)
#define GNI_CQ_SET_MSG_ID(entry, value) gni_cq_set_msg_id(&(entry), value)
#define GNI_CQ_SET_TYPE(entry, value) gni_cq_set_type(&(entry), value)
#define GNI_CQ_CLR_STATUS(entry) gni_cq_clr_status(&(entry))

uint64_t gni_ce_res_get_status(gni_ce_result_t *result);
uint64_t gni_ce_res_status_ok(gni_ce_result_t *result);
uint64_t gni_ce_res_get_fpe(gni_ce_result_t *result);
uint64_t gni_ce_res_get_red_id(gni_ce_result_t *result);
#define GNI_CE_RES_GET_STATUS gni_ce_res_get_status
#define GNI_CE_RES_STATUS_OK gni_ce_res_status_ok
#define GNI_CE_RES_GET_FPE gni_ce_res_get_fpe
#define GNI_CE_RES_GET_RED_ID gni_ce_res_get_red_id

/* ---- communication domains ---- */

gni_return_t GNI_CdmCreate(uint32_t inst_id, uint8_t ptag, uint32_t cookie, uint32_t modes, gni_cdm_handle_t *cdm_hndl);
gni_return_t GNI_CdmDestroy(gni_cdm_handle_t cdm_hndl);
gni_return_t GNI_CdmGetNicAddress(uint32_t device_id, uint32_t *address, uint32_t *cpu_id);
gni_return_t GNI_CdmAttach(gni_cdm_handle_t cdm_hndl, uint32_t device_id, uint32_t *local_addr, gni_nic_handle_t *nic_hndl);

/* ---- jobs (privileged) ---- */

gni_return_t GNI_SuspendJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie, uint32_t timeout);
gni_return_t GNI_ResumeJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie);
gni_return_t GNI_ConfigureNTT(int device_id, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base);
gni_return_t GNI_ConfigureJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie, gni_job_limits_t *limits);
gni_return_t GNI_ConfigureNTTandJob(int device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie, gni_job_limits_t *limits, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base);
gni_return_t GNI_GetNttGran(uint32_t device_id, uint32_t *ntt_gran);
gni_return_t GNI_GetPtag(uint32_t device_id, uint32_t cookie, uint8_t *ptag);

/* ---- endpoints ---- */

gni_return_t GNI_EpCreate(gni_nic_handle_t nic_hndl, gni_cq_handle_t src_cq_hndl, gni_ep_handle_t *ep_hndl);
gni_return_t GNI_EpBind(gni_ep_handle_t ep_hndl, uint32_t remote_addr, uint32_t remote_id);
gni_return_t GNI_EpUnbind(gni_ep_handle_t ep_hndl);
gni_return_t GNI_EpDestroy(gni_ep_handle_t ep_hndl);
gni_return_t GNI_EpSetEventData(gni_ep_handle_t ep_hndl, uint32_t local_event, uint32_t remote_event);
gni_return_t GNI_EpIdle(gni_ep_handle_t ep_hndl);

/* ---- datagrams ---- */

gni_return_t GNI_EpPostData(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf, uint16_t buf_size);
gni_return_t GNI_EpPostDataWId(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf, uint16_t buf_size, uint64_t datagram_id);
gni_return_t GNI_EpPostDataTest(gni_ep_handle_t ep_hndl, gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_EpPostDataTestById(gni_ep_handle_t ep_hndl, uint64_t datagram_id, gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_EpPostDataWait(gni_ep_handle_t ep_hndl, uint32_t timeout, gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_EpPostDataWaitById(gni_ep_handle_t ep_hndl, uint64_t datagram_id, uint32_t timeout, gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_PostDataProbe(gni_nic_handle_t nic_hndl, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_PostDataProbeById(gni_nic_handle_t nic_hndl, uint64_t *datagram_id);
gni_return_t GNI_PostdataProbeWaitById(gni_nic_handle_t nic_hndl, uint32_t timeout, uint64_t *datagram_id);
gni_return_t GNI_EpPostDataCancel(gni_ep_handle_t ep_hndl);
gni_return_t GNI_EpPostDataCancelById(gni_ep_handle_t ep_hndl, uint64_t datagram_id);

/* ---- memory ---- */

gni_return_t GNI_MemRegister(gni_nic_handle_t nic_hndl, uint64_t address, uint64_t length, gni_cq_handle_t dst_cq_hndl, uint32_t flags, uint32_t vmdh_index, gni_mem_handle_t *mem_hndl);
gni_return_t GNI_MemRegisterSegments(gni_nic_handle_t nic_hndl, gni_mem_segment_t *mem_segments, uint32_t segments_cnt, gni_cq_handle_t dst_cq_hndl, uint32_t flags, uint32_t vmdh_index, gni_mem_handle_t *mem_hndl);
gni_return_t GNI_SetMddResources(gni_nic_handle_t nic_hndl, uint32_t num_entries);
gni_return_t GNI_MemDeregister(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl);
gni_return_t GNI_MemHndlQueryAttr(gni_mem_handle_t *mem_hndl, gni_mem_handle_attr_t attr, int *yesno);
gni_return_t GNI_RebuildMemHndl(gni_mem_handle_t *src_mem_hndl, uint32_t vmdh_index, gni_mem_handle_t *dst_mem_hndl);
gni_return_t GNI_MemQueryHndls(gni_nic_handle_t nic_hndl, int fd, gni_mem_handle_t *mem_hndl, uint64_t *address, uint64_t *length);

/* ---- completion queues ---- */

gni_return_t GNI_CqCreate(gni_nic_handle_t nic_hndl, uint32_t entry_count, uint32_t delay_count, gni_cq_mode_t mode, void (*handler)(gni_cq_entry_t *,void *), void *context, gni_cq_handle_t *cq_hndl);
gni_return_t GNI_CqDestroy(gni_cq_handle_t cq_hndl);
gni_return_t GNI_CqGetEvent(gni_cq_handle_t cq_hndl, gni_cq_entry_t *event_data);
gni_return_t GNI_CqWaitEvent(gni_cq_handle_t cq_hndl, uint64_t timeout, gni_cq_entry_t *event_data);
gni_return_t GNI_CqVectorWaitEvent(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout, gni_cq_entry_t *event_data, uint32_t *which);
gni_return_t GNI_CqVectorMonitor(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout, uint32_t *which);
gni_return_t GNI_CqTestEvent(gni_cq_handle_t cq_hndl);
gni_return_t GNI_CqInterruptMask(gni_cq_handle_t cq_hndl);
gni_return_t GNI_CqInterruptUnmask(gni_cq_handle_t cq_hndl);
gni_return_t GNI_CqErrorStr(gni_cq_entry_t entry, void *buffer, uint32_t len);
gni_return_t GNI_CqErrorRecoverable(gni_cq_entry_t entry, uint32_t *recoverable);

/* ---- posts ---- */

gni_return_t GNI_PostRdma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);
gni_return_t GNI_PostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);
gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);
gni_return_t GNI_GetCompleted(gni_cq_handle_t cq_hndl, gni_cq_entry_t event_data, gni_post_descriptor_t **post_descr);

/* ---- chained posts ---- */

gni_return_t GNI_CtPostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);
gni_return_t GNI_CtPostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);

/* ---- short messages ---- */

gni_return_t GNI_SmsgBufferSizeNeeded(gni_smsg_attr_t *smsg_attr, unsigned int *size);
gni_return_t GNI_SmsgInit(gni_ep_handle_t ep_hndl, gni_smsg_attr_t *local_smsg_attr, gni_smsg_attr_t *remote_smsg_attr);
gni_return_t GNI_SmsgSetDeliveryMode(gni_nic_handle_t nic_handle, uint16_t dlvr_mode);
gni_return_t GNI_SmsgSetMaxRetrans(gni_nic_handle_t nic_handle, uint16_t max_retrans);
gni_return_t GNI_SmsgSend(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data, uint32_t data_length, uint32_t msg_id);
gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data, uint32_t data_length, uint32_t msg_id, uint8_t tag);
gni_return_t GNI_SmsgGetNext(gni_ep_handle_t ep_hndl, void **header);
gni_return_t GNI_SmsgGetNextWTag(gni_ep_handle_t ep_hndl, void **header, uint8_t *tag);
gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep_hndl);

/* ---- shared message queue ---- */

gni_return_t GNI_MsgqInit(gni_nic_handle_t nic_hndl, gni_msgq_rcv_cb_func *rcv_cb, void *cb_data, gni_cq_handle_t snd_cq, gni_msgq_attr_t *attrs, gni_msgq_handle_t *msgq_hndl);
gni_return_t GNI_MsgqRelease(gni_msgq_handle_t msgq_hndl);
gni_return_t GNI_MsgqIdle(gni_msgq_handle_t msgq_hndl);
gni_return_t GNI_MsgqGetConnAttrs(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr, gni_msgq_ep_attr_t *attrs, uint32_t *attrs_size);
gni_return_t GNI_MsgqConnect(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr, gni_msgq_ep_attr_t *attrs);
gni_return_t GNI_MsgqConnRelease(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr);
gni_return_t GNI_MsgqSend(gni_msgq_handle_t msgq_hndl, gni_ep_handle_t ep_hndl, void *hdr, uint32_t hdr_len, void *msg, uint32_t msg_len, uint32_t msg_id, uint8_t msg_tag);
gni_return_t GNI_MsgqProgress(gni_msgq_handle_t msgq_hndl, uint32_t timeout);
gni_return_t GNI_MsgqSize(gni_msgq_attr_t *attrs, uint32_t *size);

/* ---- error events ---- */

gni_return_t GNI_SubscribeErrors(gni_nic_handle_t nic_handle, uint32_t device_id, gni_error_mask_t mask, uint32_t EEQ_size, gni_err_handle_t *err_handle);
gni_return_t GNI_ReleaseErrors(gni_err_handle_t err_handle);
gni_return_t GNI_GetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t *mask);
gni_return_t GNI_SetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t mask_in, gni_error_mask_t *mask_out);
gni_return_t GNI_GetErrorEvent(gni_err_handle_t err_handle, gni_error_event_t *event);
gni_return_t GNI_WaitErrorEvents(gni_err_handle_t err_handle, gni_error_event_t *events, uint32_t events_size, uint32_t timeout, uint32_t *num_events);
gni_return_t GNI_SetErrorPtag(gni_err_handle_t err_handle, uint8_t ptag);

/* ---- queries ---- */

gni_return_t GNI_GetNumLocalDevices(int *num_devices);
gni_return_t GNI_GetLocalDeviceIds(int len, int *device_ids);
gni_return_t GNI_GetVersion(uint32_t *version);
gni_return_t GNI_GetVersionInformation(gni_version_info_t *version_info);
gni_return_t GNI_GetDeviceType(gni_nic_device_t *dev_type);
gni_return_t GNI_GetDevResInfo(uint32_t device_id, gni_dev_res_t res_type, gni_dev_res_desc_t *res_desc);
gni_return_t GNI_GetJobResInfo(uint32_t device_id, uint8_t ptag, gni_job_res_t res_type, gni_job_res_desc_t *res_desc);
gni_return_t GNI_SetJobResInfo(uint32_t device_id, uint8_t ptag, gni_job_res_t res_type, uint64_t res_value);
gni_return_t GNI_GetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat, uint32_t *value);
gni_return_t GNI_ResetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat);

/* ---- collective engine ---- */

gni_return_t GNI_CeCreate(gni_nic_handle_t nic_hndl, gni_ce_handle_t *ce_hndl);
gni_return_t GNI_CeGetId(gni_ce_handle_t ce_hndl, uint32_t *ce_id);
gni_return_t GNI_EpSetCeAttr(gni_ep_handle_t ep_hndl, uint32_t ce_id, uint32_t child_id, gni_ce_child_t child_type);
gni_return_t GNI_CeConfigure(gni_ce_handle_t ce_hndl, gni_ep_handle_t *child_eps, uint32_t num_child_eps, gni_ep_handle_t parent_ep, gni_cq_handle_t cq_hndl, uint32_t modes);
gni_return_t GNI_CeCheckResult(gni_ce_result_t *result, uint32_t length);
gni_return_t GNI_CeDestroy(gni_ce_handle_t ce_hndl);

/* ---- balanced injection ---- */

gni_return_t GNI_SetBIConfig(uint32_t device_id, uint16_t bw, uint16_t aot_bw, uint16_t modes);
gni_return_t GNI_GetBIConfig(uint32_t device_id, gni_bi_desc_t *desc);
gni_return_t GNI_BISyncWait(uint32_t device_id, uint32_t timeout);

/* ---- completion channels ---- */

gni_return_t GNI_CompChanCreate(gni_nic_handle_t nic_hndl, gni_comp_chan_handle_t *chan_hndl);
gni_return_t GNI_CompChanDestroy(gni_comp_chan_handle_t chan_hndl);
gni_return_t GNI_CompChanFd(gni_comp_chan_handle_t chan_hndl, int *comp_chan_fd);
gni_return_t GNI_CompChanGetEvent(gni_comp_chan_handle_t chan_hndl, gni_cq_handle_t *cq_hndl);
gni_return_t GNI_CqAttachCompChan(gni_cq_handle_t cq_hndl, gni_comp_chan_handle_t chan_hndl);
gni_return_t GNI_CqArmCompChan(gni_cq_handle_t *cq_hndls, uint32_t num_cqs);

/* Of older revisions; they do nothing. */
gni_return_t GNI_CdmCheckpoint(gni_cdm_handle_t cdm_hndl);
gni_return_t GNI_CdmResume(gni_cdm_handle_t cdm_hndl);

uint32_t gni_dev_res_valid(gni_dev_res_t res_type);
const char *gni_dev_res_to_str(gni_dev_res_t res_type);
uint32_t gni_job_res_valid(gni_job_res_t res_type);
const char *gni_job_res_to_str(gni_job_res_t res_type);

/* clang-format on */

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
