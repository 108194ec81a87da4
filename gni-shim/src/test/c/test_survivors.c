/* Several processes of which some are killed at any time or stopped anywhere: the others go on, and
 * nobody hangs. */
#define _GNU_SOURCE
#include "area_check.h"
#include "mailbox.h"
#include "softnic.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 3
#define KILLS 24
#define CREDITS 4u
#define MAILBOX 4096u

/* shared->number: adds that were done, messages that were sent; of each child. */
enum { ADDS = 8, SENDS = 16 };
enum flag { OPEN = 1, GO = 20, SECOND = 21 };

static struct node target, a;
static int mapped, who;
static gni_ep_handle_t eps[CHILDREN];
static uint64_t got[CHILDREN];

static struct node far_node(void)
{
    struct node far = {0};

    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    far.handle = shared->handle[0];
    return far;
}

static void count(int what)
{
    __atomic_fetch_add(&shared->number[what + who], 1, __ATOMIC_RELEASE);
}

static uint64_t counted(int what, int child)
{
    return __atomic_load_n(&shared->number[what + child], __ATOMIC_ACQUIRE);
}

static gni_return_t add_one(uint64_t at)
{
    struct node far = far_node();
    gni_post_descriptor_t d = transaction(GNI_POST_AMO, &a, &far, 8);

    d.remote_addr += at;
    d.amo_cmd = GNI_FMA_ATOMIC_ADD;
    d.first_operand = 1;
    return post_and_wait(&a, &d);
}

/* ---- kills at any time ---- */

static void works(void)
{
    gni_smsg_attr_t mine;
    uint8_t text[128];
    gni_cq_entry_t entry;

    node_open(&a, (uint32_t)(2 + who), 0, mapped);
    OK(GNI_EpBind(a.ep, a.pe, 1));
    shared->attr[1 + who] = mine = mailbox_at(&a, GNI_SMSG_TYPE_MBOX, 0, CREDITS, 128);
    OK(GNI_SmsgInit(a.ep, &mine, &shared->attr[8 + who]));
    set_flag(OPEN + who, 1);
    for (uint64_t sent = 0;;) {
        gni_return_t code;

        OK(add_one(8 * (uint64_t)who));
        count(ADDS);
        memset(text, (int)(uint8_t)(sent + 1), sizeof(text));
        code = GNI_SmsgSend(a.ep, text, sizeof(text), NULL, 0, 1);
        if (code == GNI_RC_NOT_DONE)
            continue;
        OK(code);
        OK(next_event(a.cq, &entry));
        sent++;
        count(SENDS);
    }
}

static pid_t begin_child(int child)
{
    gni_smsg_attr_t mine =
        mailbox_at(&target, GNI_SMSG_TYPE_MBOX, 65536 + (uint32_t)child * MAILBOX, CREDITS, 128);
    pid_t pid;

    memset(target.memory + mine.mbox_offset, 0, MAILBOX);
    *(uint64_t *)(void *)(target.memory + 8 * child) = 0;
    shared->number[ADDS + child] = shared->number[SENDS + child] = 0;
    shared->attr[8 + child] = mine;
    got[child] = 0;
    set_flag(OPEN + child, 0);
    who = child;
    pid = start(works);
    await_flag(OPEN + child, 1);
    OK(GNI_EpCreate(target.nic, NULL, &eps[child]));
    OK(GNI_EpBind(eps[child], target.pe, (uint32_t)(2 + child)));
    OK(GNI_SmsgInit(eps[child], &mine, &shared->attr[1 + child]));
    return pid;
}

static void receive_of(int child)
{
    gni_cq_entry_t entry;
    void *message;

    while (GNI_SmsgGetNext(eps[child], &message) == GNI_RC_SUCCESS) {
        got[child]++;
        for (int i = 0; i < 128; i++)
            CHECK_EQ((uint8_t)got[child], ((uint8_t *)message)[i]);
        OK(GNI_SmsgRelease(eps[child]));
    }
    for (int i = 0; i < 100 && GNI_CqGetEvent(target.dst, &entry) != GNI_RC_NOT_DONE; i++)
        ;
}

static void receive_until(int child, uint64_t adds)
{
    while (counted(ADDS, child) < adds)
        for (int i = 0; i < CHILDREN; i++)
            receive_of(i);
}

/* What a killed child had done: all that it was told of, and at most one more. */
static void judge_dead(int child)
{
    uint64_t adds = *(uint64_t *)(void *)(target.memory + 8 * child);

    receive_of(child);
    CHECK(adds == counted(ADDS, child) || adds == counted(ADDS, child) + 1);
    CHECK(got[child] == counted(SENDS, child) || got[child] == counted(SENDS, child) + 1);
    OK(GNI_EpDestroy(eps[child]));
}

static void killed_at_any_time(void)
{
    uint64_t seed = check_seed();
    pid_t pid[CHILDREN];
    char text[512];

    node_open(&target, 1, 0, mapped);
    shared->handle[0] = target.handle;
    shared->number[0] = (uint64_t)(uintptr_t)target.memory;
    for (int i = 0; i < CHILDREN; i++)
        pid[i] = begin_child(i);
    for (int k = 0; k < KILLS; k++) {
        int child;

        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        child = (int)((seed >> 33) % CHILDREN);
        receive_until(child, counted(ADDS, child) + 1 + (seed >> 40) % 40);
        kill(pid[child], SIGKILL);
        CHECK_EQ(SIGKILL, join(pid[child]));
        judge_dead(child);
        for (int i = 0; i < CHILDREN; i++) /* nobody is held up by what it held */
            if (i != child)
                receive_until(i, counted(ADDS, i) + 2);
        pid[child] = begin_child(child);
    }
    for (int i = 0; i < CHILDREN; i++) {
        kill(pid[i], SIGKILL);
        CHECK_EQ(SIGKILL, join(pid[i]));
        judge_dead(i);
    }
    if (nic_check(target.nic, text, sizeof(text)) != 0)
        check_fail(__FILE__, __LINE__, "%s", text);
    node_close(&target);
}

static void killed_mapped(void)
{
    mapped = 1;
    killed_at_any_time();
}

static void killed_foreign(void)
{
    killed_at_any_time();
}

/* ---- stopped, outside of any lock ---- */

static void sleeps(void)
{
    gni_smsg_attr_t mine;
    gni_ep_handle_t open;
    gni_post_state_t state;
    uint8_t in[128];
    uint32_t pe, inst;
    void *message;

    node_open(&target, 2, 0, mapped);
    OK(GNI_EpBind(target.ep, target.pe, 1));
    OK(GNI_EpCreate(target.nic, NULL, &open));
    OK(GNI_EpPostDataWId(open, in, 8, in, 128, 5));
    shared->handle[0] = target.handle;
    shared->number[0] = (uint64_t)(uintptr_t)target.memory;
    shared->attr[0] = mine = mailbox_at(&target, GNI_SMSG_TYPE_MBOX, 65536, CREDITS, 128);
    set_flag(OPEN, 1);
    await_flag(GO, 1);
    OK(GNI_SmsgInit(target.ep, &mine, &shared->attr[1]));
    raise(SIGSTOP);
    for (uint32_t i = 0; i < CREDITS; i++) {
        OK(GNI_SmsgGetNext(target.ep, &message));
        CHECK(is_filled(message, 128, i));
        OK(GNI_SmsgRelease(target.ep));
    }
    CHECK(is_filled(target.memory + 4096, 4096, 7));
    OK(GNI_EpPostDataTestById(open, 5, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
    await_flag(SECOND, 1);
}

static void use_while_stopped(void)
{
    struct node far = far_node();
    gni_ep_handle_t datagrams;
    gni_post_descriptor_t d;
    gni_post_state_t state;
    uint8_t in[128];
    uint32_t pe, inst;

    for (int i = 0; i < 50; i++) {
        d = transaction(i & 1 ? GNI_POST_RDMA_PUT : GNI_POST_FMA_PUT, &a, &far, 4096);
        d.local_addr += 4096;
        d.remote_addr += 4096;
        d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
        fill(a.memory + 4096, 4096, 7);
        OK(post_and_wait(&a, &d));
        memset(a.memory + 4096, 0, 4096);
        d.type = GNI_POST_FMA_GET;
        OK(post_and_wait(&a, &d));
        CHECK(is_filled(a.memory + 4096, 4096, 7));
        OK(add_one(0));
    }
    OK(GNI_EpCreate(a.nic, NULL, &datagrams));
    OK(GNI_EpBind(datagrams, a.pe, 2));
    OK(GNI_EpPostData(datagrams, in, 8, in, 128));
    OK(GNI_EpPostDataTest(datagrams, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
}

static void stopped_outside(void)
{
    gni_smsg_attr_t mine;
    gni_cq_entry_t entry;
    uint8_t text[128];
    int state;
    pid_t pid = start(sleeps);

    await_flag(OPEN, 1);
    node_open(&a, 1, 0, mapped);
    OK(GNI_EpBind(a.ep, a.pe, 2));
    shared->attr[1] = mine = mailbox_at(&a, GNI_SMSG_TYPE_MBOX, 65536, CREDITS, 128);
    OK(GNI_SmsgInit(a.ep, &mine, &shared->attr[0]));
    set_flag(GO, 1);
    CHECK(waitpid(pid, &state, WUNTRACED) == pid && WIFSTOPPED(state));
    use_while_stopped();
    for (uint32_t i = 0; i < CREDITS; i++) {
        fill(text, sizeof(text), i);
        OK(GNI_SmsgSend(a.ep, text, sizeof(text), NULL, 0, i));
        OK(next_event(a.cq, &entry));
    }
    for (int i = 0; i < 100; i++) /* back pressure, at once */
        CODE(GNI_RC_NOT_DONE, GNI_SmsgSend(a.ep, text, sizeof(text), NULL, 0, 9));
    kill(pid, SIGCONT);
    while (GNI_SmsgSend(a.ep, text, sizeof(text), NULL, 0, 9) == GNI_RC_NOT_DONE)
        sleep_ms(1);
    set_flag(SECOND, 1);
    CHECK_EQ(0, join(pid));
}

static void stopped_outside_mapped(void)
{
    mapped = 1;
    stopped_outside();
}

static void stopped_outside_foreign(void)
{
    stopped_outside();
}

/* ---- stopped inside ---- */

static const char *stop_label;
static int passes; /* of the label, before it stops there */

static void stop(const char *label)
{
    if (strcmp(label, stop_label) != 0 || passes-- > 0)
        return;
    snic_step_hook = NULL;
    raise(SIGSTOP);
}

static void adds_and_stops(void)
{
    node_open(&a, 3, 0, 0);
    OK(GNI_EpBind(a.ep, a.pe, 1));
    snic_step_hook = stop;
    struct node far = far_node();
    gni_post_descriptor_t d = transaction(GNI_POST_CQWRITE, &a, &far, 0);
    OK(post_and_wait(&a, &d));
    OK(add_one(0));
}

static void posts_and_stops(void)
{
    uint8_t in[128];

    node_open(&a, 3, 0, 0);
    OK(GNI_EpBind(a.ep, a.pe, 1));
    snic_step_hook = stop;
    OK(GNI_EpPostData(a.ep, in, 8, in, 128));
}

static pid_t stopped_at(const char *label, void (*script)(void))
{
    int state;
    pid_t pid;

    stop_label = label;
    pid = start(script);
    CHECK(waitpid(pid, &state, WUNTRACED) == pid && WIFSTOPPED(state));
    return pid;
}

static void open_both(void)
{
    node_open(&target, 1, 0, 0);
    shared->handle[0] = target.handle;
    shared->number[0] = (uint64_t)(uintptr_t)target.memory;
    node_open(&a, 2, 0, 0);
    OK(GNI_EpBind(a.ep, a.pe, 1));
}

/* It holds the lock of the target's atomics: others' answer that they did not happen. */
static void stopped_in_an_atomic(void)
{
    struct node far;
    gni_post_descriptor_t d;
    pid_t pid;

    open_both();
    pid = stopped_at("gni.amo.read", adds_and_stops);
    far = far_node();
    d = transaction(GNI_POST_AMO, &a, &far, 8);
    d.amo_cmd = GNI_FMA_ATOMIC_ADD;
    expect_error(&a, &d, 13);
    d = transaction(GNI_POST_RDMA_PUT, &a, &far, 64); /* what needs no lock goes on */
    d.remote_addr += 4096;
    OK(post_and_wait(&a, &d));
    kill(pid, SIGCONT);
    CHECK_EQ(0, join(pid));
    CHECK_EQ(1, *(uint64_t *)(void *)target.memory);
    OK(add_one(0));
    CHECK_EQ(2, *(uint64_t *)(void *)target.memory);
}

/* Its event is there, and the tail of the queue does not say so: others' events come after it. */
static void stopped_in_an_event(void)
{
    gni_post_descriptor_t d;
    gni_cq_entry_t entry;
    struct node far;
    pid_t pid;

    open_both();
    pid = stopped_at("gni.event.stored", adds_and_stops);
    far = far_node();
    for (uint64_t i = 1; i <= 20; i++) {
        d = transaction(GNI_POST_CQWRITE, &a, &far, 0);
        d.cqwrite_value = i;
        OK(post_and_wait(&a, &d));
    }
    for (uint64_t i = 0; i <= 20; i++) {
        OK(GNI_CqGetEvent(target.dst, &entry));
        CHECK_EQ(i, gni_cq_get_data(entry));
    }
    expect_empty(target.dst);
    kill(pid, SIGCONT);
    CHECK_EQ(0, join(pid));
    expect_empty(target.dst);
    CHECK_EQ(0, nic_check(target.nic, NULL, 0));
}

/* It holds the lock of the target's datagrams: one that only looks does not wait for it. */
static void stopped_in_an_exchange(void)
{
    gni_post_state_t state = GNI_POST_PENDING;
    uint32_t pe, inst;
    uint64_t id, begin;
    uint8_t in[3][128];
    gni_cq_entry_t entry;
    gni_ep_handle_t open;
    pid_t pid;

    open_both();
    passes = 1; /* its own record comes first */
    pid = stopped_at("gni.datagram.state", posts_and_stops);
    OK(GNI_EpPostData(a.ep, in[0], 8, in[0], 128));
    begin = now_ms();
    for (int i = 0; i < 50; i++, sleep_ms(6)) {
        CODE(GNI_RC_NO_MATCH, GNI_PostDataProbeById(target.nic, &id));
        CODE(GNI_RC_NOT_DONE, GNI_CqGetEvent(a.cq, &entry)); /* tries to deliver */
    }
    CHECK(now_ms() - begin < 5000);
    kill(pid, SIGCONT);
    CHECK_EQ(0, join(pid));
    OK(GNI_EpCreate(target.nic, NULL, &open));
    OK(GNI_EpPostDataWId(open, in[1], 8, in[1], 128, 5));
    OK(GNI_EpPostDataWId(open, in[2], 8, in[2], 128, 6));
    while (state == GNI_POST_PENDING)
        OK(GNI_EpPostDataTest(a.ep, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
    CHECK_EQ(0, nic_check(target.nic, NULL, 0));
}

/* ---- the end of a registration under a put that does not go on ---- */

static gni_mem_handle_t entered;
static gni_return_t ended;

static void end_registration(const char *label)
{
    if (strcmp(label, "foreign.before") != 0)
        return;
    snic_step_hook = NULL;
    ended = GNI_MemDeregister(target.nic, &entered);
}

/* No more than what has begun goes in, and the registration ends once that has left. */
static void stays_until_left(uint64_t address)
{
    gni_post_descriptor_t d = transaction(GNI_POST_RDMA_PUT, &a, &target, 64);

    d.remote_mem_hndl = entered;
    d.remote_addr = address;
    snic_step_hook = end_registration;
    OK(post_and_wait(&a, &d));
    CODE(GNI_RC_TIMEOUT, ended);
    CHECK_EQ(0, nic_check(target.nic, NULL, 0));
    expect_error(&a, &d, 7);
    CODE(GNI_RC_INVALID_PARAM, GNI_MemRegister(target.nic, address + 4096, 4096, NULL,
                                               GNI_MEM_UPDATE_REGION, (uint32_t)-1, &entered));
    OK(GNI_MemDeregister(target.nic, &entered));
    CODE(GNI_RC_INVALID_PARAM, GNI_MemDeregister(target.nic, &entered));
    CHECK_EQ(0, nic_check(target.nic, NULL, 0));
}

static void registration_ends_in_a_put(void)
{
    uint64_t at;

    open_both();
    at = (uint64_t)(uintptr_t)target.memory;
    entered = target.handle;
    stays_until_left(at);
    gni_mem_segment_t pieces[2] = {{at, 4096}, {at + 8192, 4096}};
    OK(GNI_MemRegisterSegments(target.nic, pieces, 2, NULL, 0, (uint32_t)-1, &entered));
    stays_until_left(4096);
    OK(GNI_MemRegister(target.nic, at, MEMORY_BYTES, NULL, GNI_MEM_RESERVE_REGION, (uint32_t)-1,
                       &entered));
    OK(GNI_MemRegister(target.nic, at, 4096, NULL, GNI_MEM_UPDATE_REGION, (uint32_t)-1, &entered));
    stays_until_left(at);
}

static const struct check_case cases[] = {
    {"", "killed_mapped", killed_mapped},
    {"", "killed_foreign", killed_foreign},
    {"", "stopped_outside_mapped", stopped_outside_mapped},
    {"", "stopped_outside_foreign", stopped_outside_foreign},
    {"", "stopped_in_an_atomic", stopped_in_an_atomic},
    {"", "stopped_in_an_event", stopped_in_an_event},
    {"", "stopped_in_an_exchange", stopped_in_an_exchange},
    {"", "registration_ends_in_a_put", registration_ends_in_a_put},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
