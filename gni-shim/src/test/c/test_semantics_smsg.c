/* Short messages between members whose endpoints are bound with any id (semantics.h; assertions 19,
 * 114, 115, 117, 119, 120). */
#define _GNU_SOURCE
#include "semantics.h"

#define MAILBOXES_AT 65536u

struct line {
    const char *assertions, *name;
    const struct kind *kind;
    int count; /* messages to each mailbox */
    uint16_t credits;
    uint32_t maxsize;
    int mailboxes;   /* for each peer */
    int is_reckoned; /* mailboxes have the size that programs reckon: credits x maxsize */
    int is_equal;    /* the mailboxes of two members have equal offsets at both */
};

static uint32_t mailbox_bytes(const gni_smsg_attr_t *attr, int is_reckoned)
{
    gni_smsg_attr_t asked = *attr;
    unsigned size;

    OK(GNI_SmsgBufferSizeNeeded(&asked, &size));
    return is_reckoned ? attr->mbox_maxcredit * attr->msg_maxsize : size;
}

static void smsg_prepare(struct member *m)
{
    const struct line *l = m->line;

    for (int peer = 0; peer < m->size; peer++)
        for (int k = 0; k < l->mailboxes; k++) {
            gni_smsg_attr_t *attr = &m->board->mailbox[m->rank][peer][k];
            int place = l->is_equal ? m->rank + peer : peer;

            attr->msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
            attr->mbox_maxcredit = l->credits;
            attr->msg_maxsize = l->maxsize;
            attr->msg_buffer = m->node.memory;
            attr->mem_hndl = m->node.handle;
            attr->buff_size = mailbox_bytes(attr, l->is_reckoned);
            attr->mbox_offset =
                MAILBOXES_AT + (uint32_t)(place * l->mailboxes + k) * attr->buff_size;
        }
}

static void smsg_connect(struct member *m)
{
    for (int peer = 0; peer < m->size; peer++)
        for (int k = 0; k < m->line->mailboxes && peer != m->rank; k++) {
            m->ep[peer][k] = bind_to(m, peer, 0);
            OK(GNI_SmsgInit(m->ep[peer][k], &m->board->mailbox[m->rank][peer][k],
                            &m->board->mailbox[peer][m->rank][k]));
        }
}

/* Every length, the longest first. */
static uint32_t length_of(const struct line *l, int number)
{
    return l->maxsize - (uint32_t)number * 13 % (l->maxsize + 1);
}

/* 0: there is no credit. */
static int smsg_send(struct member *m, int peer, int k)
{
    int number = m->sent[peer][k];
    uint32_t id = id_of(m->rank, peer, k, number), length = length_of(m->line, number);
    uint32_t header = length / 3;
    uint8_t bytes[1024];
    gni_return_t code;

    fill(bytes, length, id);
    code = GNI_SmsgSendWTag(m->ep[peer][k], bytes, header, bytes + header, length - header, id,
                            (uint8_t)(number % 200));
    if (code == GNI_RC_NOT_DONE)
        return 0;
    OK(code);
    m->sent[peer][k]++;
    return 1;
}

/* 0: there is no message. */
static int smsg_receive(struct member *m, int peer, int k)
{
    int number = m->received[peer][k];
    uint8_t tag = GNI_SMSG_ANY_TAG;
    void *message;
    gni_return_t code = GNI_SmsgGetNextWTag(m->ep[peer][k], &message, &tag);

    if (code == GNI_RC_NOT_DONE)
        return 0;
    OK(code);
    CHECK_EQ(number % 200, tag);
    CHECK(is_filled(message, length_of(m->line, number), id_of(peer, m->rank, k, number)));
    OK(GNI_SmsgRelease(m->ep[peer][k]));
    m->received[peer][k]++;
    return 1;
}

static void start_counting(struct member *m)
{
    m->own = calloc(MEMBERS, 2 * sizeof(int));
    CHECK(m->own != NULL);
}

/* As fast as credits allow, reading everything after any event. */
static int stream_progress(struct member *m)
{
    gni_cq_entry_t entry;
    int is_done = 1;

    take_sent(m, GNI_CQ_EVENT_TYPE_SMSG);
    while (next_arrival(m, &entry) >= 0)
        ;
    for (int peer = 0; peer < m->size; peer++)
        for (int k = 0; k < m->line->mailboxes && peer != m->rank; k++) {
            while (smsg_receive(m, peer, k))
                ;
            if (m->sent[peer][k] < m->line->count)
                smsg_send(m, peer, k);
            is_done &= m->sent[peer][k] == m->line->count && m->received[peer][k] == m->line->count;
        }
    take_sent(m, GNI_CQ_EVENT_TYPE_SMSG);
    return is_done;
}

static void smsg_finish(struct member *m)
{
    int messages = (m->size - 1) * m->line->mailboxes * m->line->count;
    int places = (m->line->is_equal ? 2 * MEMBERS : MEMBERS) * m->line->mailboxes;
    const gni_smsg_attr_t *attr = &m->board->mailbox[m->rank][0][0];

    CHECK_EQ(messages, m->events);
    for (int peer = 0; peer < m->size; peer++)
        for (int k = 0; k < m->line->mailboxes && peer != m->rank; k++)
            CHECK(!smsg_receive(m, peer, k));
    CHECK(is_zero(m->node.memory, MAILBOXES_AT));
    CHECK(is_zero(m->node.memory + MAILBOXES_AT + (uint32_t)places * attr->buff_size, 4096));
    free(m->own);
}

static const struct kind stream = {.prepare = smsg_prepare,
                                   .connect = smsg_connect,
                                   .start = start_counting,
                                   .progress = stream_progress,
                                   .finish = smsg_finish};

/* One message for each that came, and one event for each message (assertion 120). */
static void exchange_start(struct member *m)
{
    start_counting(m);
    for (int peer = 0; peer < m->size; peer++)
        CHECK(peer == m->rank || smsg_send(m, peer, 0));
}

static int exchange_progress(struct member *m)
{
    gni_cq_entry_t entry;
    int peer = next_arrival(m, &entry), is_done = 1;

    take_sent(m, GNI_CQ_EVENT_TYPE_SMSG);
    if (peer >= 0) {
        CHECK(smsg_receive(m, peer, 0)); /* an event with no message behind it fails here */
        CHECK(m->sent[peer][0] == m->line->count || smsg_send(m, peer, 0));
    }
    for (peer = 0; peer < m->size; peer++)
        is_done &= peer == m->rank ||
                   (m->received[peer][0] == m->line->count && m->sent[peer][0] == m->line->count);
    take_sent(m, GNI_CQ_EVENT_TYPE_SMSG);
    return is_done;
}

static void exchange_finish(struct member *m)
{
    CHECK_EQ((m->size - 1) * m->line->count, m->arrivals);
    expect_empty(m->node.dst);
    smsg_finish(m);
}

static const struct kind exchange = {.prepare = smsg_prepare,
                                     .connect = smsg_connect,
                                     .start = exchange_start,
                                     .progress = exchange_progress,
                                     .finish = exchange_finish};

static const struct line lines[] = {
    {"19,114,115,117", "smsg", &stream, 100, 8, 256, 1, 0, 0},
    {"114,115,117", "smsg_one_credit", &stream, 50, 1, 64, 1, 0, 0},
    {"114,115,117", "smsg_two_mailboxes", &stream, 100, 4, 200, 2, 0, 0},
    {"114,115,117", "smsg_equal_offsets", &stream, 100, 4, 200, 2, 0, 1},
    {"117,119", "smsg_reckoned", &stream, 100, 10, 100, 1, 1, 0},
    {"117,119", "smsg_reckoned_two_mailboxes", &stream, 100, 8, 1000, 2, 1, 0},
    {"117,119", "smsg_reckoned_two_credits", &stream, 50, 2, 512, 1, 1, 0},
    {"19,114,120", "smsg_exchange", &exchange, 500, 8, 128, 1, 0, 0},
    {"114,119,120", "smsg_exchange_reckoned", &exchange, 500, 16, 128, 1, 1, 1},
};

SEMANTICS_MAIN(lines, line->kind)
