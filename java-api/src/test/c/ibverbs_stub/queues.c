/* Queue pairs, shared receive queues, XRC domains, addresses, flow rules. */

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
    args(attr->comp_mask, (uint64_t)attr->fd, (uint64_t)attr->oflags, 0, 0);
    if (enter("ibv_open_xrcd"))
        return NULL;
    struct ibv_xrcd *xrcd = object(sizeof *xrcd);
    xrcd->context = context;
    return xrcd;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
    return destroy("ibv_close_xrcd", xrcd);
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_srq_ex"))
        return NULL;
    struct ibv_srq *srq = object(sizeof *srq);
    srq->context = context;
    srq->pd = attr->pd;
    return srq;
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
    (void)srq;
    *number = 4242;
    return enter("ibv_get_srq_num") ? errno : 0;
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_srq"))
        return NULL;
    struct ibv_srq *srq = object(sizeof *srq);
    srq->context = pd->context;
    srq->pd = pd;
    return srq;
}

EXPORT int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    (void)srq;
    keep(attr, sizeof *attr);
    args((uint64_t)mask, 0, 0, 0, 0);
    return enter("ibv_modify_srq") ? errno : 0;
}

EXPORT int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    (void)srq;
    attr->srq_limit = 9;
    return enter("ibv_query_srq") ? errno : 0;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *srq)
{
    return destroy("ibv_destroy_srq", srq);
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_qp"))
        return NULL;
    struct ibv_qp *qp = object(sizeof(struct ibv_qp_ex));
    qp->context = pd->context;
    qp->pd = pd;
    qp->qp_num = (uint32_t)next_number++;
    qp->qp_type = attr->qp_type;
    if (attr->srq)
        shared_cq = attr->recv_cq;
    last_qp = qp;
    return qp;
}

EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags)
{
    (void)qp;
    args((uint64_t)opcode, flags, 0, 0, 0);
    enter("ibv_query_qp_data_in_order");
    return opcode == IBV_WR_RDMA_WRITE;
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    keep(attr, sizeof *attr);
    args((uint64_t)mask, 0, 0, 0, 0);
    if (enter("ibv_modify_qp"))
        return errno;
    if (mask & IBV_QP_AV)
        record.path[record.path_count++ % PATHS] = attr->ah_attr;
    if (mask & IBV_QP_STATE)
        qp->state = attr->qp_state;
    return 0;
}

EXPORT int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                        struct ibv_qp_init_attr *init)
{
    (void)mask;
    (void)init;
    attr->qp_state = qp->state;
    return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
    return destroy("ibv_destroy_qp", qp);
}

/* Receive queues of their own, and tables of them. */

static int post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    record.arg[5] = (uintptr_t)wq;
    return keep_receives(wr, bad);
}

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_wq"))
        return NULL;
    struct ibv_wq *wq = object(sizeof *wq);
    wq->context = context;
    wq->wq_num = (uint32_t)next_number++;
    wq->post_recv = post_wq_recv;
    last_wq = wq;
    return wq;
}

static int modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_modify_wq"))
        return errno;
    wq->state = attr->wq_state;
    return 0;
}

static int destroy_wq(struct ibv_wq *wq)
{
    return destroy("ibv_destroy_wq", wq);
}

static struct ibv_rwq_ind_table *create_rwq_ind_table(struct ibv_context *context,
                                                      struct ibv_rwq_ind_table_init_attr *attr)
{
    size_t size = (size_t)1 << attr->log_ind_tbl_size;
    keep(attr->ind_tbl, size * sizeof *attr->ind_tbl);
    args(attr->log_ind_tbl_size, attr->comp_mask, 0, 0, 0);
    if (enter("ibv_create_rwq_ind_table"))
        return NULL;
    struct ibv_rwq_ind_table *table = object(sizeof *table);
    table->context = context;
    return table;
}

static int destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
    return destroy("ibv_destroy_rwq_ind_table", table);
}

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_ah"))
        return NULL;
    struct ibv_ah *ah = object(sizeof *ah);
    ah->pd = pd;
    return ah;
}

EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
                                            struct ibv_grh *grh, uint8_t port)
{
    keep(wc, sizeof *wc);
    if (grh)
        memcpy(record.bytes + sizeof *wc, grh, sizeof *grh);
    args(grh != NULL, port, 0, 0, 0);
    if (enter("ibv_create_ah_from_wc"))
        return NULL;
    struct ibv_ah *ah = object(sizeof *ah);
    ah->pd = pd;
    return ah;
}

EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
    return destroy("ibv_destroy_ah", ah);
}

EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp;
    keep(gid, sizeof *gid);
    args(lid, 0, 0, 0, 0);
    return enter("ibv_attach_mcast") ? errno : 0;
}

EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp;
    keep(gid, sizeof *gid);
    args(lid, 0, 0, 0, 0);
    return enter("ibv_detach_mcast") ? errno : 0;
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    keep(attr, attr->size);
    if (enter("ibv_create_flow"))
        return NULL;
    struct ibv_flow *flow = object(sizeof *flow);
    flow->context = qp->context;
    return flow;
}

static int destroy_flow(struct ibv_flow *flow)
{
    return destroy("ibv_destroy_flow", flow);
}

EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    if (enter("ibv_query_ece"))
        return errno;
    ece->vendor_id = 0x15b3;
    ece->options = 0x80000001u;
    return 0;
}

EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    args(ece->vendor_id, ece->options, ece->comp_mask, 0, 0);
    return enter("ibv_set_ece") ? errno : 0;
}
