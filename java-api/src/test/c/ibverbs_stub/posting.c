/* What is posted is recorded; polling answers what the test has laid down. */

static int poll_cq(struct ibv_cq *cq, int limit, struct ibv_wc *wc)
{
    if (record.shared_only && cq != shared_cq)
        return 0;
    int count = record.completions < limit ? record.completions : limit;
    if (count > 0)
        memcpy(wc, record.wc, (size_t)count * sizeof *wc);
    record.completions = 0;
    return count;
}

static void keep_segments(int at, const struct ibv_sge *list, int count)
{
    for (int i = 0; i < count && i < SEGMENTS; i++)
        record.segment[at][i] = list[i];
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    (void)qp;
    record.posted = 0;
    if (record.fail_errno && !strcmp(record.fail_call, "ibv_post_send") && enter("ibv_post_send"))
        return errno; /* as some providers do, without saying which request is bad */
    for (; wr; wr = wr->next) {
        if (record.posted == record.post_bad) {
            record.post_bad = -1;
            *bad = wr;
            return record.post_errno;
        }
        if (record.posted < REQUESTS) {
            memcpy(record.request[record.posted], wr, sizeof *wr);
            keep_segments(record.posted, wr->sg_list, wr->num_sge);
        }
        record.posted++;
    }
    return 0;
}

static int keep_receives(struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    record.posted = 0;
    for (; wr; wr = wr->next) {
        if (record.posted == record.post_bad) {
            record.post_bad = -1;
            *bad = wr;
            return record.post_errno;
        }
        if (record.posted < REQUESTS) {
            memcpy(record.request[record.posted], wr, sizeof *wr);
            keep_segments(record.posted, wr->sg_list, wr->num_sge);
        }
        record.posted++;
    }
    return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)qp;
    return keep_receives(wr, bad);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)srq;
    for (struct ibv_recv_wr *next = wr; next; next = next->next)
        record.receive[record.receive_count++ % RECEIVES] = next->wr_id;
    return keep_receives(wr, bad);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    (void)cq;
    args((uint64_t)solicited_only, 0, 0, 0, 0);
    return enter("ibv_req_notify_cq") ? errno : 0;
}
