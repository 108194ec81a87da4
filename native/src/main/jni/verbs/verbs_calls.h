/*
 * Calls of ibverbs with flat arguments, for Java. Each answers >= 0 or -errno: the three error
 * conventions of the library end here, next to the call, before anything can change errno. What is
 * made is stored in *out.
 */
#ifndef VERBENA_VERBS_CALLS_H
#define VERBENA_VERBS_CALLS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the library at path (found as dlopen finds it). The number of its functions, or -errno with
 * the reason in why. Not thread-safe; once. */
int vv_open_ibverbs(const char *path, char *why, size_t why_size);
int vv_open_rdmacm(const char *path, char *why, size_t why_size);
int vv_symbol_count(void);
const char *vv_symbol_name(int row);

/* Rows of the layout table: names as in C (ibv_send_wr.wr.rdma.rkey, IBV_WR_SEND, sizeof(ibv_wc)).
 */
int vv_layout_count(void);
const char *vv_layout_name(int row);
int64_t vv_layout_value(int row);

/* Devices. A device of a list may be used after vv_device_list_free only if it was opened. */
int vv_device_list(struct ibv_device ***out);
int vv_device_list_free(struct ibv_device **list);
struct ibv_device *vv_device(struct ibv_device **list, int index);
uint64_t vv_device_guid(struct ibv_device *device);
int vv_open_device(struct ibv_device *device, struct ibv_context **out);
/* Of a device that was opened elsewhere, by its command file, of which it takes a duplicate. */
int vv_import_device(int file, struct ibv_context **out);
struct ibv_device *vv_device_of(struct ibv_context *context);
int vv_close_device(struct ibv_context *context);
int vv_query_device(struct ibv_context *context, struct ibv_device_attr_ex *attr);
int vv_query_port(struct ibv_context *context, int port, struct ibv_port_attr *attr);
int vv_query_gid(struct ibv_context *context, int port, int index, struct ibv_gid_entry *entry);
int vv_query_pkey(struct ibv_context *context, int port, int index);
int vv_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
int vv_fork_init(void);
int vv_fork_status(void);

/* Events. Channels are set non-blocking, so getting answers -EAGAIN if there is none; vv_wait
 * sleeps until the file is readable: 1, or 0 after timeout_ms (-1: never). */
int vv_set_nonblocking(int file);
int vv_wait(int file, int timeout_ms);
/* Waits for one of two files. */
int vv_wait_either(int first, int second, int timeout_ms);
/* A bell is an eventfd: rung by any thread, waited for like a file, still again when it was read.
 */
int vv_open_bell(void);
int vv_ring_bell(int bell);
int vv_still_bell(int bell);
int vv_close_bell(int bell);
int vv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
int vv_ack_async_event(struct ibv_async_event *event);
int vv_create_comp_channel(struct ibv_context *context, struct ibv_comp_channel **out);
int vv_destroy_comp_channel(struct ibv_comp_channel *channel);
int vv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **out);
int vv_ack_cq_events(struct ibv_cq *cq, uint32_t count);

/* Protection domains, thread domains, parent domains. */
int vv_alloc_pd(struct ibv_context *context, struct ibv_pd **out);
int vv_dealloc_pd(struct ibv_pd *pd);
/* What another context of the same device made, by its handle. Taking it back leaves the object
 * itself to whoever made it. */
int vv_import_pd(struct ibv_context *context, uint32_t handle, struct ibv_pd **out);
int vv_unimport_pd(struct ibv_pd *pd);
int vv_import_mr(struct ibv_pd *pd, uint32_t handle, struct ibv_mr **out);
int vv_unimport_mr(struct ibv_mr *mr);
int vv_import_dm(struct ibv_context *context, uint32_t handle, struct ibv_dm **out);
int vv_unimport_dm(struct ibv_dm *dm);
int vv_alloc_td(struct ibv_context *context, struct ibv_td **out);
int vv_dealloc_td(struct ibv_td *td);
int vv_alloc_parent_domain(struct ibv_pd *pd, struct ibv_td *td, struct ibv_pd **out);

/* Memory. vv_rereg_mr answers -errno, or -errno - VV_REREG_LOST if the region cannot be used any
 * more. */
#define VV_REREG_LOST 4096
int vv_reg_mr(struct ibv_pd *pd, void *address, uint64_t length, uint64_t iova, uint32_t access,
              struct ibv_mr **out);
int vv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, uint64_t length, uint64_t iova, int file,
                     uint32_t access, struct ibv_mr **out);
int vv_alloc_null_mr(struct ibv_pd *pd, struct ibv_mr **out);
int vv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address, uint64_t length,
                uint32_t access);
int vv_dereg_mr(struct ibv_mr *mr);
int vv_alloc_dm(struct ibv_context *context, uint64_t length, int alignment_log2,
                struct ibv_dm **out);
int vv_free_dm(struct ibv_dm *dm);
int vv_memcpy_to_dm(struct ibv_dm *dm, uint64_t offset, const void *from, uint64_t length);
int vv_memcpy_from_dm(void *to, struct ibv_dm *dm, uint64_t offset, uint64_t length);
int vv_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, uint64_t length,
                 uint32_t access, struct ibv_mr **out);
int vv_advise_mr(struct ibv_pd *pd, int advice, uint32_t flags, struct ibv_sge *list, int count);
int vv_alloc_mw(struct ibv_pd *pd, int type, struct ibv_mw **out);
int vv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int vv_dealloc_mw(struct ibv_mw *mw);

/* Completion queues. attr: context, channel, vector and size; wc_flags 0 makes a plain one. */
int vv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr,
                 struct ibv_cq **out);
int vv_resize_cq(struct ibv_cq *cq, int entries);
int vv_modify_cq(struct ibv_cq *cq, int count, int period_us);
int vv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int vv_poll_cq(struct ibv_cq *cq, int limit, struct ibv_wc *completions);
int vv_destroy_cq(struct ibv_cq *cq);

/* A completion of an extended queue; Java knows the offsets behind wc: CompletionFlyweight. */
struct vv_completion {
    struct ibv_wc wc;
    uint64_t timestamp;
    uint64_t wallclock_ns;
    uint32_t flow_tag;
    uint32_t vlan;
};

/* Starts, goes on and ends polling of a queue that was made with wc_flags or comp_mask, reading of
 * each completion what fields (ibv_create_cq_wc_flags) has. How many, up to limit. */
int vv_poll_cq_ex(struct ibv_cq *cq, uint64_t fields, int limit, struct vv_completion *out);

/* Shared receive queues, XRC domains. */
int vv_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
                  struct ibv_srq **out);
int vv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int vv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int vv_srq_number(struct ibv_srq *srq, uint32_t *out);
int vv_destroy_srq(struct ibv_srq *srq);
int vv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
int vv_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr,
                 struct ibv_xrcd **out);
int vv_close_xrcd(struct ibv_xrcd *xrcd);

/* Queue pairs. attr.pd names the domain; the capacities that came out are left in attr.cap. */
int vv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
                 struct ibv_qp **out);
int vv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int vv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                struct ibv_qp_init_attr *init);
int vv_destroy_qp(struct ibv_qp *qp);
int vv_post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad);
/* Both in one call, the poll whatever the post answers. The post's result in the upper 32 bits, the
 * poll's in the lower. */
int64_t vv_post_and_poll(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad,
                         struct ibv_cq *cq, int limit, struct ibv_wc *completions);
int vv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
/* Address of vv_post_send (0), vv_post_recv (1), vv_poll_cq (2), vv_post_and_poll (3), for callers
 * with a cheaper way than JNI; 0 for another number. */
int64_t vv_hot_call(int which);
int vv_query_qp_data_in_order(struct ibv_qp *qp, int opcode);
int vv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int vv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/* Receive queues without a queue pair, and tables of them that queue pairs spread packets over. */
int vv_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr, struct ibv_wq **out);
int vv_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr);
int vv_destroy_wq(struct ibv_wq *wq);
int vv_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
int vv_create_table(struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *attr,
                    struct ibv_rwq_ind_table **out);
int vv_destroy_table(struct ibv_rwq_ind_table *table);

/* Which packets come to a queue pair; the specs lie behind attr. */
int vv_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr, struct ibv_flow **out);
int vv_destroy_flow(struct ibv_flow *flow);

/* The ibv_wr_* interface. vv_qp_ex: of a queue pair that was made with send_ops_flags, or NULL.
 * vv_wr_post builds every request of the chain between ibv_wr_start and ibv_wr_complete and posts
 * all or none; what operations (send_ops_flags) lacks is EOPNOTSUPP, before it is called. */
#define VV_INLINE_SEGMENTS 32
#define VV_INLINE_BYTES 1024
struct ibv_qp_ex *vv_qp_ex(struct ibv_qp *qp);
int vv_wr_post(struct ibv_qp_ex *qp, uint64_t operations, const struct ibv_send_wr *first);
int vv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, int lid);
int vv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, int lid);

/* Address handles. */
int vv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **out);
int vv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, int port,
                         struct ibv_ah **out);
int vv_destroy_ah(struct ibv_ah *ah);

/* rdma_cm. Queue pairs are not made by it: vv_cm_init_qp_attr fills what the state in attr needs
 * and answers the mask. Events are got with the channel set non-blocking (-EAGAIN), and
 * acknowledged one by one; an identifier is not destroyed before its events are acknowledged.
 * Private data that an event points to lasts until then. Of vv_cm_set_option's options TOS and
 * ACK_TIMEOUT are a byte. */
int vv_cm_create_channel(struct rdma_event_channel **out);
int vv_cm_destroy_channel(struct rdma_event_channel *channel);
int vv_cm_create_id(struct rdma_event_channel *channel, int port_space, struct rdma_cm_id **out);
int vv_cm_destroy_id(struct rdma_cm_id *id);
int vv_cm_set_option(struct rdma_cm_id *id, int option, int value);
int vv_cm_bind(struct rdma_cm_id *id, struct sockaddr *address);
int vv_cm_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *target,
                       int timeout_ms);
int vv_cm_resolve_route(struct rdma_cm_id *id, int timeout_ms);
int vv_cm_listen(struct rdma_cm_id *id, int backlog);
int vv_cm_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr);
int vv_cm_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
int vv_cm_establish(struct rdma_cm_id *id);
int vv_cm_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int vv_cm_reject(struct rdma_cm_id *id, const void *data, int length);
int vv_cm_disconnect(struct rdma_cm_id *id);
int vv_cm_migrate(struct rdma_cm_id *id, struct rdma_event_channel *channel);
int vv_cm_notify(struct rdma_cm_id *id, int event);
int vv_cm_join(struct rdma_cm_id *id, struct sockaddr *group, int is_send_only);
int vv_cm_leave(struct rdma_cm_id *id, struct sockaddr *group);
int vv_cm_get_event(struct rdma_event_channel *channel, struct rdma_cm_event **out);
int vv_cm_ack_event(struct rdma_cm_event *event);

#ifdef __cplusplus
}
#endif
#endif
