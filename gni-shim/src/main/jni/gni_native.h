/*
 * uGNI calls with flat arguments, for Java. They go through a table of functions: the library that
 * is linked in, or another one that was opened by path.
 *
 * Every function returns a value >= 0, or the negated code of uGNI; -VGN_MISSING: the library that
 * was opened lacks the function. Addresses and handles travel as integers.
 */
#ifndef VERBENA_GNI_NATIVE_H
#define VERBENA_GNI_NATIVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define VGN_MISSING 64

/* ---- layouts that Java writes and reads; gni_native.c compares them with the compiler's ---- */

#define VGN_POST_BYTES 184
#define VGN_POST_ID 16
#define VGN_POST_STATUS 24
#define VGN_POST_COMPLETE 32
#define VGN_POST_TYPE 36
#define VGN_POST_CQ_MODE 40
#define VGN_POST_DLVR_MODE 42
#define VGN_POST_LOCAL_ADDR 48
#define VGN_POST_LOCAL_HNDL 56
#define VGN_POST_REMOTE_ADDR 72
#define VGN_POST_REMOTE_HNDL 80
#define VGN_POST_LENGTH 96
#define VGN_POST_RDMA_MODE 104
#define VGN_POST_SRC_CQ 112
#define VGN_POST_SYNC_VALUE 120
#define VGN_POST_SYNC_ADDR 128
#define VGN_POST_AMO_CMD 136
#define VGN_POST_FIRST 144
#define VGN_POST_SECOND 152
#define VGN_POST_CQWRITE 160
#define VGN_POST_CE_CMD 168
#define VGN_POST_CE_MODE 172
#define VGN_POST_CE_ID 176

#define VGN_SMSG_BYTES 56
#define VGN_SMSG_TYPE 0
#define VGN_SMSG_BUFFER 8
#define VGN_SMSG_SIZE 16
#define VGN_SMSG_HNDL 24
#define VGN_SMSG_OFFSET 40
#define VGN_SMSG_CREDITS 44
#define VGN_SMSG_MAX 48

#define VGN_ERROR_BYTES 48
#define VGN_ERROR_CODE 0
#define VGN_ERROR_CATEGORY 2
#define VGN_ERROR_PTAG 3
#define VGN_ERROR_SERIAL 4
#define VGN_ERROR_TIME 8
#define VGN_ERROR_INFO 16
/* clang-format on */

/* Rows of the above, for a comparison when the library is loaded; NULL behind the last. */
const char *vgn_layout_name(int32_t row);
int64_t vgn_layout_value(int32_t row);

/* ---- the library ---- */

/* Opens another library; nothing is changed if that fails, and `why` says why. The value is the
 * number of functions found. Once in a process, before the first call. */
int32_t vgn_open(const char *path, char *why, uint32_t why_size);
/* Back to the library that is linked in. */
void vgn_built_in(void);
/* Whether the library in use is one of ours, with what gni_ext.h has. */
int32_t vgn_is_ours(void);
/* Functions that a library may have. */
int32_t vgn_function_count(void);
const char *vgn_function_name(int32_t row);
int32_t vgn_function_present(int32_t row);
/* Why this thread's last call failed; empty where the library does not tell. */
const char *vgn_error(void);

/* ---- domains, devices ---- */

int64_t vgn_cdm_create(uint32_t inst, uint32_t ptag, uint32_t cookie, uint32_t modes);
int32_t vgn_cdm_destroy(uint64_t cdm);
/* The NIC handle; its address goes to the uint32_t at `address`. */
int64_t vgn_cdm_attach(uint64_t cdm, uint32_t device, uint64_t address);
int64_t vgn_nic_address(uint32_t device);
int64_t vgn_device_count(void);
int64_t vgn_device_type(void);
int64_t vgn_version(void);
int64_t vgn_ptag(uint32_t device, uint32_t cookie);
/* Four 64-bit words go to `words`. */
int32_t vgn_device_resource(uint32_t device, uint32_t resource, uint64_t words);
int64_t vgn_statistic(uint64_t nic, uint32_t statistic);
int32_t vgn_statistic_reset(uint64_t nic, uint32_t statistic);

/* ---- endpoints, datagrams; words[0] = address, words[1] = instance (32 bits each) ---- */

int64_t vgn_ep_create(uint64_t nic, uint64_t cq);
int32_t vgn_ep_bind(uint64_t ep, uint32_t address, uint32_t inst);
int32_t vgn_ep_unbind(uint64_t ep);
int32_t vgn_ep_destroy(uint64_t ep);
int32_t vgn_ep_event_data(uint64_t ep, uint32_t local, uint32_t remote);
int32_t vgn_ep_idle(uint64_t ep);
int32_t vgn_data_post(uint64_t ep, uint64_t in, uint32_t length, uint64_t out, uint32_t size);
int32_t vgn_data_post_id(uint64_t ep, uint64_t in, uint32_t length, uint64_t out, uint32_t size,
                         uint64_t id);
/* The value is a gni_post_state_t. */
int32_t vgn_data_test(uint64_t ep, uint64_t words);
int32_t vgn_data_test_id(uint64_t ep, uint64_t id, uint64_t words);
int32_t vgn_data_wait(uint64_t ep, uint32_t timeout_ms, uint64_t words);
int32_t vgn_data_wait_id(uint64_t ep, uint64_t id, uint32_t timeout_ms, uint64_t words);
int32_t vgn_data_probe(uint64_t nic, uint64_t words);
/* The id goes to the uint64_t at `id`. */
int32_t vgn_data_probe_id(uint64_t nic, uint64_t id);
int32_t vgn_data_probe_wait_id(uint64_t nic, uint32_t timeout_ms, uint64_t id);
int32_t vgn_data_cancel(uint64_t ep);
int32_t vgn_data_cancel_id(uint64_t ep, uint64_t id);

/* ---- memory; `handle` is the address of 16 bytes ---- */

int32_t vgn_mem_register(uint64_t nic, uint64_t address, uint64_t length, uint64_t cq,
                         uint32_t flags, uint64_t handle);
/* `segments`: pairs of address and length, 64 bits each. */
int32_t vgn_mem_register_segments(uint64_t nic, uint64_t segments, uint32_t count, uint64_t cq,
                                  uint32_t flags, uint64_t handle);
int32_t vgn_mem_deregister(uint64_t nic, uint64_t handle);
int32_t vgn_mem_attribute(uint64_t handle, uint32_t attribute);

/* ---- completion queues; the entry goes to the uint64_t at `entry` ---- */

int64_t vgn_cq_create(uint64_t nic, uint32_t entries, uint32_t mode);
int32_t vgn_cq_destroy(uint64_t cq);
int32_t vgn_cq_get(uint64_t cq, uint64_t entry);
int32_t vgn_cq_test(uint64_t cq);
int32_t vgn_cq_wait(uint64_t cq, uint64_t timeout_ms, uint64_t entry);
/* The index of the queue goes to the uint32_t at `which`, also with a failed event. */
int32_t vgn_cq_vector_wait(uint64_t cqs, uint32_t count, uint64_t timeout_ms, uint64_t entry,
                           uint64_t which);
int32_t vgn_cq_error(uint64_t entry, uint64_t text, uint32_t size);
int32_t vgn_cq_recoverable(uint64_t entry);
/* A field of an entry as the library reads it: see VGN_FIELD_... */
/* clang-format off */
#define VGN_FIELD_DATA 0
#define VGN_FIELD_SOURCE 1
#define VGN_FIELD_STATUS 2
#define VGN_FIELD_TYPE 3
#define VGN_FIELD_INST_ID 4
#define VGN_FIELD_TID 5
#define VGN_FIELD_MSG_ID 6
#define VGN_FIELD_OVERRUN 7
/* clang-format on */
int64_t vgn_cq_field(uint64_t entry, uint32_t field);

/* ---- posts; `post` is the address of a gni_post_descriptor_t ---- */

int32_t vgn_post_rdma(uint64_t ep, uint64_t post);
int32_t vgn_post_fma(uint64_t ep, uint64_t post);
int32_t vgn_post_cqwrite(uint64_t ep, uint64_t post);
/* The address of the descriptor goes to the uint64_t at `post`, also with TRANSACTION_ERROR. */
int32_t vgn_completed(uint64_t cq, uint64_t entry, uint64_t post);

/* ---- short messages; attributes are addresses of a gni_smsg_attr_t ---- */

int64_t vgn_smsg_size(uint64_t attributes);
int32_t vgn_smsg_init(uint64_t ep, uint64_t local, uint64_t remote);
int32_t vgn_smsg_send(uint64_t ep, uint64_t header, uint32_t header_length, uint64_t data,
                      uint32_t data_length, uint32_t id, uint32_t tag);
/* The message's address goes to words[0] (64 bits); the value is its tag. */
int32_t vgn_smsg_next(uint64_t ep, uint32_t tag, uint64_t words);
int32_t vgn_smsg_release(uint64_t ep);

/* ---- error events ---- */

int64_t vgn_errors_subscribe(uint64_t nic, uint32_t device, uint32_t mask, uint32_t count);
int32_t vgn_errors_release(uint64_t errors);
int32_t vgn_errors_get(uint64_t errors, uint64_t event);
int32_t vgn_errors_mask(uint64_t errors, uint32_t mask);

/* ---- message queues of nodes ---- */

/* clang-format off */
#define VGN_MSGQ_BYTES 28
#define VGN_MSGQ_PEER_BYTES 4112
/* What the queue's callback fills: sender's instance and address, tag, number of messages, bytes. */
#define VGN_MESSAGE_FROM 0
#define VGN_MESSAGE_NODE 4
#define VGN_MESSAGE_TAG 8
#define VGN_MESSAGE_COUNT 12
#define VGN_MESSAGE_BYTES 16
/* clang-format on */
/* `attributes`: the seven numbers of a gni_msgq_attr_t, 32 bits each. `message` must outlive it. */
int64_t vgn_msgq_init(uint64_t nic, uint64_t cq, uint64_t attributes, uint64_t message);
int32_t vgn_msgq_release(uint64_t msgq);
/* The value is how many bytes of the gni_msgq_ep_attr_t count. */
int64_t vgn_msgq_attributes(uint64_t msgq, uint32_t address, uint64_t attributes);
int32_t vgn_msgq_connect(uint64_t msgq, uint32_t address, uint64_t attributes);
int32_t vgn_msgq_disconnect(uint64_t msgq, uint32_t address);
int32_t vgn_msgq_send(uint64_t msgq, uint64_t ep, uint64_t header, uint32_t header_length,
                      uint64_t data, uint32_t data_length, uint32_t id, uint32_t tag);
/* Stops behind one message. */
int32_t vgn_msgq_progress(uint64_t msgq, uint32_t timeout_ms);

/* ---- the collective engine ---- */

#define VGN_CE_RESULT_BYTES 24
int64_t vgn_ce_create(uint64_t nic);
int64_t vgn_ce_id(uint64_t ce);
int32_t vgn_ep_ce(uint64_t ep, uint32_t ce_id, uint32_t child_id, uint32_t type);
int32_t vgn_ce_configure(uint64_t ce, uint64_t children, uint32_t count, uint64_t parent,
                         uint64_t cq, uint32_t modes);
int32_t vgn_ce_check(uint64_t result);
int32_t vgn_ce_destroy(uint64_t ce);

/* ---- what only our own library has ---- */

int64_t vgn_ext_alloc(uint64_t nic, uint64_t length);
int32_t vgn_ext_free(uint64_t nic, uint64_t address);
int64_t vgn_ext_doorbell(uint64_t nic);
int32_t vgn_ext_wait(uint64_t nic, uint32_t bell, int64_t timeout_ns);
int32_t vgn_ext_ring(uint64_t nic);
/* The number goes to the uint64_t at `incarnation`. */
int32_t vgn_ext_incarnation(uint64_t nic, uint64_t incarnation);
/* The value is a gni_ext_peer_state_t; the incarnation goes to the uint64_t at `incarnation`. */
int32_t vgn_ext_peer_state(uint64_t nic, uint32_t address, uint32_t inst, uint64_t incarnation);
/* `incarnation` is the number. */
int32_t vgn_ext_peer_pin(uint64_t nic, uint32_t address, uint32_t inst, uint64_t incarnation);
int32_t vgn_ext_peer_forget(uint64_t nic, uint32_t address, uint32_t inst);

/* ---- memory of the process that Java's objects use; zeroed, on a cache line ---- */

int64_t vgn_memory_new(uint64_t bytes);
void vgn_memory_delete(uint64_t address);

#ifdef __cplusplus
}
#endif
#endif
