/* Post and poll that do nothing, and loops in C that Java's are compared with. */

__attribute__((noinline, noclone)) static int no_post(struct ibv_qp *qp, struct ibv_send_wr *wr,
                                                      struct ibv_send_wr **bad)
{
    __asm__ volatile("" : : "r"(qp), "r"(wr), "r"(bad) : "memory");
    return 0;
}

__attribute__((noinline, noclone)) static int no_poll(struct ibv_cq *cq, int limit,
                                                      struct ibv_wc *wc)
{
    __asm__ volatile("" : : "r"(cq), "r"(limit), "r"(wc) : "memory");
    return 0;
}

#define POLLED 16
static uint64_t noted_ids[POLLED];

/* Notes the ids of a chain, for full_poll. */
static int noting_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    (void)qp;
    (void)bad;
    for (int i = 0; wr && i < POLLED; i++, wr = wr->next)
        noted_ids[i] = wr->wr_id;
    return 0;
}

/* Answers 16 completions, again and again the same. */
__attribute__((noinline, noclone)) static int full_poll(struct ibv_cq *cq, int limit,
                                                        struct ibv_wc *wc)
{
    __asm__ volatile("" : : "r"(cq) : "memory");
    int count = limit < POLLED ? limit : POLLED;
    for (int i = 0; i < count; i++) {
        wc[i].wr_id = noted_ids[i];
        wc[i].status = IBV_WC_SUCCESS;
        wc[i].opcode = IBV_WC_RDMA_WRITE;
        wc[i].byte_len = 64;
    }
    return count;
}

/* What C programs do. */
enum measured { EDIT_POST_POLL, POST, FILL_POST, POLL_FULL, NOTE_IDS, ANSWER_FULL, DO_NOTHING };

static struct ibv_sge c_segment = {.addr = 4096, .length = 64, .lkey = 1};
static struct ibv_send_wr c_request = {.sg_list = &c_segment,
                                       .num_sge = 1,
                                       .opcode = IBV_WR_RDMA_WRITE,
                                       .send_flags = IBV_SEND_SIGNALED};

static void c_edit_post_poll(int rounds)
{
    struct ibv_send_wr *bad;
    struct ibv_wc wc[POLLED];
    for (int i = 0; i < rounds; i++) {
        c_request.wr_id = (uint64_t)i;
        c_request.wr.rdma.remote_addr = (uint64_t)i * 64;
        if (ibv_post_send(last_qp, &c_request, &bad) || ibv_poll_cq(last_cq, POLLED, wc))
            abort();
    }
}

static void c_post(int rounds)
{
    struct ibv_send_wr *bad;
    for (int i = 0; i < rounds; i++)
        if (ibv_post_send(last_qp, &c_request, &bad))
            abort();
}

static void c_fill_post(int rounds)
{
    struct ibv_send_wr *bad;
    for (int i = 0; i < rounds; i++) {
        c_segment = (struct ibv_sge){.addr = 4096u + (i & 1023), .length = 64, .lkey = 1};
        c_request = (struct ibv_send_wr){.wr_id = (uint64_t)i,
                                         .sg_list = &c_segment,
                                         .num_sge = 1,
                                         .opcode = IBV_WR_RDMA_WRITE,
                                         .send_flags = IBV_SEND_SIGNALED,
                                         .wr.rdma = {(uint64_t)i * 64, 5}};
        if (ibv_post_send(last_qp, &c_request, &bad))
            abort();
    }
}

static void c_poll_full(int rounds)
{
    struct ibv_wc wc[POLLED];
    uint64_t sum = 0;
    for (int i = 0; i < rounds; i++) {
        int count = ibv_poll_cq(last_cq, POLLED, wc);
        for (int n = 0; n < count; n++)
            sum += wc[n].status == IBV_WC_SUCCESS ? wc[n].wr_id + wc[n].byte_len : 0;
    }
    __asm__ volatile("" : : "r"(sum));
}

static void measure(struct ibv_context *context, enum measured what, int rounds)
{
    switch (what) {
    case EDIT_POST_POLL:
        c_edit_post_poll(rounds);
        break;
    case POST:
        c_post(rounds);
        break;
    case FILL_POST:
        c_fill_post(rounds);
        break;
    case POLL_FULL:
        c_poll_full(rounds);
        break;
    case NOTE_IDS:
        context->ops.post_send = noting_post;
        break;
    case ANSWER_FULL:
        context->ops.post_send = no_post;
        context->ops.poll_cq = full_poll;
        break;
    case DO_NOTHING:
        context->ops.post_send = no_post;
        context->ops.poll_cq = no_poll;
        break;
    }
}
