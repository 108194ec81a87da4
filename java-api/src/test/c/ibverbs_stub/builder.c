/* The builder: what it builds is recorded as if it had been posted. */

static struct ibv_send_wr *built(struct ibv_qp_ex *qp, const char *call)
{
    (void)qp;
    strncat(record.builder, call, sizeof record.builder - strlen(record.builder) - 2);
    strcat(record.builder, " ");
    return (struct ibv_send_wr *)record.request[record.posted ? record.posted - 1 : 0];
}

static struct ibv_send_wr *begin(struct ibv_qp_ex *qp, const char *call, enum ibv_wr_opcode opcode)
{
    record.posted++;
    struct ibv_send_wr *wr = built(qp, call);
    memset(wr, 0, sizeof *wr);
    wr->wr_id = qp->wr_id;
    wr->send_flags = qp->wr_flags;
    wr->opcode = opcode;
    return wr;
}

static void wr_start(struct ibv_qp_ex *qp)
{
    record.posted = 0;
    memset(record.builder, 0, sizeof record.builder);
    built(qp, "start");
}

static int wr_complete(struct ibv_qp_ex *qp)
{
    built(qp, "complete");
    return enter("ibv_wr_complete") ? errno : 0;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
    built(qp, "abort");
}

static void wr_send(struct ibv_qp_ex *qp)
{
    begin(qp, "send", IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 data)
{
    begin(qp, "send_imm", IBV_WR_SEND_WITH_IMM)->imm_data = data;
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t key)
{
    begin(qp, "send_inv", IBV_WR_SEND_WITH_INV)->invalidate_rkey = key;
}

static void remote(struct ibv_send_wr *wr, uint32_t key, uint64_t address)
{
    wr->wr.rdma.rkey = key;
    wr->wr.rdma.remote_addr = address;
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t key, uint64_t address)
{
    remote(begin(qp, "write", IBV_WR_RDMA_WRITE), key, address);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, __be32 data)
{
    struct ibv_send_wr *wr = begin(qp, "write_imm", IBV_WR_RDMA_WRITE_WITH_IMM);
    remote(wr, key, address);
    wr->imm_data = data;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t key, uint64_t address)
{
    remote(begin(qp, "read", IBV_WR_RDMA_READ), key, address);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t key, uint64_t address,
                              uint64_t compare, uint64_t swap)
{
    struct ibv_send_wr *wr = begin(qp, "cmp_swp", IBV_WR_ATOMIC_CMP_AND_SWP);
    wr->wr.atomic.remote_addr = address;
    wr->wr.atomic.compare_add = compare;
    wr->wr.atomic.swap = swap;
    wr->wr.atomic.rkey = key;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, uint64_t add)
{
    struct ibv_send_wr *wr = begin(qp, "fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD);
    wr->wr.atomic.remote_addr = address;
    wr->wr.atomic.compare_add = add;
    wr->wr.atomic.rkey = key;
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t key)
{
    begin(qp, "local_inv", IBV_WR_LOCAL_INV)->invalidate_rkey = key;
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t key,
                       const struct ibv_mw_bind_info *info)
{
    struct ibv_send_wr *wr = begin(qp, "bind_mw", IBV_WR_BIND_MW);
    wr->bind_mw.mw = mw;
    wr->bind_mw.rkey = key;
    wr->bind_mw.bind_info = *info;
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t number, uint32_t key)
{
    struct ibv_send_wr *wr = built(qp, "ud_addr");
    wr->wr.ud.ah = ah;
    wr->wr.ud.remote_qpn = number;
    wr->wr.ud.remote_qkey = key;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *list)
{
    built(qp, "sge_list")->num_sge = (int)count;
    keep_segments(record.posted - 1, list, (int)count);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, uint32_t length)
{
    struct ibv_sge sge = {.addr = address, .length = length, .lkey = key};
    built(qp, "sge")->num_sge = 1;
    keep_segments(record.posted - 1, &sge, 1);
}

/* The bytes are copied, as a device does; to where the last structure is kept. */
static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t count,
                                    const struct ibv_data_buf *list)
{
    size_t at = 0;
    built(qp, "inline")->num_sge = (int)count;
    for (size_t i = 0; i < count && at + list[i].length <= sizeof record.bytes; i++) {
        memcpy(record.bytes + at, list[i].addr, list[i].length);
        at += list[i].length;
    }
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *from, size_t length)
{
    struct ibv_data_buf one = {.addr = from, .length = length};
    wr_set_inline_data_list(qp, 1, &one);
}

EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    struct ibv_qp_ex *extended = (struct ibv_qp_ex *)qp;
    return extended->wr_start ? extended : NULL;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    struct ibv_pd of_context = {.context = context};
    struct ibv_qp_ex *qp = (struct ibv_qp_ex *)ibv_create_qp(attr->pd ? attr->pd : &of_context,
                                                             (struct ibv_qp_init_attr *)attr);
    keep(attr, sizeof *attr);
    if (attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH) /* the key is kept behind it */
        memcpy(record.bytes + sizeof *attr, attr->rx_hash_conf.rx_hash_key,
               attr->rx_hash_conf.rx_hash_key_len);
    if (!qp)
        return NULL;
    uint64_t operations = attr->send_ops_flags;
    qp->wr_start = wr_start;
    qp->wr_complete = wr_complete;
    qp->wr_abort = wr_abort;
    qp->wr_set_sge = wr_set_sge;
    qp->wr_set_sge_list = wr_set_sge_list;
    qp->wr_set_inline_data = wr_set_inline_data;
    qp->wr_set_inline_data_list = wr_set_inline_data_list;
    qp->wr_set_ud_addr = attr->qp_type == IBV_QPT_UD ? wr_set_ud_addr : NULL;
    /* As providers do it: no function for what was not asked for. */
    if (operations & IBV_QP_EX_WITH_SEND)
        qp->wr_send = wr_send;
    if (operations & IBV_QP_EX_WITH_SEND_WITH_IMM)
        qp->wr_send_imm = wr_send_imm;
    if (operations & IBV_QP_EX_WITH_SEND_WITH_INV)
        qp->wr_send_inv = wr_send_inv;
    if (operations & IBV_QP_EX_WITH_RDMA_WRITE)
        qp->wr_rdma_write = wr_rdma_write;
    if (operations & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
        qp->wr_rdma_write_imm = wr_rdma_write_imm;
    if (operations & IBV_QP_EX_WITH_RDMA_READ)
        qp->wr_rdma_read = wr_rdma_read;
    if (operations & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
        qp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    if (operations & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
        qp->wr_atomic_fetch_add = wr_atomic_fetch_add;
    if (operations & IBV_QP_EX_WITH_LOCAL_INV)
        qp->wr_local_inv = wr_local_inv;
    if (operations & IBV_QP_EX_WITH_BIND_MW)
        qp->wr_bind_mw = wr_bind_mw;
    return &qp->qp_base;
}
