/* The id of a bind is no address: the handle leads to its registrant (assertions 114 to 117). */
#define _GNU_SOURCE
#include "mailbox.h"
#include "gni_area.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRANGER 777 /* nobody's instance */
#define VALUE 0x1234567890abull
#define CREDITS 4
#define MAXSIZE 128

static struct node a, b;
static int mapped;

static void bind_as(const struct node *n, uint32_t pe, uint32_t id)
{
    OK(GNI_EpUnbind(n->ep));
    OK(GNI_EpBind(n->ep, pe, id));
}

static gni_return_t post(const struct node *n, gni_post_descriptor_t *d)
{
    if (d->type == GNI_POST_RDMA_PUT || d->type == GNI_POST_RDMA_GET)
        return GNI_PostRdma(n->ep, d);
    return d->type == GNI_POST_CQWRITE ? GNI_PostCqWrite(n->ep, d) : GNI_PostFma(n->ep, d);
}

/* Posts with both events; `to` may be of another process, and then its event is not looked for. */
static void exchange(const struct node *from, const struct node *to, gni_post_descriptor_t *d,
                     uint32_t local, uint32_t remote)
{
    gni_post_descriptor_t *done = NULL;
    gni_cq_entry_t entry;

    d->cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    OK(post(from, d));
    OK(next_event(from->cq, &entry));
    CHECK_EQ(local, GNI_CQ_GET_INST_ID(entry));
    OK(GNI_GetCompleted(from->cq, entry, &done));
    CHECK(done == d);
    if (to->dst == NULL)
        return;
    OK(next_event(to->dst, &entry));
    if (d->type == GNI_POST_CQWRITE)
        CHECK_EQ(VALUE, GNI_CQ_GET_DATA(entry));
    else
        CHECK_EQ(remote, GNI_CQ_GET_REM_INST_ID(entry));
    expect_empty(to->dst);
}

/* Every kind of post. In the first bytes of `to` its number is left: whose memory it is. */
static void everything(const struct node *from, const struct node *to, uint32_t local,
                       uint32_t remote, uint64_t number)
{
    static const gni_post_type_t type[] = {GNI_POST_FMA_PUT, GNI_POST_FMA_PUT_W_SYNCFLAG,
                                           GNI_POST_RDMA_PUT};
    uint64_t *words = (uint64_t *)(void *)from->memory;
    gni_post_descriptor_t d;

    for (unsigned i = 0; i < 3; i++)
        for (unsigned length = 8; length <= 4096; length *= 8) { /* 8: the way of its own */
            d = transaction(type[i], from, to, length);
            fill(from->memory, length, (uint32_t)number);
            words[0] = number;
            d.sync_flag_addr = d.remote_addr + 8192;
            d.sync_flag_value = number;
            exchange(from, to, &d, local, remote);
            memset(from->memory, 0, 4096);
            d.type = length & 64 ? GNI_POST_RDMA_GET : GNI_POST_FMA_GET;
            exchange(from, to, &d, local, remote);
            CHECK_EQ(number, words[0]);
        }
    d = transaction(GNI_POST_AMO, from, to, 8);
    for (int i = 0; i < 2; i++) {
        d.amo_cmd = i ? GNI_FMA_ATOMIC2_FIADD : GNI_FMA_ATOMIC_FADD;
        d.first_operand = i ? (uint64_t)-1 : 1;
        exchange(from, to, &d, local, remote);
        CHECK_EQ(number + (uint64_t)i, words[0]);
    }
    d = transaction(GNI_POST_CQWRITE, from, to, 0);
    d.cqwrite_value = VALUE;
    exchange(from, to, &d, local, remote);
}

static void unknown_id(int is_mapped)
{
    node_open(&a, 1, 0, is_mapped);
    node_open(&b, 2, 0, is_mapped);
    bind_as(&a, b.pe, STRANGER);
    for (int i = 0; i < 3; i++) /* looked up, and remembered */
        everything(&a, &b, STRANGER, a.inst, 5);
    OK(GNI_EpSetEventData(a.ep, 0xabcdef, 0x123456));
    everything(&a, &b, 0xabcdef, 0x123456, 6);
}

static void unknown_id_mapped(void)
{
    unknown_id(1);
}

static void unknown_id_foreign(void)
{
    unknown_id(0);
}

/* ---- several registrants ---- */

static void tell(const struct node *n, uint32_t at)
{
    shared->handle[at] = n->handle;
    shared->number[at] = (uint64_t)(uintptr_t)n->memory;
}

static struct node far_node(uint32_t at)
{
    struct node far = {0};

    far.memory = (uint8_t *)(uintptr_t)shared->number[at];
    far.handle = shared->handle[at];
    return far;
}

static uint32_t role; /* of a process that is to be started, and its instance */

/* Two CDMs; what the initiator wrote is theirs, each its own. */
static void registrants(void)
{
    struct node n[2];
    gni_cq_entry_t entry;

    for (uint32_t i = 0; i < 2; i++) {
        node_open(&n[i], role + i, 0, (int)i);
        tell(&n[i], role + i);
        CHECK_EQ(0, gni_handle_index(&n[i].handle));
    }
    set_flag((int)role, 1);
    await_flag(1, 1);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQ(role + i, *(uint64_t *)(void *)n[i].memory);
        for (int k = 0; k < 27; k++) /* everything() has so many */
            OK(next_event(n[i].dst, &entry));
        expect_empty(n[i].dst);
        node_close(&n[i]);
    }
}

/* Processes with two CDMs each, and two more of our own, all with the same place in their tables.
 * The bound id is another registrant's instance, a stranger's, our own. */
static void many_registrants(void)
{
    pid_t pid[2];
    struct node own[2], target[6];

    for (uint32_t i = 0; i < 2; i++) {
        role = 2 + 2 * i;
        pid[i] = start(registrants);
        await_flag((int)role, 1);
        target[2 * i] = far_node(role);
        target[2 * i + 1] = far_node(role + 1);
    }
    for (uint32_t i = 0; i < 2; i++) {
        node_open(&own[i], 6 + i, 0, (int)i);
        target[4 + i] = own[i];
        CHECK_EQ(0, gni_handle_index(&own[i].handle));
    }
    node_open(&a, 1, 0, 1);
    for (uint32_t i = 0; i < 6; i++) {
        static const uint32_t id[] = {3, 2, 6, STRANGER, 1, 2};

        bind_as(&a, a.pe, id[i]);
        everything(&a, &target[i], id[i], 1, 2 + i);
    }
    set_flag(1, 1);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQ(0, join(pid[i]));
        CHECK_EQ(6 + i, *(uint64_t *)(void *)own[i].memory);
    }
}

/* One endpoint for all of them, in turns: what it remembers of one is not taken for another's. */
static void registrants_in_turns(void)
{
    struct node n[6];
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t entry;

    for (uint32_t i = 0; i < 6; i++)
        node_open(&n[i], i + 1, 0, 1);
    bind_as(&n[0], n[0].pe, STRANGER);
    for (uint64_t turn = 1; turn < 200; turn++)
        for (uint32_t i = 0; i < 6; i++) {
            d = transaction(GNI_POST_FMA_PUT, &n[0], &n[i], 8);
            d.remote_addr += 64;
            d.cq_mode |= turn & 1 ? GNI_CQMODE_REMOTE_EVENT : 0;
            *(uint64_t *)(void *)n[0].memory = turn * 8 + i;
            OK(GNI_PostFma(n[0].ep, &d));
            OK(next_event(n[0].cq, &entry));
            OK(GNI_GetCompleted(n[0].cq, entry, &done));
            for (uint32_t k = 0; k < 6; k++)
                CHECK_EQ((k <= i ? turn : turn - 1) ? (k <= i ? turn : turn - 1) * 8 + k : 0,
                         *(uint64_t *)(void *)(n[k].memory + 64));
            if (turn & 1)
                OK(next_event(n[i].dst, &entry));
            for (uint32_t k = 0; k < 6; k++)
                expect_empty(n[k].dst);
        }
}

/* ---- who has ended ---- */

static void be_there(void)
{
    struct node me;

    node_open(&me, 2, 0, mapped);
    OK(GNI_ExtIncarnation(me.nic, &shared->number[8 + role]));
    tell(&me, role);
    set_flag((int)role, 1);
    await_flag(9, 1);
    CHECK(is_zero(me.memory, 4096));
    expect_empty(me.dst);
}

static void refused_post(gni_post_type_t type, const struct node *far, unsigned status)
{
    gni_post_descriptor_t d = transaction(type, &a, far, type == GNI_POST_CQWRITE ? 0 : 8);

    d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
    d.amo_cmd = GNI_FMA_ATOMIC_FADD;
    d.first_operand = 1;
    expect_error(&a, &d, status);
}

/* Memory that is mapped takes puts after its owner's death for a bounded time (assertion 113). */
static void await_noticed(gni_post_descriptor_t *d)
{
    gni_post_descriptor_t *done;
    gni_cq_entry_t entry;
    gni_return_t code;
    uint64_t end = now_ms() + 10000;

    sleep_ms(100);
    do {
        OK(GNI_PostFma(a.ep, d));
        code = next_event(a.cq, &entry);
        CODE(code, GNI_GetCompleted(a.cq, entry, &done));
    } while (code == GNI_RC_SUCCESS && now_ms() < end);
    CODE(GNI_RC_TRANSACTION_ERROR, code);
}

/* With the address, the instance and the place in the table of the dead, and also where what a
 * table says of its places is the same by chance. */
static void successor(int is_mapped)
{
    static const gni_post_type_t type[] = {GNI_POST_FMA_PUT,  GNI_POST_FMA_GET, GNI_POST_RDMA_PUT,
                                           GNI_POST_RDMA_GET, GNI_POST_CQWRITE, GNI_POST_AMO};
    gni_post_descriptor_t d;
    struct node dead, twin;
    pid_t pid;

    mapped = is_mapped;
    node_open(&a, 1, 0, 1);
    memset(a.memory, 0x55, 64);
    bind_as(&a, a.pe, STRANGER);
    role = 2;
    pid = start(be_there);
    await_flag(2, 1);
    dead = far_node(2);
    d = transaction(GNI_POST_FMA_PUT, &a, &dead, 8);
    OK(post_and_wait(&a, &d));
    kill(pid, SIGKILL);
    CHECK_EQ(SIGKILL, join(pid));
    await_noticed(&d);
    role = 3;
    pid = start(be_there);
    await_flag(3, 1);
    twin = far_node(3);
    CHECK_EQ(gni_handle_index(&dead.handle), gni_handle_index(&twin.handle));
    gni_handle_make(&twin.handle, 2, shared->number[8 + 2], gni_handle_index(&twin.handle),
                    gni_handle_entropy(&twin.handle), gni_handle_flags(&twin.handle));
    for (int i = 0; i < 6; i++) {
        refused_post(type[i], &dead, 7);
        refused_post(type[i], &twin, 7);
    }
    set_flag(9, 1);
    CHECK_EQ(0, join(pid));
    refused_post(GNI_POST_FMA_PUT, &dead, 11); /* nobody is there at all */
}

static void successor_mapped(void)
{
    successor(1);
}

static void successor_foreign(void)
{
    successor(0);
}

static void successor_in_one_process(void)
{
    struct node old;
    gni_post_descriptor_t d;

    node_open(&a, 1, 0, 1);
    node_open(&old, 2, 0, 1);
    bind_as(&a, a.pe, STRANGER);
    d = transaction(GNI_POST_FMA_PUT, &a, &old, 8);
    OK(post_and_wait(&a, &d));
    node_close(&old);
    node_open(&b, 2, 0, 1);
    memset(a.memory, 0x55, 64);
    refused_post(GNI_POST_FMA_PUT, &old, 7);
    refused_post(GNI_POST_CQWRITE, &old, 7);
    CHECK(is_zero(b.memory, 4096));
    expect_empty(b.dst);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    OK(post_and_wait(&a, &d));
    CHECK_EQ(0x55, b.memory[0]);
}

/* ---- messages ---- */

static void send_number(const struct node *from, uint64_t number, uint32_t msg_id)
{
    gni_cq_entry_t entry;
    gni_return_t code;

    do
        code = GNI_SmsgSend(from->ep, &number, 8, NULL, 0, msg_id);
    while (code == GNI_RC_NOT_DONE);
    OK(code);
    OK(next_event(from->cq, &entry));
    CHECK_EQ(GNI_CQ_EVENT_TYPE_SMSG, GNI_CQ_GET_TYPE(entry));
    CHECK_EQ(msg_id, GNI_CQ_GET_MSG_ID(entry));
}

static void take_number(const struct node *to, uint64_t number)
{
    void *message;
    gni_return_t code;

    for (uint64_t end = now_ms() + 30000;
         (code = GNI_SmsgGetNext(to->ep, &message)) == GNI_RC_NOT_DONE && now_ms() < end;)
        ;
    OK(code);
    CHECK_EQ(number, *(uint64_t *)message);
    OK(GNI_SmsgRelease(to->ep));
}

/* Three mailboxes for each side; side 0 has the first three flags. */
static void converse(struct node *me, uint32_t side, const uint32_t offset[2][3])
{
    gni_cq_entry_t entry;
    struct node ep[3];

    for (uint32_t i = 0; i < 3; i++)
        shared->attr[side * 3 + i] =
            mailbox_at(me, GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, offset[side][i], CREDITS, MAXSIZE);
    set_flag((int)(4 + side), 1);
    await_flag((int)(5 - side), 1);
    for (uint32_t i = 0; i < 3; i++) {
        ep[i] = *me;
        OK(GNI_EpCreate(me->nic, me->cq, &ep[i].ep));
        OK(GNI_EpBind(ep[i].ep, me->pe, 100 * (side + 1) + i));
        OK(GNI_SmsgInit(ep[i].ep, &shared->attr[side * 3 + i], &shared->attr[3 - side * 3 + i]));
    }
    for (uint64_t round = 0; round < 200; round++)
        for (uint32_t i = 0; i < 3; i++) {
            send_number(&ep[i], round * 8 + side * 3 + i, i + 1);
            take_number(&ep[i], round * 8 + (3 - side * 3) + i);
            while (GNI_CqGetEvent(me->dst, &entry) == GNI_RC_SUCCESS)
                CHECK_EQ(2 - side, GNI_CQ_GET_REM_INST_ID(entry)); /* the sender's instance */
        }
}

static const uint32_t equal[2][3] = {{0, 16384, 32768}, {0, 16384, 32768}};
static const uint32_t different[2][3] = {{0, 16384, 65536}, {131072, 49152, 4096}};
static const uint32_t (*offsets)[3];

static void other_side(void)
{
    struct node me;

    node_open(&me, 2, 0, mapped);
    converse(&me, 1, offsets);
    set_flag(7, 1);
    await_flag(6, 1);
}

static void unrelated_ids(const uint32_t offset[2][3], int is_mapped)
{
    pid_t pid;

    offsets = offset;
    mapped = is_mapped;
    pid = start(other_side);
    node_open(&a, 1, 0, is_mapped);
    converse(&a, 0, offset);
    await_flag(7, 1);
    set_flag(6, 1);
    CHECK_EQ(0, join(pid));
}

static void mailboxes_at_equal_offsets(void)
{
    unrelated_ids(equal, 1);
}

static void mailboxes_at_other_offsets(void)
{
    unrelated_ids(different, 1);
}

static void mailboxes_foreign(void)
{
    unrelated_ids(different, 0);
}

/* A sender without credits notices the death of who has them, whatever the endpoint's id. */
static void keep_a_mailbox(void)
{
    struct node me;

    node_open(&me, 2, 0, 1);
    shared->attr[1] = mailbox_at(&me, GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, 0, CREDITS, MAXSIZE);
    set_flag(1, 1);
    for (;;)
        pause();
}

static void no_credits_of_the_dead(void)
{
    gni_smsg_attr_t near;
    gni_cq_entry_t entry;
    gni_return_t code;
    pid_t pid = start(keep_a_mailbox);

    await_flag(1, 1);
    node_open(&a, 1, 0, 1);
    bind_as(&a, a.pe, STRANGER);
    near = mailbox_at(&a, GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, 0, CREDITS, MAXSIZE);
    OK(GNI_SmsgInit(a.ep, &near, &shared->attr[1]));
    for (uint32_t i = 0; i < CREDITS; i++)
        send_number(&a, i, i);
    CODE(GNI_RC_NOT_DONE, GNI_SmsgSend(a.ep, &near, 8, NULL, 0, 9));
    kill(pid, SIGKILL);
    CHECK_EQ(SIGKILL, join(pid));
    for (uint64_t end = now_ms() + 20000;
         (code = GNI_SmsgSend(a.ep, &near, 8, NULL, 0, 9)) == GNI_RC_NOT_DONE && now_ms() < end;)
        expect_empty(a.cq);
    OK(code);
    CODE(GNI_RC_TRANSACTION_ERROR, next_event(a.cq, &entry));
    CHECK_EQ(11, GNI_CQ_GET_STATUS(entry));
}

static const struct check_case cases[] = {
    {"114", "unknown_id_mapped", unknown_id_mapped},
    {"114", "unknown_id_foreign", unknown_id_foreign},
    {"115", "many_registrants", many_registrants},
    {"115", "registrants_in_turns", registrants_in_turns},
    {"116", "successor_mapped", successor_mapped},
    {"116", "successor_foreign", successor_foreign},
    {"116", "successor_in_one_process", successor_in_one_process},
    {"117", "mailboxes_at_equal_offsets", mailboxes_at_equal_offsets},
    {"117", "mailboxes_at_other_offsets", mailboxes_at_other_offsets},
    {"117", "mailboxes_foreign", mailboxes_foreign},
    {"113,117", "no_credits_of_the_dead", no_credits_of_the_dead},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
