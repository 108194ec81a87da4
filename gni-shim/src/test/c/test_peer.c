/* gni_ext.h: sleeping and being woken, and who is behind an instance. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define LONG_NS 60000000000ll
#define PEER 7

/* ---- sleeping ---- */

static void send_later(void)
{
    struct node me, far = {0};
    gni_post_descriptor_t d;

    far.handle = shared->handle[0];
    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    node_open(&me, PEER, 0, 0);
    OK(GNI_EpBind(me.ep, me.pe, 1));
    await_flag(0, 1);
    sleep_ms(20);
    d = transaction(GNI_POST_FMA_PUT, &me, &far, 8);
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    OK(post_and_wait(&me, &d));
    node_close(&me);
}

static void woken_by_a_peer(void)
{
    struct node n;
    gni_cq_entry_t entry;
    uint32_t bell;
    pid_t child;

    node_open(&n, 1, 0, 1);
    shared->handle[0] = n.handle;
    shared->number[0] = (uint64_t)(uintptr_t)n.memory;
    child = start(send_later);
    for (;;) {
        OK(GNI_ExtDoorbell(n.nic, &bell));
        set_flag(0, 1);
        if (GNI_CqGetEvent(n.dst, &entry) == GNI_RC_SUCCESS)
            break;
        OK(GNI_ExtWait(n.nic, bell, LONG_NS));
    }
    CHECK_EQ(PEER, gni_cq_get_inst_id(entry));
    CHECK_EQ(0, join(child));
    node_close(&n);
}

static void *ring(void *nic)
{
    sleep_ms(20);
    OK(GNI_ExtRing((gni_nic_handle_t)nic));
    return NULL;
}

static void woken_by_a_thread(void)
{
    struct node n;
    pthread_t thread;
    uint32_t bell;

    node_open(&n, 1, 0, 1);
    OK(GNI_ExtDoorbell(n.nic, &bell));
    CHECK_EQ(0, pthread_create(&thread, NULL, ring, n.nic));
    OK(GNI_ExtWait(n.nic, bell, LONG_NS));
    CHECK_EQ(0, pthread_join(thread, NULL));
    /* What rang before the sleep is not slept over. */
    OK(GNI_ExtWait(n.nic, bell, LONG_NS));
    OK(GNI_ExtDoorbell(n.nic, &bell));
    CODE(GNI_RC_TIMEOUT, GNI_ExtWait(n.nic, bell, 1000000));
    node_close(&n);
}

static void refused_arguments(void)
{
    struct node n;
    uint32_t bell;
    uint64_t incarnation;
    gni_ext_peer_state_t state;

    node_open(&n, 1, 0, 1);
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtDoorbell(NULL, &bell));
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtDoorbell(n.nic, NULL));
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtWait(NULL, 0, 0));
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtRing((gni_nic_handle_t)n.cq));
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtIncarnation(n.nic, NULL));
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtPeerState(n.nic, n.pe, 1, NULL, &incarnation));
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtPeerState(n.nic, n.pe, 1, &state, NULL));
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtPeerPin(NULL, n.pe, 1, 0));
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtPeerForget(NULL, n.pe, 1));
    node_close(&n);
}

/* ---- who is there ---- */

static void be_there(void)
{
    struct node me;

    node_open(&me, PEER, 0, 1);
    OK(GNI_ExtIncarnation(me.nic, &shared->number[1]));
    shared->handle[1] = me.handle;
    shared->number[2] = (uint64_t)(uintptr_t)me.memory;
    set_flag(1, shared->number[3] ? 2 : 1);
    for (;;)
        pause();
}

static gni_ext_peer_state_t state_of_peer(const struct node *n, uint64_t *incarnation)
{
    gni_ext_peer_state_t state = GNI_EXT_PEER_DEAD;

    OK(GNI_ExtPeerState(n->nic, n->pe, PEER, &state, incarnation));
    return state;
}

static void await_state(const struct node *n, gni_ext_peer_state_t wanted)
{
    uint64_t incarnation, end = now_ms() + 20000;

    while (state_of_peer(n, &incarnation) != wanted && now_ms() < end)
        sleep_ms(1);
    CHECK_EQ(wanted, state_of_peer(n, &incarnation));
}

static void states_of_a_peer(void)
{
    struct node n;
    uint64_t incarnation = 1, own;
    pid_t child;

    node_open(&n, 1, 0, 1);
    CHECK_EQ(GNI_EXT_PEER_DEAD, state_of_peer(&n, &incarnation));
    CHECK_EQ(0, incarnation);
    child = start(be_there);
    await_flag(1, 1);
    CHECK_EQ(GNI_EXT_PEER_ALIVE, state_of_peer(&n, &incarnation));
    CHECK_EQ(shared->number[1], incarnation);
    CHECK(incarnation != 0);
    OK(GNI_ExtIncarnation(n.nic, &own));
    CHECK(own != incarnation);
    CHECK_EQ(0, kill(child, SIGSTOP));
    await_state(&n, GNI_EXT_PEER_STOPPED);
    CHECK_EQ(0, kill(child, SIGCONT));
    await_state(&n, GNI_EXT_PEER_ALIVE);
    CHECK_EQ(0, kill(child, SIGKILL));
    CHECK_EQ(SIGKILL, join(child));
    await_state(&n, GNI_EXT_PEER_DEAD);
    node_close(&n);
}

static unsigned put_status(const struct node *n)
{
    struct node far = {0};
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t entry;

    far.handle = shared->handle[1];
    far.memory = (uint8_t *)(uintptr_t)shared->number[2];
    d = transaction(GNI_POST_FMA_PUT, n, &far, 8);
    OK(GNI_PostFma(n->ep, &d));
    next_event(n->cq, &entry);
    GNI_GetCompleted(n->cq, entry, &done);
    return (unsigned)gni_cq_get_status(entry);
}

static void pinned_peer_is_not_replaced(void)
{
    struct node n;
    uint64_t first, second;
    pid_t child;

    node_open(&n, 1, 0, 1);
    OK(GNI_EpBind(n.ep, n.pe, PEER));
    child = start(be_there);
    await_flag(1, 1);
    first = shared->number[1];
    OK(GNI_ExtPeerPin(n.nic, n.pe, PEER, first));
    CHECK_EQ(0, put_status(&n));
    CHECK_EQ(0, kill(child, SIGKILL));
    CHECK_EQ(SIGKILL, join(child));
    shared->number[3] = 1;
    child = start(be_there);
    await_flag(1, 2);
    CHECK(shared->number[1] != first);
    await_state(&n, GNI_EXT_PEER_DEAD);
    CHECK_EQ(11, put_status(&n));
    OK(GNI_ExtPeerForget(n.nic, n.pe, PEER));
    CHECK_EQ(GNI_EXT_PEER_ALIVE, state_of_peer(&n, &second));
    CHECK_EQ(shared->number[1], second);
    CHECK_EQ(0, put_status(&n));
    /* A pin to another than the one that is attached lets go of that. */
    OK(GNI_ExtPeerPin(n.nic, n.pe, PEER, first));
    CHECK_EQ(11, put_status(&n));
    CHECK_EQ(0, kill(child, SIGKILL));
    CHECK_EQ(SIGKILL, join(child));
    node_close(&n);
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "woken_by_a_peer", woken_by_a_peer},
        {"", "woken_by_a_thread", woken_by_a_thread},
        {"", "refused_arguments", refused_arguments},
        {"", "states_of_a_peer", states_of_a_peer},
        {"", "pinned_peer_is_not_replaced", pinned_peer_is_not_replaced},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(*cases)), argc, argv);
}
