/* The calls of verbs_calls.h for completion queues, queue pairs, work requests and flows. */
#define _GNU_SOURCE
#include "verbs_calls.h"
#include "verbs_result.h"

#include <string.h>

static struct ibv_cq *create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    if (attr->wc_flags || attr->comp_mask)
        return ibv_cq_ex_to_cq(ibv_create_cq_ex(context, attr));
    return ibv_create_cq(context, (int)attr->cqe, attr->cq_context, attr->channel,
                         (int)attr->comp_vector);
}

MAKES(vv_create_cq, create_cq(context, attr), struct ibv_context *context,
      struct ibv_cq_init_attr_ex *attr, struct ibv_cq **out)
DOES(vv_resize_cq, ibv_resize_cq(cq, entries), struct ibv_cq *cq, int entries)
DOES(vv_modify_cq,
     ibv_modify_cq(cq,
                   &(struct ibv_modify_cq_attr){
                       .attr_mask = IBV_CQ_ATTR_MODERATE,
                       .moderate = {.cq_count = (uint16_t)count, .cq_period = (uint16_t)period_us},
                   }),
     struct ibv_cq *cq, int count, int period_us)
DOES(vv_req_notify_cq, ibv_req_notify_cq(cq, solicited_only), struct ibv_cq *cq, int solicited_only)

int vv_poll_cq(struct ibv_cq *cq, int limit, struct ibv_wc *completions)
{
    int count = ibv_poll_cq(cq, limit, completions);
    return count < 0 ? -EIO : count; /* any number below 0, and no errno, says that it failed */
}

DOES(vv_destroy_cq, ibv_destroy_cq(cq), struct ibv_cq *cq)

_Static_assert(offsetof(struct vv_completion, timestamp) == sizeof(struct ibv_wc), "Java knows it");
_Static_assert(sizeof(struct vv_completion) == sizeof(struct ibv_wc) + 24, "Java knows it");

/* Either is there, in the same place. */
static void read_immediate(struct ibv_cq_ex *cq, struct ibv_wc *wc)
{
    if (wc->wc_flags & IBV_WC_WITH_INV)
        wc->invalidated_rkey = ibv_wc_read_invalidated_rkey(cq);
    else
        wc->imm_data = ibv_wc_read_imm_data(cq);
}

/* What the queue was not made to tell must not be asked for: the provider has no function there, or
 * one that reads what the completion does not have. */
static void read_completion(struct ibv_cq_ex *cq, uint64_t fields, struct vv_completion *out)
{
#define HAS(bit, what) (fields & (bit) && cq->read_##what)
#define READ(bit, what, field) out->field = HAS(bit, what) ? ibv_wc_read_##what(cq) : 0
    memset(out, 0, sizeof *out);
    out->wc.wr_id = cq->wr_id;
    out->wc.status = cq->status;
    READ(IBV_WC_EX_WITH_QP_NUM, qp_num, wc.qp_num);
    if (cq->status != IBV_WC_SUCCESS) {
        out->wc.vendor_err = ibv_wc_read_vendor_err(cq);
        return;
    }
    out->wc.opcode = ibv_wc_read_opcode(cq);
    out->wc.wc_flags = ibv_wc_read_wc_flags(cq);
    READ(IBV_WC_EX_WITH_BYTE_LEN, byte_len, wc.byte_len);
    if (HAS(IBV_WC_EX_WITH_IMM, imm_data)) /* the same function tells invalidated keys */
        read_immediate(cq, &out->wc);
    READ(IBV_WC_EX_WITH_SRC_QP, src_qp, wc.src_qp);
    READ(IBV_WC_EX_WITH_SLID, slid, wc.slid);
    READ(IBV_WC_EX_WITH_SL, sl, wc.sl);
    READ(IBV_WC_EX_WITH_DLID_PATH_BITS, dlid_path_bits, wc.dlid_path_bits);
    READ(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, completion_ts, timestamp);
    READ(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, completion_wallclock_ns, wallclock_ns);
    READ(IBV_WC_EX_WITH_FLOW_TAG, flow_tag, flow_tag);
    READ(IBV_WC_EX_WITH_CVLAN, cvlan, vlan);
#undef READ
#undef HAS
}

int vv_poll_cq_ex(struct ibv_cq *queue, uint64_t fields, int limit, struct vv_completion *out)
{
    struct ibv_cq_ex *cq = (struct ibv_cq_ex *)queue; /* the inverse of ibv_cq_ex_to_cq */
    struct ibv_poll_cq_attr none = {0};
    int count = 0;
    int result = ibv_start_poll(cq, &none);
    if (result)
        return result == ENOENT ? 0 : result > 0 ? -result : -EIO;
    do {
        read_completion(cq, fields, &out[count++]);
    } while (count < limit && !ibv_next_poll(cq));
    ibv_end_poll(cq);
    return count;
}

MAKES(vv_create_srq, ibv_create_srq_ex(context, attr), struct ibv_context *context,
      struct ibv_srq_init_attr_ex *attr, struct ibv_srq **out)
DOES(vv_modify_srq, ibv_modify_srq(srq, attr, mask), struct ibv_srq *srq, struct ibv_srq_attr *attr,
     int mask)
DOES(vv_query_srq, ibv_query_srq(srq, attr), struct ibv_srq *srq, struct ibv_srq_attr *attr)
DOES(vv_srq_number, ibv_get_srq_num(srq, out), struct ibv_srq *srq, uint32_t *out)
DOES(vv_destroy_srq, ibv_destroy_srq(srq), struct ibv_srq *srq)

int vv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
    return result_of(ibv_post_srq_recv(srq, request, bad));
}

MAKES(vv_open_xrcd, ibv_open_xrcd(context, attr), struct ibv_context *context,
      struct ibv_xrcd_init_attr *attr, struct ibv_xrcd **out)
DOES(vv_close_xrcd, ibv_close_xrcd(xrcd), struct ibv_xrcd *xrcd)
MAKES(vv_create_qp, ibv_create_qp_ex(context, attr), struct ibv_context *context,
      struct ibv_qp_init_attr_ex *attr, struct ibv_qp **out)
DOES(vv_modify_qp, ibv_modify_qp(qp, attr, mask), struct ibv_qp *qp, struct ibv_qp_attr *attr,
     int mask)
DOES(vv_query_qp, ibv_query_qp(qp, attr, mask, init), struct ibv_qp *qp, struct ibv_qp_attr *attr,
     int mask, struct ibv_qp_init_attr *init)
DOES(vv_destroy_qp, ibv_destroy_qp(qp), struct ibv_qp *qp)

int vv_post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
    return result_of(ibv_post_send(qp, request, bad));
}

int64_t vv_post_and_poll(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad,
                         struct ibv_cq *cq, int limit, struct ibv_wc *completions)
{
    int posted = result_of(ibv_post_send(qp, request, bad));
    int count = ibv_poll_cq(cq, limit, completions);
    return (int64_t)((uint64_t)(uint32_t)posted << 32 | (uint32_t)(count < 0 ? -EIO : count));
}

int vv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
    return result_of(ibv_post_recv(qp, request, bad));
}

int64_t vv_hot_call(int which)
{
    const intptr_t calls[] = {(intptr_t)vv_post_send, (intptr_t)vv_post_recv, (intptr_t)vv_poll_cq,
                              (intptr_t)vv_post_and_poll};
    return which >= 0 && which < (int)(sizeof calls / sizeof calls[0]) ? calls[which] : 0;
}

int vv_query_qp_data_in_order(struct ibv_qp *qp, int opcode)
{
    return ibv_query_qp_data_in_order(qp, (enum ibv_wr_opcode)opcode, 0) ? 1 : 0;
}

DOES(vv_query_ece, ibv_query_ece(qp, ece), struct ibv_qp *qp, struct ibv_ece *ece)
DOES(vv_set_ece, ibv_set_ece(qp, ece), struct ibv_qp *qp, struct ibv_ece *ece)
MAKES(vv_create_wq, ibv_create_wq(context, attr), struct ibv_context *context,
      struct ibv_wq_init_attr *attr, struct ibv_wq **out)
DOES(vv_modify_wq, ibv_modify_wq(wq, attr), struct ibv_wq *wq, struct ibv_wq_attr *attr)
DOES(vv_destroy_wq, ibv_destroy_wq(wq), struct ibv_wq *wq)

int vv_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
    return result_of(ibv_post_wq_recv(wq, request, bad));
}

MAKES(vv_create_table, ibv_create_rwq_ind_table(context, attr), struct ibv_context *context,
      struct ibv_rwq_ind_table_init_attr *attr, struct ibv_rwq_ind_table **out)
DOES(vv_destroy_table, ibv_destroy_rwq_ind_table(table), struct ibv_rwq_ind_table *table)
MAKES(vv_create_flow, ibv_create_flow(qp, attr), struct ibv_qp *qp, struct ibv_flow_attr *attr,
      struct ibv_flow **out)
DOES(vv_destroy_flow, ibv_destroy_flow(flow), struct ibv_flow *flow)

struct ibv_qp_ex *vv_qp_ex(struct ibv_qp *qp)
{
    return ibv_qp_to_qp_ex(qp);
}

/* The operation of one request. 0, or EOPNOTSUPP: the provider has no function for what the queue
 * pair was not made for. */
static int build_operation(struct ibv_qp_ex *qp, uint64_t operations, const struct ibv_send_wr *wr)
{
    uint32_t key = wr->wr.rdma.rkey;
    uint64_t address = wr->wr.rdma.remote_addr;
#define OPERATION(opcode, bit, function, ...)                                                      \
    case opcode:                                                                                   \
        if (!(operations & (bit)) || !qp->function)                                                \
            return EOPNOTSUPP;                                                                     \
        qp->function(__VA_ARGS__);                                                                 \
        return 0
    switch (wr->opcode) {
        OPERATION(IBV_WR_SEND, IBV_QP_EX_WITH_SEND, wr_send, qp);
        OPERATION(IBV_WR_SEND_WITH_IMM, IBV_QP_EX_WITH_SEND_WITH_IMM, wr_send_imm, qp,
                  wr->imm_data);
        OPERATION(IBV_WR_SEND_WITH_INV, IBV_QP_EX_WITH_SEND_WITH_INV, wr_send_inv, qp,
                  wr->invalidate_rkey);
        OPERATION(IBV_WR_RDMA_WRITE, IBV_QP_EX_WITH_RDMA_WRITE, wr_rdma_write, qp, key, address);
        OPERATION(IBV_WR_RDMA_WRITE_WITH_IMM, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, wr_rdma_write_imm,
                  qp, key, address, wr->imm_data);
        OPERATION(IBV_WR_RDMA_READ, IBV_QP_EX_WITH_RDMA_READ, wr_rdma_read, qp, key, address);
        OPERATION(IBV_WR_ATOMIC_CMP_AND_SWP, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, wr_atomic_cmp_swp,
                  qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, wr->wr.atomic.compare_add,
                  wr->wr.atomic.swap);
        OPERATION(IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
                  wr_atomic_fetch_add, qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
                  wr->wr.atomic.compare_add);
        OPERATION(IBV_WR_LOCAL_INV, IBV_QP_EX_WITH_LOCAL_INV, wr_local_inv, qp,
                  wr->invalidate_rkey);
        OPERATION(IBV_WR_BIND_MW, IBV_QP_EX_WITH_BIND_MW, wr_bind_mw, qp, wr->bind_mw.mw,
                  wr->bind_mw.rkey, &wr->bind_mw.bind_info);
    default:
        return EOPNOTSUPP;
    }
#undef OPERATION
}

/* Several pieces are gathered here where they are short: Soft-RoCE's provider forgets the length of
 * a list. */
static int build_inline(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
    struct ibv_data_buf pieces[VV_INLINE_SEGMENTS];
    unsigned char gathered[VV_INLINE_BYTES];
    size_t length = 0;
    if (wr->num_sge > VV_INLINE_SEGMENTS)
        return EOPNOTSUPP;
    for (int i = 0; i < wr->num_sge; i++) {
        pieces[i].addr = (void *)(uintptr_t)wr->sg_list[i].addr;
        pieces[i].length = wr->sg_list[i].length;
        if (pieces[i].length <= sizeof gathered && length + pieces[i].length <= sizeof gathered)
            memcpy(gathered + length, pieces[i].addr, pieces[i].length);
        length += pieces[i].length;
    }
    if (wr->num_sge == 1 && qp->wr_set_inline_data)
        ibv_wr_set_inline_data(qp, pieces[0].addr, length);
    else if (length <= sizeof gathered && qp->wr_set_inline_data)
        ibv_wr_set_inline_data(qp, gathered, length);
    else if (qp->wr_set_inline_data_list)
        ibv_wr_set_inline_data_list(qp, (size_t)wr->num_sge, pieces);
    else
        return EOPNOTSUPP;
    return 0;
}

/* To whom, and which bytes. */
static int build_data(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
    if (wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == IBV_WR_BIND_MW)
        return 0;
    if (qp->qp_base.qp_type == IBV_QPT_UD) {
        if (!qp->wr_set_ud_addr)
            return EOPNOTSUPP;
        ibv_wr_set_ud_addr(qp, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
    }
    if (qp->qp_base.qp_type == IBV_QPT_XRC_SEND) {
        if (!qp->wr_set_xrc_srqn)
            return EOPNOTSUPP;
        ibv_wr_set_xrc_srqn(qp, wr->qp_type.xrc.remote_srqn);
    }
    if (wr->send_flags & IBV_SEND_INLINE)
        return build_inline(qp, wr);
    if (wr->num_sge == 1 && qp->wr_set_sge)
        ibv_wr_set_sge(qp, wr->sg_list->lkey, wr->sg_list->addr, wr->sg_list->length);
    else if (qp->wr_set_sge_list)
        ibv_wr_set_sge_list(qp, (size_t)wr->num_sge, wr->sg_list);
    else
        return EOPNOTSUPP;
    return 0;
}

int vv_wr_post(struct ibv_qp_ex *qp, uint64_t operations, const struct ibv_send_wr *first)
{
    ibv_wr_start(qp);
    for (const struct ibv_send_wr *wr = first; wr; wr = wr->next) {
        qp->wr_id = wr->wr_id;
        qp->wr_flags = wr->send_flags; /* with IBV_SEND_INLINE, which Soft-RoCE needs here too */
        int wrong = build_operation(qp, operations, wr);
        if (!wrong)
            wrong = build_data(qp, wr);
        if (wrong) {
            ibv_wr_abort(qp);
            return -wrong;
        }
    }
    errno = 0;
    return result_of(ibv_wr_complete(qp));
}

DOES(vv_attach_mcast, ibv_attach_mcast(qp, gid, (uint16_t)lid), struct ibv_qp *qp,
     const union ibv_gid *gid, int lid)
DOES(vv_detach_mcast, ibv_detach_mcast(qp, gid, (uint16_t)lid), struct ibv_qp *qp,
     const union ibv_gid *gid, int lid)
MAKES(vv_create_ah, ibv_create_ah(pd, attr), struct ibv_pd *pd, struct ibv_ah_attr *attr,
      struct ibv_ah **out)
MAKES(vv_create_ah_from_wc, ibv_create_ah_from_wc(pd, wc, grh, (uint8_t)port), struct ibv_pd *pd,
      struct ibv_wc *wc, struct ibv_grh *grh, int port, struct ibv_ah **out)
DOES(vv_destroy_ah, ibv_destroy_ah(ah), struct ibv_ah *ah)

/* What JDK 17 calls in place of the JNI functions if it runs with -XX:+CriticalJNINatives (Java
 * may, if it finds such a name): without the change of the thread's state, and its fence, that most
 * of the price of a call from Java is. A garbage collection waits for such a call; so these are
 * only the ones that never sleep. Later JDKs do not look for them. */
#define CRITICAL(type, name)                                                                       \
    __attribute__((visibility("default")))                                                         \
    type JavaCritical_dev_verbena_rdma_calls_verbscalls_vv_1##name

CRITICAL(int, post_1send)(int64_t qp, int64_t request, int64_t bad)
{
    return vv_post_send((struct ibv_qp *)qp, (struct ibv_send_wr *)request,
                        (struct ibv_send_wr **)bad);
}

CRITICAL(int, post_1recv)(int64_t qp, int64_t request, int64_t bad)
{
    return vv_post_recv((struct ibv_qp *)qp, (struct ibv_recv_wr *)request,
                        (struct ibv_recv_wr **)bad);
}

CRITICAL(int, poll_1cq)(int64_t cq, int limit, int64_t completions)
{
    return vv_poll_cq((struct ibv_cq *)cq, limit, (struct ibv_wc *)completions);
}

CRITICAL(int64_t, post_1and_1poll)
(int64_t qp, int64_t request, int64_t bad, int64_t cq, int limit, int64_t completions)
{
    return vv_post_and_poll((struct ibv_qp *)qp, (struct ibv_send_wr *)request,
                            (struct ibv_send_wr **)bad, (struct ibv_cq *)cq, limit,
                            (struct ibv_wc *)completions);
}

CRITICAL(int, layout_1count)(void)
{
    return vv_layout_count();
}
