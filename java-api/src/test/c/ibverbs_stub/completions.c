/* Channels and completion queues. */

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    if (enter("ibv_create_comp_channel"))
        return NULL;
    struct ibv_comp_channel *channel = object(sizeof *channel);
    channel->context = context;
    channel->fd = eventfd(0, EFD_CLOEXEC);
    return channel;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    int file = channel->fd;
    int result = destroy("ibv_destroy_comp_channel", channel);
    if (!result)
        close(file);
    return result;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
    (void)channel;
    if (!record.channel_events) {
        errno = EAGAIN;
        return -1;
    }
    record.channel_events--;
    *cq = last_cq;
    *context = NULL;
    return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
    (void)cq;
    args(count, 0, 0, 0, 0);
    enter("ibv_ack_cq_events");
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
                                    struct ibv_comp_channel *channel, int vector)
{
    args((uint64_t)entries, (uintptr_t)cq_context, channel != NULL, (uint64_t)vector, 0);
    if (enter("ibv_create_cq"))
        return NULL;
    struct ibv_cq *cq = object(sizeof *cq);
    cq->context = context;
    cq->channel = channel;
    cq->cqe = entries + 1;
    cq->handle = (uint32_t)next_number++;
    last_cq = cq;
    return cq;
}

EXPORT int ibv_resize_cq(struct ibv_cq *cq, int entries)
{
    args((uint64_t)entries, 0, 0, 0, 0);
    if (enter("ibv_resize_cq"))
        return errno;
    cq->cqe = entries;
    return 0;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
    return destroy("ibv_destroy_cq", cq);
}

/* Extended ones tell record.wc, and of number n time stamps 1000 + n. */

static int at_wc;

static int show(struct ibv_cq_ex *cq)
{
    if (at_wc >= record.completions)
        return ENOENT;
    cq->wr_id = record.wc[at_wc].wr_id;
    cq->status = record.wc[at_wc].status;
    return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
    if (enter("start_poll"))
        return errno;
    at_wc = 0;
    return attr->comp_mask ? EINVAL : show(cq);
}

static int next_poll(struct ibv_cq_ex *cq)
{
    at_wc++;
    return show(cq);
}

static void end_poll(struct ibv_cq_ex *cq)
{
    (void)cq;
    enter("end_poll");
    int taken = at_wc < record.completions ? at_wc + 1 : at_wc;
    memmove(record.wc, record.wc + taken, (REQUESTS - (size_t)taken) * sizeof *record.wc);
    record.completions -= taken;
}

#define READ(type, name, value)                                                                    \
    static type read_##name(struct ibv_cq_ex *cq)                                                  \
    {                                                                                              \
        (void)cq;                                                                                  \
        return (type)(value);                                                                      \
    }
READ(enum ibv_wc_opcode, opcode, record.wc[at_wc].opcode)
READ(uint32_t, vendor_err, record.wc[at_wc].vendor_err)
READ(uint32_t, byte_len, record.wc[at_wc].byte_len)
READ(__be32, imm_data, record.wc[at_wc].imm_data)
READ(uint32_t, qp_num, record.wc[at_wc].qp_num)
READ(uint32_t, src_qp, 77)
READ(unsigned int, wc_flags, record.wc[at_wc].wc_flags)
READ(uint32_t, slid, 55)
READ(uint8_t, sl, 5)
READ(uint8_t, dlid_path_bits, 3)
READ(uint64_t, completion_ts, 1000 + at_wc)
READ(uint16_t, cvlan, 12)
READ(uint32_t, flow_tag, 13)
READ(uint64_t, completion_wallclock_ns, 2000 + at_wc)

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_cq_ex"))
        return NULL;
    struct ibv_cq_ex *cq = object(sizeof *cq);
    uint64_t fields = attr->wc_flags;
    cq->context = context;
    cq->channel = attr->channel;
    cq->cqe = (int)attr->cqe;
    cq->handle = (uint32_t)next_number++;
    cq->start_poll = start_poll;
    cq->next_poll = next_poll;
    cq->end_poll = end_poll;
    cq->read_opcode = read_opcode;
    cq->read_vendor_err = read_vendor_err;
    cq->read_wc_flags = read_wc_flags;
    /* As providers do it: no function for what was not asked for. */
    cq->read_byte_len = fields & IBV_WC_EX_WITH_BYTE_LEN ? read_byte_len : NULL;
    cq->read_imm_data = fields & IBV_WC_EX_WITH_IMM ? read_imm_data : NULL;
    cq->read_qp_num = fields & IBV_WC_EX_WITH_QP_NUM ? read_qp_num : NULL;
    cq->read_src_qp = fields & IBV_WC_EX_WITH_SRC_QP ? read_src_qp : NULL;
    cq->read_slid = fields & IBV_WC_EX_WITH_SLID ? read_slid : NULL;
    cq->read_sl = fields & IBV_WC_EX_WITH_SL ? read_sl : NULL;
    cq->read_dlid_path_bits = fields & IBV_WC_EX_WITH_DLID_PATH_BITS ? read_dlid_path_bits : NULL;
    cq->read_completion_ts =
        fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP ? read_completion_ts : NULL;
    cq->read_cvlan = fields & IBV_WC_EX_WITH_CVLAN ? read_cvlan : NULL;
    cq->read_flow_tag = fields & IBV_WC_EX_WITH_FLOW_TAG ? read_flow_tag : NULL;
    cq->read_completion_wallclock_ns = fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK
                                           ? read_completion_wallclock_ns
                                           : NULL;
    last_cq = ibv_cq_ex_to_cq(cq);
    return cq;
}
