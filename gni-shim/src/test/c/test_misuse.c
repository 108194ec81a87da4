/* Programs that err, or that meet others at the wrong moment: they get answers, and nothing outside
 * what they named is touched. */
#define _GNU_SOURCE
#include "check.h"
#include "softnic.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct node a, b;

/* ---- queues ---- */

static void channel_armed_twice(void)
{
    gni_comp_chan_handle_t chan;
    gni_cq_handle_t which = NULL;
    gni_post_descriptor_t d;
    int fd = -1;

    pair_open(&a, &b, 0, 0);
    OK(GNI_CompChanCreate(a.nic, &chan));
    OK(GNI_CompChanFd(chan, &fd));
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    OK(GNI_CqAttachCompChan(a.dst, chan));
    d = transaction(GNI_POST_FMA_PUT, &b, &a, 8);
    d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
    OK(GNI_PostFma(b.ep, &d));
    for (int i = 0; i < 3; i++) /* its event is there: the channel has it once, however often */
        OK(GNI_CqArmCompChan(&a.dst, 1));
    OK(GNI_CompChanGetEvent(chan, &which));
    CHECK(which == a.dst);
    CODE(GNI_RC_NOT_DONE, GNI_CompChanGetEvent(chan, &which));
    OK(GNI_CqArmCompChan(&a.dst, 1));
    OK(GNI_MemDeregister(a.nic, &a.handle));
    OK(GNI_CqDestroy(a.dst)); /* while the channel holds news of it */
    CODE(GNI_RC_NOT_DONE, GNI_CompChanGetEvent(chan, &which));
    OK(GNI_CompChanDestroy(chan));
}

/* An endpoint's post may report to another queue than its own. */
static void queue_of_another(void)
{
    gni_post_descriptor_t d, *done;
    gni_cq_handle_t other;
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    OK(GNI_CqCreate(a.nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &other));
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 64);
    d.src_cq_hndl = other;
    OK(GNI_PostRdma(a.ep, &d));
    CODE(GNI_RC_ERROR_RESOURCE, GNI_CqDestroy(other));
    CODE(GNI_RC_NOT_DONE, GNI_EpUnbind(a.ep));
    OK(next_event(other, &entry));
    OK(GNI_GetCompleted(other, entry, &done));
    OK(GNI_CqDestroy(other));
    OK(GNI_EpUnbind(a.ep));
}

static void queue_of_a_deferred_post(void)
{
    gni_post_descriptor_t d;
    gni_cq_handle_t other;

    setenv("GNI_SHIM_DEFER", "1", 1);
    pair_open(&a, &b, 0, 0);
    OK(GNI_CqCreate(a.nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &other));
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 64);
    d.src_cq_hndl = other;
    OK(GNI_PostRdma(a.ep, &d));
    OK(GNI_EpDestroy(a.ep));
    OK(GNI_CqDestroy(other)); /* and nothing goes on with its requests */
    expect_empty(a.cq);
    OK(GNI_EpCreate(a.nic, a.cq, &a.ep));
    OK(GNI_EpBind(a.ep, b.pe, b.inst));
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 64);
    OK(post_and_wait(&a, &d));
}

/* ---- segments ---- */

static uint8_t *room;

/* Two segments of 64 + 4 and 4096 bytes, far apart, guarded by bytes around them. */
static gni_mem_handle_t two_segments(struct node *n)
{
    gni_mem_segment_t segments[2];
    gni_mem_handle_t handle;

    room = aligned_alloc(4096, 16384);
    CHECK(room != NULL);
    memset(room, 0x77, 16384);
    segments[0] = (gni_mem_segment_t){(uint64_t)(uintptr_t)room, 68};
    segments[1] = (gni_mem_segment_t){(uint64_t)(uintptr_t)room + 8192, 4096};
    OK(GNI_MemRegisterSegments(n->nic, segments, 2, NULL, GNI_MEM_READWRITE, (uint32_t)-1,
                               &handle));
    return handle;
}

static void expect_gap(void)
{
    for (int i = 68; i < 8192; i++)
        CHECK_EQ(0x77, room[i]);
}

static void fetched_across_segments(void)
{
    gni_post_descriptor_t d;
    gni_mem_handle_t handle;

    pair_open(&a, &b, 0, 0);
    handle = two_segments(&a);
    d = transaction(GNI_POST_AMO, &a, &b, 8);
    d.amo_cmd = GNI_FMA_ATOMIC_FADD;
    d.first_operand = 1;
    d.local_mem_hndl = handle;
    d.local_addr = 64; /* 4 bytes in the first segment, 4 in the second */
    expect_error(&a, &d, 9);
    CHECK_EQ(0, b.memory[0]); /* nothing was added */
    expect_gap();
    d.local_addr = 56;
    OK(post_and_wait(&a, &d));
    d = transaction(GNI_POST_FMA_GET_W_FLAG, &a, &b, 4);
    d.local_mem_hndl = handle;
    d.local_addr = 64; /* the bytes fit, the flag behind them lies in the second segment */
    d.sync_flag_value = 0x01020304;
    OK(post_and_wait(&a, &d));
    expect_gap();
    CHECK_EQ(4, room[8192]);
    free(room);
}

static void mailbox_in_segments(void)
{
    gni_smsg_attr_t near = {.msg_type = GNI_SMSG_TYPE_MBOX, .mbox_maxcredit = 2, .msg_maxsize = 64};
    gni_smsg_attr_t far = near;
    uint8_t text[64];
    void *message;

    pair_open(&a, &b, 0, 0);
    near.mem_hndl = a.handle;
    near.msg_buffer = a.memory;
    far.mem_hndl = two_segments(&b);
    memset(room + 8192, 0, 4096);
    far.msg_buffer = NULL; /* an offset in the registration: what lies at it is elsewhere */
    far.mbox_offset = 68;
    OK(GNI_SmsgInit(a.ep, &near, &far));
    OK(GNI_SmsgInit(b.ep, &far, &near));
    fill(text, sizeof(text), 5);
    OK(GNI_SmsgSend(a.ep, text, sizeof(text), NULL, 0, 1));
    OK(GNI_SmsgGetNext(b.ep, &message));
    CHECK(is_filled(message, sizeof(text), 5));
    OK(GNI_SmsgRelease(b.ep));
    expect_gap();
    OK(GNI_EpUnbind(b.ep));
    OK(GNI_EpBind(b.ep, a.pe, a.inst));
    far.mbox_offset = 0; /* would cross into the other segment */
    CODE(GNI_RC_INVALID_PARAM, GNI_SmsgInit(b.ep, &far, &near));
    free(room);
}

/* ---- datagrams ---- */

static void stop_there(const char *label)
{
    if (strcmp(label, "gni.datagram.filled") != 0)
        return;
    snic_step_hook = NULL;
    raise(SIGSTOP);
}

static void stops_in_the_table(void)
{
    struct node me;
    uint8_t out[8] = "hello", in[8];

    node_attach(&me, 7, COOKIE, 0);
    OK(GNI_EpCreate(me.nic, NULL, &me.ep));
    OK(GNI_EpBind(me.ep, me.pe, 1));
    await_flag(0, 1);
    snic_step_hook = stop_there; /* in its own table: its lock only */
    GNI_EpPostData(me.ep, out, sizeof(out), in, sizeof(in));
    set_flag(1, 1);
    await_flag(2, 1);
}

/* The second passage is in the table of the other one, whose lock it then holds. */
static void stop_in_the_peers(const char *label)
{
    static int passages;

    if (strcmp(label, "gni.datagram.filled") != 0 || ++passages < 2)
        return;
    snic_step_hook = NULL;
    raise(SIGSTOP);
}

static void stops_in_the_peers_table(void)
{
    struct node me;
    uint8_t out[8] = "hello", in[8];

    node_attach(&me, 7, COOKIE, 0);
    OK(GNI_EpCreate(me.nic, NULL, &me.ep));
    OK(GNI_EpBind(me.ep, me.pe, 1));
    await_flag(0, 1);
    snic_step_hook = stop_in_the_peers;
    GNI_EpPostData(me.ep, out, sizeof(out), in, sizeof(in));
}

static pid_t stopped(void (*body)(void))
{
    pid_t pid = start(body);
    int state;

    set_flag(0, 1);
    CHECK(waitpid(pid, &state, WUNTRACED) == pid && WIFSTOPPED(state));
    return pid;
}

/* Someone stopped in our table: posting answers that it did not work, and an endpoint that is
 * destroyed then leaves nothing that a later one at its address would find. */
static void endpoint_gone_while_table_is_locked(void)
{
    gni_ep_handle_t ep;
    gni_post_state_t state;
    uint8_t in[128] = {0};
    uint32_t pe, inst;
    pid_t pid;

    node_attach(&a, 1, COOKIE, 0);
    OK(GNI_EpCreate(a.nic, NULL, &ep));
    OK(GNI_EpPostDataWId(ep, in, 8, in, 128, 77));
    pid = stopped(stops_in_the_peers_table);
    CODE(GNI_RC_ERROR_RESOURCE, GNI_EpPostDataWId(ep, in, 8, in, 128, 78));
    CODE(GNI_RC_ERROR_RESOURCE, GNI_EpPostDataTestById(ep, 77, &state, &pe, &inst));
    OK(GNI_EpDestroy(ep));
    kill(pid, SIGKILL);
    CHECK_EQ(SIGKILL, join(pid));
    for (int i = 0; i < 40; i++) { /* one of them lies where the first one lay */
        OK(GNI_EpCreate(a.nic, NULL, &ep));
        CODE(GNI_RC_NO_MATCH, GNI_EpPostDataTestById(ep, 77, &state, &pe, &inst));
    }
    for (int i = 0; i < 1100; i++) { /* nor is a place lost for it */
        OK(GNI_EpPostDataWId(ep, in, 8, in, 128, 80));
        OK(GNI_EpPostDataCancelById(ep, 80));
    }
}

/* Someone stopped in his own table: ours goes on, posts and puts to him, too. */
static void peer_stopped_in_its_own_table(void)
{
    gni_ep_handle_t ep;
    uint8_t in[128] = {0};
    uint64_t before;
    pid_t pid;

    node_open(&a, 1, 0, 0);
    OK(GNI_EpCreate(a.nic, NULL, &ep));
    pid = stopped(stops_in_the_table);
    before = now_ms();
    OK(GNI_EpBind(ep, a.pe, 7));
    OK(GNI_EpPostData(ep, in, 8, in, 128)); /* tried again later */
    CHECK(now_ms() - before < 60000);
    kill(pid, SIGCONT);
    await_flag(1, 1);
    gni_post_state_t state;
    uint32_t pe, inst;
    OK(GNI_EpPostDataWait(ep, 60000, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
    CHECK(memcmp(in, "hello", 6) == 0);
    set_flag(2, 1);
    CHECK_EQ(0, join(pid));
}

static const struct check_case cases[] = {
    {"", "channel_armed_twice", channel_armed_twice},
    {"", "queue_of_another", queue_of_another},
    {"", "queue_of_a_deferred_post", queue_of_a_deferred_post},
    {"", "fetched_across_segments", fetched_across_segments},
    {"", "mailbox_in_segments", mailbox_in_segments},
    {"", "endpoint_gone_while_table_is_locked", endpoint_gone_while_table_is_locked},
    {"", "peer_stopped_in_its_own_table", peer_stopped_in_its_own_table},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
