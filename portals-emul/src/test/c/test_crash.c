/*
 * Processes killed while they finish what a dead one began, killed at random, and stopped inside
 * the lock. (Killed at every labelled step: test_steps.c.)
 */
#define _GNU_SOURCE
#include "crash.h"
#include "repeats.h"

#include <sys/wait.h>
#include <unistd.h>

static void i_clean_put_and_die(void)
{
    snic_step_hook = strike;
    i_clean_put();
}

/* Logs into the same queue, and frees the same kinds of objects, as what the dead left behind. */
static void i_clean_unlinking_put(void)
{
    ptl_handle_md_t md = bind(own_bytes, 100, -1, PTL_RETAIN, PTL_EQ_NONE);

    OK(put_to(md, PTL_ACK_REQ, BITS + 2, 0, 0));
    CHECK_EQ(PTL_EXT_DELIVERED, PtlExtLastOutcome());
}

/* One dies inside the lock, the next while he finishes what the first began, a third finds both. */
static void kill_twice(const char *first, const char *second, int passage)
{
    ptl_handle_md_t md =
        post_at(PORTAL, BITS, make_md(bytes, sizeof(bytes), 1, BOTH, eq), PTL_UNLINK, NULL);
    struct tally t;

    post_at(PORTAL, BITS + 2, make_md(own_bytes, 200, 1, BOTH, eq), PTL_UNLINK, NULL);
    fatal_label = first;
    fatal_passage = 1;
    CHECK_EQ(SIGKILL, initiator_join(initiator_start(i_one_put)));
    fatal_label = second;
    fatal_passage = passage;
    initiator_join(initiator_start(i_clean_put_and_die));
    fatal_passage = 0;
    initiator_run(i_clean_unlinking_put);
    await_quiet();
    expect_sound();
    t = drain(eq);
    CHECK_EQ(2, t.starts);
    CHECK_EQ(2, t.ends);
    CHECK_EQ(2, t.unlinks);
    CHECK_EQ(2, t.failures + t.successes);
    CHECK_EQ(PTL_MD_INVALID, PtlMDUnlink(md));
}

static void recoverer_killed(void)
{
    static const char *const first[] = {"ptl.accept.intent",   "ptl.accept.busy",
                                        "ptl.complete.intent", "ptl.complete.end",
                                        "ptl.complete.busy",   "ptl.unlink.md"};
    static const char *const second[] = {
        "ptl.event.busy",    "ptl.event.words",      "ptl.event.stamp",     "ptl.event.tail",
        "ptl.accept.logged", "ptl.complete.planned", "ptl.complete.intent", "ptl.complete.end",
        "ptl.complete.busy", "ptl.unlink.md",        "ptl.unlink.list",     "ptl.complete.applied"};

    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
    post_at(PORTAL, BITS + 1,
            make_md(own_bytes, sizeof(own_bytes), -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE),
            PTL_RETAIN, NULL);
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        for (size_t k = 0; k < sizeof(second) / sizeof(second[0]); k++)
            for (int passage = 1; passage <= repeats(2); passage++)
                kill_twice(first[i], second[k], passage);
    CHECK_EQ(1, status(PTL_SR_MDS_CUR));
    CHECK_EQ(1, status(PTL_SR_MES_CUR));
}

/* An unfinished put never looks like a success: killed before the copy was complete. */
static void unfinished_put_is_no_success(void)
{
    struct tally t;

    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
    post(bytes, sizeof(bytes), -1, PTL_MD_OP_PUT, eq);
    fatal_label = "ptl.put.copy";
    fatal_passage = 1;
    CHECK_EQ(SIGKILL, initiator_join(initiator_start(i_one_put)));
    await_quiet();
    t = drain(eq);
    CHECK_EQ(1, t.starts);
    CHECK_EQ(1, t.failures);
    CHECK_EQ(0, t.successes);
}

/* A sleeping waiter finds the dead initiator by himself. */
static void sleeper_finds_the_dead(void)
{
    ptl_event_t event;

    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
    post(bytes, sizeof(bytes), -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    fatal_label = "ptl.put.copied";
    fatal_passage = 1;
    CHECK_EQ(SIGKILL, initiator_join(initiator_start(i_one_put)));
    OK(PtlEQWait(eq, &event));
    CHECK_EQ(PTL_EVENT_PUT_END, event.type);
    CHECK_EQ(PTL_EXT_FAIL_INITIATOR_DIED, event.ni_fail_type);
}

static void i_put_that_is_dropped(void)
{
    ptl_handle_md_t md = bind(own_bytes, 100, -1, PTL_RETAIN, PTL_EQ_NONE);

    OK(put_to(md, PTL_NO_ACK_REQ, BITS + 9, 0, 0));
    CHECK_EQ(PTL_EXT_DROPPED, PtlExtLastOutcome());
}

/* One dies inside the lock; the next finishes that put under it and does nothing else there that
 * would ring. */
static void recovery_rings_the_target(void)
{
    static const char *const labels[] = {"ptl.accept.intent", "ptl.accept.busy",
                                         "ptl.complete.intent", "ptl.complete.busy"};

    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        uint32_t seen;

        post_at(PORTAL, BITS, make_md(bytes, sizeof(bytes), 1, BOTH, eq), PTL_UNLINK, NULL);
        fatal_label = labels[i];
        fatal_passage = 1;
        CHECK_EQ(SIGKILL, initiator_join(initiator_start(i_one_put)));
        fatal_passage = 0;
        OK(PtlExtDoorbell(ni, &seen));
        initiator_run(i_put_that_is_dropped);
        CHECK_EQ(PTL_OK, PtlExtWait(ni, seen, 300000000));
        CHECK_EQ(1, drain(eq).ends);
    }
}

static void strike_after_completion(const char *label)
{
    if (strcmp(label, "ptl.complete.applied") == 0)
        fatal_passage = 1;
    strike(label);
}

static void i_put_and_do_not_ring(void)
{
    fatal_passage = 0;
    snic_step_hook = strike_after_completion;
    i_one_put_unhooked();
}

/* An initiator dies after it has logged an event and before it rings. From "unlock.before" on its
 * intent record shows nothing that is left to finish. */
static void sleeper_finds_an_event_without_a_ring(void)
{
    static const struct {
        const char *label;
        void (*body)(void);
    } deaths[] = {{"ptl.request.unlocked", i_long_put},
                  {"ptl.complete.applied", i_put_and_do_not_ring},
                  {"unlock.before", i_put_and_do_not_ring},
                  {"unlock.after", i_put_and_do_not_ring}};

    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
    for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
        uint32_t seen;
        pid_t pid;

        post(bytes, sizeof(bytes), 1, PTL_MD_OP_PUT, eq);
        fatal_label = deaths[i].label;
        fatal_passage = 1;
        OK(PtlExtDoorbell(ni, &seen));
        pid = initiator_start(deaths[i].body);
        OK(PtlExtWait(ni, seen, 20000000000));
        CHECK_EQ(SIGKILL, initiator_join(pid));
        await_quiet();
        CHECK_EQ(1, drain(eq).ends);
        expect_sound();
    }
}

/* PtlMDUnlink of a descriptor that only a dead initiator keeps busy succeeds. */
static void unlink_reclaims_from_the_dead(void)
{
    ptl_handle_md_t md;

    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
    md = post(bytes, sizeof(bytes), -1, PTL_MD_OP_PUT, eq);
    fatal_label = "ptl.put.copy";
    fatal_passage = 1;
    CHECK_EQ(SIGKILL, initiator_join(initiator_start(i_one_put)));
    OK(PtlMDUnlink(md));
    expect_sound();
}

/* A process stopped inside the lock gives others back pressure, and goes on when continued. */
static void i_meets_a_stopped_lock(void)
{
    ptl_handle_md_t md = bind(own_bytes, 100, -1, PTL_RETAIN, PTL_EQ_NONE);
    int code;

    CHECK_EQ(PTL_NO_SPACE, put_to(md, PTL_NO_ACK_REQ, BITS + 1, 0, 0));
    set_flag(1, 1);
    do
        code = put_to(md, PTL_NO_ACK_REQ, BITS + 1, 0, 0);
    while (code == PTL_NO_SPACE);
    CHECK_EQ(PTL_OK, code);
}

static void stopped_inside_the_lock(void)
{
    ptl_handle_me_t me;
    pid_t stopped, other;
    struct tally t;
    int state;

    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
    post(bytes, sizeof(bytes), 1, PTL_MD_OP_PUT, eq);
    post_at(PORTAL, BITS + 1, make_md(own_bytes, 200, -1, PTL_MD_OP_PUT, PTL_EQ_NONE), PTL_RETAIN,
            NULL);
    fatal_label = "ptl.accept.busy";
    fatal_passage = 1;
    fatal_signal = SIGSTOP;
    stopped = initiator_start(i_one_put);
    CHECK_EQ(stopped, waitpid(stopped, &state, WUNTRACED));
    CHECK(WIFSTOPPED(state));
    CHECK_EQ(PTL_NO_SPACE, PtlMEAttach(ni, PORTAL, ANY_ID, 1, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    other = initiator_start(i_meets_a_stopped_lock);
    await_flag(1, 1);
    kill(stopped, SIGCONT);
    CHECK_EQ(0, initiator_join(stopped));
    CHECK_EQ(0, initiator_join(other));
    OK(PtlMEAttach(ni, PORTAL, ANY_ID, 1, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    t = drain(eq);
    CHECK_EQ(1, t.successes);
    expect_sound();
}

/* Many initiators killed at random moments while others work. */
static void i_until_killed(void)
{
    ptl_handle_md_t md = bind(own_bytes, 16384, -1, PTL_RETAIN, PTL_EQ_NONE);

    for (;;)
        (void)put(md, PTL_NO_ACK_REQ);
}

/* The same with puts that wait for a wire: another thread carries them out. */
static void i_until_killed_on_the_wire(void)
{
    ptl_handle_ni_t program;
    ptl_handle_md_t md;

    CHECK_EQ(0, setenv("VERBENA_PORTALS_WIRE_US", "300", 1));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &program));
    OK(PtlMDBind(program, make_md(own_bytes, 2048, -1, 0, PTL_EQ_NONE), PTL_RETAIN, &md));
    for (;;) {
        (void)put(md, PTL_NO_ACK_REQ);
        usleep(10);
    }
}

/* Until a put was accepted: on a busy machine that takes longer than a pause before a kill. */
static void await_traffic(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int tries = 0; status(PTL_SR_RECV_COUNT) == 0; tries++) {
        CHECK(tries < 60000);
        nanosleep(&pause, NULL);
    }
}

static void kill_at_random(void (*initiator)(void))
{
    uint64_t seed = 20260101, received = 0;
    pid_t pids[3];
    struct tally t;

    open_interface(PTL_EXT_REF);
    eq = new_eq(16384);
    if (getenv("PORTALS_TEST_SEED"))
        seed = strtoull(getenv("PORTALS_TEST_SEED"), NULL, 0);
    for (int round = 0; round < repeats(25); round++) {
        /* Without TRUNCATE and with a threshold, so that descriptors come and go all the time. */
        for (int i = 0; i < 200; i++)
            post(bytes, 32768, 2, PTL_MD_OP_PUT | (i % 2 ? PTL_MD_EVENT_START_DISABLE : 0u),
                 PTL_EQ_NONE);
        post(bytes, sizeof(bytes), -1, PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE, eq);
        for (int i = 0; i < 3; i++)
            pids[i] = initiator_start(initiator);
        if (round % 2 == 1) /* the other rounds kill while initiators start */
            await_traffic();
        for (int i = 0; i < 3; i++) {
            struct timespec pause;

            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            pause = (struct timespec){.tv_nsec = (long)(seed >> 33) % 10000000};
            nanosleep(&pause, NULL);
            kill(pids[i], SIGKILL);
            CHECK_EQ(SIGKILL, initiator_join(pids[i]));
        }
        while (PtlExtReap(ni) > 0)
            ;
        expect_sound();
        {
            ptl_event_t event;

            while (PtlEQGet(eq, &event) != PTL_EQ_EMPTY)
                ;
        }
        received += status(PTL_SR_RECV_COUNT);
        /* Everything that is left can be unlinked: nothing is busy on behalf of the dead. */
        OK(PtlNIFini(ni));
        open_interface(PTL_EXT_REF);
        eq = new_eq(16384);
    }
    t = drain(eq);
    CHECK_EQ(0, t.starts + t.ends);
    printf("# %llu puts arrived\n", (unsigned long long)received);
    CHECK(received > 0);
}

static void killed_at_random(void)
{
    kill_at_random(i_until_killed);
}

static void killed_on_the_wire(void)
{
    kill_at_random(i_until_killed_on_the_wire);
}

/* The target is killed while initiators work on it: they get their events, and nothing hangs. */
static void be_target(void)
{
    ptl_handle_eq_t queue = new_eq(1024);
    ptl_event_t event;

    for (int i = 0; i < 100; i++)
        post(bytes, 32768, 50, PTL_MD_OP_PUT, queue);
    shared->id[1] = own_id;
    set_flag(0, 1);
    for (;;)
        (void)PtlEQWait(queue, &event);
}

static void target_killed_at_random(void)
{
    struct timespec pause = {.tv_nsec = 500000};

    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
    for (int round = 0; round < 10; round++) {
        ptl_handle_md_t md = bind(own_bytes, 128, -1, PTL_RETAIN, eq);
        pid_t pid, killer;
        int failed = 0;

        set_flag(0, 0);
        pid = initiator_start(be_target);
        await_flag(0, 1);
        target_id = shared->id[1];
        pause.tv_nsec += 300000;
        killer = fork();
        if (killer == 0) {
            nanosleep(&pause, NULL);
            kill(pid, SIGKILL);
            _exit(0);
        }
        while (!failed) {
            OK(put(md, PTL_NO_ACK_REQ));
            take(eq, PTL_EVENT_SEND_START);
            failed = take(eq, PTL_EVENT_SEND_END).ni_fail_type != PTL_NI_OK;
        }
        CHECK_EQ(SIGKILL, initiator_join(pid));
        waitpid(killer, NULL, 0);
        OK(PtlMDUnlink(md));
        expect_sound();
    }
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "recoverer_killed", recoverer_killed},
        {"", "unfinished_put_is_no_success", unfinished_put_is_no_success},
        {"", "sleeper_finds_the_dead", sleeper_finds_the_dead},
        {"", "recovery_rings_the_target", recovery_rings_the_target},
        {"", "sleeper_finds_an_event_without_a_ring", sleeper_finds_an_event_without_a_ring},
        {"", "unlink_reclaims_from_the_dead", unlink_reclaims_from_the_dead},
        {"", "stopped_inside_the_lock", stopped_inside_the_lock},
        {"", "killed_at_random", killed_at_random},
        {"", "killed_on_the_wire", killed_on_the_wire},
        {"88", "target_killed_at_random", target_killed_at_random},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
