/* Message queues: what is refused, and what the dead leave. */
#define _GNU_SOURCE
#include "area_check.h"
#include "gni_msgq.h"
#include "msgq_side.h"
#include <signal.h>
#ifdef SNIC_TEST
#include "softnic.h"
#endif

/* ---- what is refused ---- */

static void connections(void)
{
    gni_msgq_ep_attr_t attrs, wrong;
    struct side a, b, idle;
    uint32_t size;

    open_side(&a, NODE_A, 1);
    open_side(&b, NODE_B, 1);
    open_side(&idle, NODE_B, 2);
    init(&a, 1, 0);
    init(&b, 1, 0);
    CODE(GNI_RC_NO_MATCH, send_number(&a, 1, 0));
    CODE(GNI_RC_NO_MATCH, GNI_MsgqConnRelease(a.q, NODE_B));
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqGetConnAttrs(a.q, NODE_A, &attrs, &size));
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqGetConnAttrs(a.q, NODE_B, NULL, &size));
    OK(GNI_MsgqGetConnAttrs(b.q, NODE_A, &attrs, &size));
    CODE(GNI_RC_INVALID_STATE, GNI_MsgqConnect(a.q, NODE_B, &attrs)); /* asked for nothing yet */
    OK(GNI_MsgqGetConnAttrs(a.q, NODE_B, &wrong, &size));
    CODE(GNI_RC_INVALID_STATE, send_number(&a, 1, 0));                /* not active */
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqConnect(a.q, NODE_B, &wrong)); /* our own */
    wrong = attrs;
    wrong.max_msg_sz++;
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqConnect(a.q, NODE_B, &wrong));
    OK(GNI_MsgqConnect(a.q, NODE_B, &attrs));
    OK(send_number(&a, 1, 0));                    /* the other side need not have connected */
    CODE(GNI_RC_NO_MATCH, send_number(&a, 2, 0)); /* it is there, and takes no part */
    OK(GNI_MsgqProgress(b.q, 0));
    OK(GNI_MsgqConnRelease(b.q, NODE_A));
    CODE(GNI_RC_INVALID_STATE, send_number(&a, 1, 1));
    OK(GNI_MsgqGetConnAttrs(b.q, NODE_A, &attrs, &size)); /* anew: another generation */
    CODE(GNI_RC_INVALID_STATE, send_number(&a, 1, 1));
    OK(GNI_MsgqConnect(a.q, NODE_B, &attrs));
    OK(send_number(&a, 1, 1));
    OK(GNI_MsgqProgress(b.q, 0));
    CHECK_EQ(2, b.received);
    OK(GNI_CdmDestroy(idle.cdm));
    close_sides(&a, &b);
    CHECK_EQ(0, files_left());
}

static void wrong_calls(void)
{
    gni_msgq_attr_t attrs = attributes(2, 0), other;
    gni_msgq_handle_t q;
    struct side a, b, c;
    uint8_t bytes[SIZE + 1] = {0};
    gni_ep_handle_t own;
    uint32_t size, larger;

    open_side(&a, NODE_A, 1);
    open_side(&b, NODE_A, 2);
    open_side(&c, NODE_A, 3);
    OK(GNI_MsgqSize(&attrs, &size));
    attrs.smsg_q_sz *= 2;
    OK(GNI_MsgqSize(&attrs, &larger));
    CHECK(larger > size);
    attrs = attributes(2, 0);
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqSize(NULL, &size));
    for (int i = 0; i < 6; i++) {
        other = attrs;
        *(i == 0   ? &other.max_msg_sz
          : i == 1 ? &other.smsg_q_sz
          : i == 2 ? &other.num_msgq_eps
          : i == 3 ? &other.nloc_insts
          : i == 4 ? &other.max_msg_sz
                   : &other.nloc_insts) = i < 4 ? 0 : 129;
        CODE(GNI_RC_INVALID_PARAM, GNI_MsgqSize(&other, &size));
        CODE(GNI_RC_INVALID_PARAM, GNI_MsgqInit(a.nic, on_message, &a, NULL, &other, &q));
    }
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqInit(a.nic, NULL, &a, NULL, &attrs, &q));
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqInit(NULL, on_message, &a, NULL, &attrs, &q));
    OK(GNI_MsgqInit(a.nic, on_message, &a, a.cq, &attrs, &a.q));
    CODE(GNI_RC_INVALID_STATE, GNI_MsgqInit(a.nic, on_message, &a, a.cq, &attrs, &q));
    other = attrs;
    other.smsg_q_sz++;
    CODE(GNI_RC_INVALID_STATE, GNI_MsgqInit(b.nic, on_message, &b, b.cq, &other, &q));
    OK(GNI_MsgqInit(b.nic, on_message, &b, b.cq, &attrs, &b.q));
    CODE(GNI_RC_ERROR_RESOURCE, GNI_MsgqInit(c.nic, on_message, &c, c.cq, &attrs, &q));
    CODE(GNI_RC_SIZE_ERROR, GNI_MsgqSend(a.q, a.ep[0], bytes, 1, bytes, SIZE, 1, 0));
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqSend(a.q, b.ep[0], bytes, 1, NULL, 0, 1, 0));
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqSend(a.q, a.ep[0], NULL, 1, NULL, 0, 1, 0));
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqSend(NULL, a.ep[0], bytes, 1, NULL, 0, 1, 0));
    OK(GNI_EpCreate(a.nic, a.cq, &own));
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqSend(a.q, own, bytes, 1, NULL, 0, 1, 0));
    OK(GNI_EpBind(own, NODE_A, 2)); /* the own node */
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqSend(a.q, own, bytes, 1, NULL, 0, 1, 0));
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqProgress(NULL, 0));
    OK(GNI_CdmDestroy(c.cdm));
    OK(GNI_CdmDestroy(a.cdm)); /* takes the queue along */
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqRelease(a.q));
    OK(GNI_CdmDestroy(b.cdm));
    CHECK_EQ(0, files_left());
}

/* ---- nodes that are unlike, or lie ---- */

static void init_with(struct side *s, uint32_t connections)
{
    gni_msgq_attr_t attrs = attributes(1, 0);

    attrs.num_msgq_eps = connections;
    OK(GNI_MsgqInit(s->nic, on_message, s, s->cq, &attrs, &s->q));
}

static void send_both_ways(struct side *a, struct side *b)
{
    for (uint32_t i = 0; i < 3 * CREDITS; i++) {
        OK(send_number(a, 1, i));
        fetch_sent(a, i);
        OK(GNI_MsgqProgress(b->q, 0));
        OK(send_number(b, 1, i));
        fetch_sent(b, i);
        OK(GNI_MsgqProgress(a->q, 0));
    }
    CHECK_EQ(3 * CREDITS, a->received);
    CHECK_EQ(3 * CREDITS, b->received);
    CHECK_EQ(0, nic_check(a->nic, NULL, 0));
    CHECK_EQ(0, nic_check(b->nic, NULL, 0));
}

/* A node's slots lie where its own number of connections puts them. */
static void unlike_nodes(void)
{
    struct side a, b;

    open_side(&a, NODE_A, 1);
    open_side(&b, NODE_B, 1);
    init_with(&a, 512);
    init_with(&b, 1);
    join_nodes(&a, &b);
    send_both_ways(&a, &b);
    close_sides(&a, &b);
}

/* What a node's file says after it was looked at is not believed. */
static void lying_node(void)
{
    struct gni_msgq *near, *far;
    gni_msgq_ep_attr_t attrs;
    struct side a, b;
    uint32_t size;

    two_sides(&a, &b, 0);
    OK(send_number(&a, 1, 0));
    near = gni_handle_find(a.q, GNI_KIND_MSGQ);
    far = gni_handle_find(b.q, GNI_KIND_MSGQ);
    far->node->attrs.num_msgq_eps = GNI_MSGQ_CONNECTIONS_MAX;
    far->node->attrs.max_msg_sz = GNI_MSGQ_MSG_SZ_MAX;
    near->node->connection[0].remote_index = GNI_MSGQ_CONNECTIONS_MAX - 1;
    CODE(GNI_RC_INVALID_STATE, send_number(&a, 1, 1));
    near->node->connection[0].remote_index = 0xffffffffu;
    CODE(GNI_RC_INVALID_STATE, send_number(&a, 1, 1));
    near->node->connection[0].remote_index = 0;
    OK(send_number(&a, 1, 1));
    OK(GNI_MsgqProgress(b.q, 0));
    CHECK_EQ(2, b.received);
    near->node->instances = 0xffffffffu;
    OK(GNI_MsgqGetConnAttrs(a.q, NODE_B, &attrs, &size));
    CHECK(size <= sizeof(attrs) && attrs.num_insts <= GNI_MSGQ_NODE_INSTS_MAX);
    far->node->attrs = far->attrs;
    /* The end meets the nonsense, too. */
    close_sides(&a, &b);
}

/* ---- death ---- */

static void dying_receiver(void)
{
    gni_msgq_ep_attr_t *told = (gni_msgq_ep_attr_t *)(void *)shared->bytes;
    struct side b;
    uint32_t size;

    open_side(&b, NODE_B, 2);
    init(&b, 2, 0);
    OK(GNI_MsgqGetConnAttrs(b.q, NODE_A, &told[1], &size));
    set_flag(0, 1);
    await_flag(1, 1);
    raise(SIGKILL);
}

/* Messages for a dead instance do not keep the credits of those who send to its neighbour; what is
 * sent to it ends with an error event. */
static void receiver_dies(void)
{
    gni_msgq_ep_attr_t *told = (gni_msgq_ep_attr_t *)(void *)shared->bytes;
    struct side a, b;
    gni_cq_entry_t entry;
    gni_return_t code = GNI_RC_NOT_DONE;
    uint32_t size;
    pid_t pid = start(dying_receiver);

    open_side(&a, NODE_A, 1);
    open_side(&b, NODE_B, 1);
    init(&a, 1, 0);
    init(&b, 2, 0);
    await_flag(0, 1);
    OK(GNI_MsgqGetConnAttrs(a.q, NODE_B, &told[0], &size));
    OK(GNI_MsgqConnect(a.q, NODE_B, &told[1]));
    for (uint32_t i = 0; i < CREDITS; i++) {
        OK(send_number(&a, 2, i));
        fetch_sent(&a, i);
    }
    CODE(GNI_RC_NOT_DONE, send_number(&a, 1, 0));
    set_flag(1, 1);
    CHECK_EQ(SIGKILL, join(pid));
    for (uint64_t end = now_ms() + 30000; code == GNI_RC_NOT_DONE && now_ms() < end; sleep_ms(5))
        code = send_number(&a, 1, 0);
    CODE(GNI_RC_SUCCESS, code);
    fetch_sent(&a, 0);
    OK(GNI_MsgqProgress(b.q, 0));
    CHECK_EQ(1, b.received);
    sleep_ms(60);
    OK(send_number(&a, 2, 9));
    CODE(GNI_RC_TRANSACTION_ERROR, next_event(a.cq, &entry));
    CHECK_EQ(9, GNI_CQ_GET_MSG_ID(entry));
    close_sides(&a, &b);
}

static int die_reading(uint32_t snd_id, uint32_t snd_pe, void *msg, uint8_t msg_tag, void *cb_data)
{
    (void)snd_id, (void)snd_pe, (void)msg, (void)msg_tag, (void)cb_data;
    raise(SIGKILL);
    return 1;
}

static void dying_reader(void)
{
    gni_msgq_attr_t attrs = attributes(2, 0);
    gni_msgq_ep_attr_t *told = (gni_msgq_ep_attr_t *)(void *)shared->bytes;
    struct side b;
    uint32_t size;

    open_side(&b, NODE_B, 2);
    OK(GNI_MsgqInit(b.nic, die_reading, &b, b.cq, &attrs, &b.q));
    OK(GNI_MsgqGetConnAttrs(b.q, NODE_A, &told[1], &size));
    set_flag(0, 1);
    for (;;)
        OK(GNI_MsgqProgress(b.q, 0));
}

/* The slot of a message that a killed process had begun to read is its node's again once a
 * successor with the same number takes part. */
static void reader_is_succeeded(void)
{
    gni_msgq_ep_attr_t *told = (gni_msgq_ep_attr_t *)(void *)shared->bytes;
    struct side a, b, successor;
    uint32_t size;
    pid_t pid = start(dying_reader);

    open_side(&a, NODE_A, 1);
    open_side(&b, NODE_B, 1);
    init(&a, 1, 0);
    init(&b, 2, 0);
    await_flag(0, 1);
    OK(GNI_MsgqGetConnAttrs(a.q, NODE_B, &told[0], &size));
    OK(GNI_MsgqConnect(a.q, NODE_B, &told[1]));
    OK(send_number(&a, 2, 0));
    CHECK_EQ(SIGKILL, join(pid));
    open_side(&successor, NODE_B, 2);
    init(&successor, 2, 0);
    OK(GNI_MsgqIdle(successor.q));
    for (uint32_t i = 0; i < CREDITS; i++)
        OK(send_number(&a, 2, i));
    OK(GNI_MsgqProgress(successor.q, 0));
    CHECK_EQ(CREDITS, successor.received);
    OK(GNI_CdmDestroy(successor.cdm));
    close_sides(&a, &b);
}

/* A node whose processes were all killed: the next one begins anew. */
static void dying_node(void)
{
    struct side a;

    open_side(&a, NODE_A, 1);
    init(&a, 1, 0);
    raise(SIGKILL);
}

static void node_dies(void)
{
    gni_msgq_attr_t attrs = attributes(1, 0);
    struct side a;
    pid_t pid = start(dying_node);

    CHECK_EQ(SIGKILL, join(pid));
    CHECK_EQ(1, files_left());
    open_side(&a, NODE_A, 7);
    attrs.smsg_q_sz = 3; /* nobody is there whom that could disturb */
    OK(GNI_MsgqInit(a.nic, on_message, &a, a.cq, &attrs, &a.q));
    OK(GNI_MsgqRelease(a.q));
    OK(GNI_CdmDestroy(a.cdm));
    CHECK_EQ(0, files_left());
}

#ifdef SNIC_TEST
static void die_claiming(const char *label)
{
    if (strcmp(label, "gni.msgq.claimed") == 0)
        raise(SIGKILL);
}

static void dying_sender(void)
{
    struct side a;

    open_side(&a, NODE_A, 2);
    init(&a, 2, 0);
    await_flag(0, 1);
    snic_step_hook = die_claiming;
    send_number(&a, 1, 0);
}

/* A slot that a killed sender had claimed comes back to its node for the next sender. */
static void send_after_a_death(struct side *a, struct side *b, struct side *sender)
{
    uint32_t sent = 0;
    pid_t pid = start(dying_sender);

    open_side(a, NODE_A, 1);
    open_side(b, NODE_B, 1);
    init(a, 2, 0);
    init(b, 1, 0);
    join_nodes(a, b); /* waits for the other instance */
    set_flag(0, 1);
    CHECK_EQ(SIGKILL, join(pid));
    if (sender != a) {
        open_side(sender, NODE_A, 2);
        init(sender, 2, 0);
    }
    for (uint64_t end = now_ms() + 30000; sent < CREDITS && now_ms() < end;) {
        if (send_number(sender, 1, sent) == GNI_RC_SUCCESS)
            sent++;
        else
            sleep_ms(5);
    }
    CHECK_EQ(CREDITS, sent);
    OK(GNI_MsgqProgress(b->q, 0));
    CHECK_EQ(CREDITS, b->received);
}

static void sender_dies(void)
{
    struct side a, b;

    send_after_a_death(&a, &b, &a);
    close_sides(&a, &b);
}

/* Its successor has the same number, and lives. */
static void sender_is_succeeded(void)
{
    struct side a, b, successor;

    send_after_a_death(&a, &b, &successor);
    OK(GNI_CdmDestroy(successor.cdm));
    close_sides(&a, &b);
}

static struct gni_msgq_node *lied_of;
static gni_msgq_attr_t lie;

static void tell_the_lie(const char *label)
{
    if (strcmp(label, "attach.before") != 0)
        return;
    snic_step_hook = NULL;
    lied_of->attrs = lie;
}

/* The file's attributes become those of the process that joins, after its size was checked by what
 * they were. */
static void attributes_change_in_a_join(void)
{
    struct side a, second;

    open_side(&a, NODE_A, 1);
    open_side(&second, NODE_A, 2);
    init(&a, 2, 0);
    lied_of = ((struct gni_msgq *)gni_handle_find(a.q, GNI_KIND_MSGQ))->node;
    lie = attributes(2, 0);
    lie.num_msgq_eps = GNI_MSGQ_CONNECTIONS_MAX;
    snic_step_hook = tell_the_lie;
    CODE(GNI_RC_INVALID_STATE,
         GNI_MsgqInit(second.nic, on_message, &second, second.cq, &lie, &second.q));
    CHECK(snic_step_hook == NULL);
    OK(GNI_CdmDestroy(second.cdm));
    OK(GNI_CdmDestroy(a.cdm));
    CHECK_EQ(0, files_left());
}

static pid_t victim;

static void kill_there(const char *label)
{
    if (strcmp(label, "attach.before") != 0)
        return;
    snic_step_hook = NULL;
    set_flag(1, 1);
    CHECK_EQ(SIGKILL, join(victim));
    sleep_ms(60); /* who asks then whether it lives gets a new answer */
}

/* While a sender looks for slots of the dead, the receiver dies, and the sender finds it there. */
static void receiver_dies_in_a_send(void)
{
    gni_msgq_ep_attr_t *told = (gni_msgq_ep_attr_t *)(void *)shared->bytes;
    struct side a, second, b;
    gni_cq_entry_t entry;
    uint32_t size;

    victim = start(dying_receiver);
    open_side(&a, NODE_A, 1);
    open_side(&second, NODE_A, 2);
    open_side(&b, NODE_B, 1);
    init(&a, 2, 0);
    init(&second, 2, 0);
    init(&b, 2, 0);
    await_flag(0, 1);
    OK(GNI_MsgqGetConnAttrs(a.q, NODE_B, &told[0], &size));
    OK(GNI_MsgqConnect(a.q, NODE_B, &told[1]));
    OK(send_number(&second, 1, 0)); /* to one that the first has not attached to */
    for (uint32_t i = 1; i <= CREDITS; i++) {
        if (i == CREDITS)
            snic_step_hook = kill_there;
        OK(send_number(&a, 2, i));
        fetch_sent(&a, i);
    }
    CHECK(snic_step_hook == NULL);
    OK(send_number(&a, 2, 9));
    CODE(GNI_RC_TRANSACTION_ERROR, next_event(a.cq, &entry));
    OK(GNI_MsgqProgress(b.q, 0));
    CHECK_EQ(1, b.received);
    OK(GNI_CdmDestroy(second.cdm));
    close_sides(&a, &b);
    CHECK_EQ(0, files_left());
}
#endif

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "connections", connections},
        {"", "wrong_calls", wrong_calls},
        {"", "unlike_nodes", unlike_nodes},
        {"", "lying_node", lying_node},
        {"", "receiver_dies", receiver_dies},
        {"", "reader_is_succeeded", reader_is_succeeded},
        {"", "node_dies", node_dies},
#ifdef SNIC_TEST
        {"", "attributes_change_in_a_join", attributes_change_in_a_join},
        {"", "sender_dies", sender_dies},
        {"", "sender_is_succeeded", sender_is_succeeded},
        {"", "receiver_dies_in_a_send", receiver_dies_in_a_send},
#endif
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
