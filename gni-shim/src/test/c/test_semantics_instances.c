/* Where the id of a bind is the peer's instance: datagrams and message queues (semantics.h;
 * assertions 79, 80, 86). */
#define _GNU_SOURCE
#include "semantics.h"

#define QUEUE_BYTES 64u
#define QUEUE_CREDITS 8u
#define QUEUE_MESSAGES 100

struct line {
    const char *assertions, *name;
    const struct kind *kind;
};

/* ---- datagrams ---- */

struct datagrams {
    uint8_t out[MEMBERS][GNI_DATAGRAM_MAXSIZE], in[MEMBERS][GNI_DATAGRAM_MAXSIZE];
};

static void datagram_connect(struct member *m)
{
    for (int peer = 0; peer < m->size; peer++)
        if (peer != m->rank)
            m->ep[peer][0] = bind_to(m, peer, 1);
    m->own = calloc(1, sizeof(struct datagrams));
    CHECK(m->own != NULL);
}

/* To everybody the rank, then bytes made of both; an open one says 99. */
static void datagram_fill(struct member *m, int slot, int peer)
{
    struct datagrams *d = m->own;

    d->out[slot][0] = (uint8_t)m->rank;
    fill(d->out[slot] + 1, GNI_DATAGRAM_MAXSIZE - 1, id_of(m->rank, peer, 0, 0));
}

static void datagram_start(struct member *m)
{
    struct datagrams *d = m->own;

    for (int peer = 0; peer < m->size; peer++) {
        datagram_fill(m, peer, peer);
        if (peer != m->rank)
            OK(GNI_EpPostData(m->ep[peer][0], d->out[peer], GNI_DATAGRAM_MAXSIZE, d->in[peer],
                              GNI_DATAGRAM_MAXSIZE));
    }
}

/* A datagram that ended: answers whose it is, and checks that all agrees. */
static int datagram_taken(struct member *m, int slot, uint32_t pe, uint32_t inst, int is_for_us)
{
    const struct datagrams *d = m->own;
    int peer = d->in[slot][0];

    CHECK(peer < m->size && peer != m->rank);
    CHECK_EQ(inst_of(peer), inst);
    CHECK_EQ(pe_of(m, peer), pe);
    CHECK(is_filled(d->in[slot] + 1, GNI_DATAGRAM_MAXSIZE - 1,
                    id_of(peer, is_for_us ? m->rank : peer, 0, 0)));
    CHECK_EQ(1, ++m->received[peer][0]);
    m->arrivals++;
    return peer;
}

static int datagram_progress(struct member *m)
{
    gni_post_state_t state;
    uint32_t pe, inst;

    for (int peer = 0; peer < m->size; peer++) {
        if (peer == m->rank || m->received[peer][0])
            continue;
        OK(GNI_EpPostDataTest(m->ep[peer][0], &state, &pe, &inst));
        if (state == GNI_POST_COMPLETED)
            CHECK_EQ(peer, datagram_taken(m, peer, pe, inst, 1));
        else
            CHECK_EQ(GNI_POST_PENDING, state);
    }
    return m->arrivals == m->size - 1;
}

static void datagram_finish(struct member *m)
{
    uint64_t id;

    CODE(GNI_RC_NO_MATCH, GNI_PostDataProbeById(m->node.nic, &id));
    free(m->own);
}

static const struct kind datagram = {.connect = datagram_connect,
                                     .start = datagram_start,
                                     .progress = datagram_progress,
                                     .finish = datagram_finish,
                                     .binds_instances = 1};

/* Open datagrams for all members with greater numbers, bound ones to those with smaller ones. */
static void open_start(struct member *m)
{
    struct datagrams *d = m->own;

    for (int peer = 0; peer < m->size; peer++) {
        int is_open = peer > m->rank;

        datagram_fill(m, peer, is_open ? m->rank : peer);
        if (peer != m->rank)
            OK(GNI_EpPostDataWId(is_open ? m->node.ep : m->ep[peer][0], d->out[peer],
                                 GNI_DATAGRAM_MAXSIZE, d->in[peer], GNI_DATAGRAM_MAXSIZE,
                                 (uint64_t)peer));
    }
}

static int open_progress(struct member *m)
{
    gni_post_state_t state;
    uint32_t pe, inst;
    uint64_t id;

    while (GNI_PostDataProbeById(m->node.nic, &id) == GNI_RC_SUCCESS) {
        int is_open = (int)id > m->rank, peer;

        OK(GNI_EpPostDataTestById(is_open ? m->node.ep : m->ep[id][0], id, &state, &pe, &inst));
        CHECK_EQ(GNI_POST_COMPLETED, state);
        peer = datagram_taken(m, (int)id, pe, inst, is_open);
        CHECK(is_open ? peer > m->rank : peer == (int)id);
    }
    return m->arrivals == m->size - 1;
}

static const struct kind open_datagram = {.connect = datagram_connect,
                                          .start = open_start,
                                          .progress = open_progress,
                                          .finish = datagram_finish,
                                          .binds_instances = 1};

/* ---- message queues: nodes are addresses ---- */

struct queue {
    int told[MEMBERS][2]; /* first: take_sent's */
    gni_msgq_handle_t handle;
};

static int is_elsewhere(const struct member *m, int peer)
{
    return address_of(m, peer) != address_of(m, m->rank);
}

/* The first member of each address speaks for it. */
static int is_first(const struct member *m)
{
    for (int rank = 0; rank < m->rank; rank++)
        if (!is_elsewhere(m, rank))
            return 0;
    return 1;
}

static int on_message(uint32_t snd_id, uint32_t snd_pe, void *msg, uint8_t msg_tag, void *cb_data)
{
    struct member *m = cb_data;
    int from = msg_tag;

    CHECK(from < m->size && is_elsewhere(m, from));
    CHECK_EQ(inst_of(from), snd_id);
    CHECK_EQ(pe_of(m, from), snd_pe);
    CHECK(is_filled(msg, QUEUE_BYTES, id_of(from, m->rank, 0, m->received[from][0]++)));
    m->arrivals++;
    return 1;
}

static void queue_prepare(struct member *m)
{
    gni_msgq_attr_t a = {.max_msg_sz = QUEUE_BYTES,
                         .smsg_q_sz = QUEUE_CREDITS,
                         .rcv_pool_sz = 4096,
                         .num_msgq_eps = MEMBERS,
                         .rcv_cq_sz = 64};
    gni_msgq_ep_attr_t told;
    struct queue *q = calloc(1, sizeof(*q));
    uint32_t size;

    CHECK(q != NULL);
    m->own = q;
    for (int peer = 0; peer < m->size; peer++)
        a.nloc_insts += !is_elsewhere(m, peer);
    OK(GNI_MsgqInit(m->node.nic, on_message, m, m->node.cq, &a, &q->handle));
    for (int peer = 0; peer < m->size && is_first(m); peer++)
        if (is_elsewhere(m, peer) && peer < m->world->addresses) {
            OK(GNI_MsgqGetConnAttrs(q->handle, pe_of(m, peer), &told, &size));
            CHECK(size <= sizeof(m->board->queue[0][0]));
            memcpy(m->board->queue[address_of(m, m->rank)][address_of(m, peer)], &told, size);
        }
}

static void queue_connect(struct member *m)
{
    const struct queue *q = m->own;
    gni_msgq_ep_attr_t told;

    for (int peer = 0; peer < m->size; peer++)
        if (is_elsewhere(m, peer)) {
            m->ep[peer][0] = bind_to(m, peer, 1);
            if (!is_first(m) || peer >= m->world->addresses)
                continue;
            memset(&told, 0, sizeof(told));
            memcpy(&told, m->board->queue[address_of(m, peer)][address_of(m, m->rank)],
                   sizeof(m->board->queue[0][0]));
            OK(GNI_MsgqConnect(q->handle, pe_of(m, peer), &told));
        }
}

static void queue_send(struct member *m, int peer)
{
    const struct queue *q = m->own;
    uint32_t id = id_of(m->rank, peer, 0, m->sent[peer][0]);
    uint8_t bytes[QUEUE_BYTES];
    gni_return_t code;

    fill(bytes, sizeof(bytes), id);
    code = GNI_MsgqSend(q->handle, m->ep[peer][0], bytes, 8, bytes + 8, QUEUE_BYTES - 8, id,
                        (uint8_t)m->rank);
    if (code == GNI_RC_NOT_DONE)
        return;
    OK(code);
    m->sent[peer][0]++;
}

static int queue_progress(struct member *m)
{
    const struct queue *q = m->own;
    int is_done = 1;

    OK(GNI_MsgqProgress(q->handle, (uint32_t)-1));
    for (int peer = 0; peer < m->size; peer++)
        if (is_elsewhere(m, peer)) {
            if (m->sent[peer][0] < QUEUE_MESSAGES)
                queue_send(m, peer);
            is_done &= m->sent[peer][0] == QUEUE_MESSAGES && m->received[peer][0] == QUEUE_MESSAGES;
        }
    take_sent(m, GNI_CQ_EVENT_TYPE_MSGQ);
    return is_done;
}

static void queue_finish(struct member *m)
{
    struct queue *q = m->own;

    CHECK_EQ(m->arrivals, m->events);
    OK(GNI_MsgqRelease(q->handle));
    free(q);
}

static const struct kind queue = {.prepare = queue_prepare,
                                  .connect = queue_connect,
                                  .progress = queue_progress,
                                  .finish = queue_finish,
                                  .binds_instances = 1,
                                  .needs_addresses = 1};

static const struct line lines[] = {
    {"79", "datagram", &datagram},
    {"79,80,86", "datagram_open", &open_datagram},
    {"", "msgq", &queue},
};

SEMANTICS_MAIN(lines, line->kind)
