/*
 * kill -9 and stops of the shm personality's processes, a server and a client, at every labelled
 * step and at random instants.
 */
#define _GNU_SOURCE
#include "kill_steps.h"
#include "shm_open.h"
#include <sched.h>
#include <time.h>

static shm_t *open_shm(const char *name)
{
    return open_shm_with(name, 4, 200, 6, 20000 * MS);
}

static void shm_server(void *argument)
{
    shm_event_t e;
    snic_key_t key;
    void *m;
    (void)argument;
    start_role(TARGET);
    shm_t *s = open_shm("t");
    CHECK_EQ(snic_memory_alloc(shm_nic(s), SIZE, 0, &m, why, sizeof why), 0);
    CHECK_EQ(snic_register(shm_nic(s), m, SIZE, 7, &key, why, sizeof why), 0);
    shm_listen(s);
    while (!atomic_load(&control->stop)) {
        if (shm_poll(s, &e, 1) == 0) {
            shm_await(s, now_ns() + MS);
            continue;
        }
        if (e.type == SHM_EVENT_CONNECT_REQUEST) {
            char what = e.length ? *(const char *)e.data : 0;
            if (what == 'r')
                CHECK_EQ(shm_reject(s, e.connection), 0);
            else if (what == 'a' && shm_accept(s, e.connection, 0) == 0)
                CHECK_EQ(shm_send(s, e.connection, &key, sizeof key), 0);
        } else if (e.type == SHM_EVENT_MESSAGE) {
            int rc = shm_send(s, e.connection, e.data, (uint32_t)e.length);
            CHECK(rc == 0 || rc == -EAGAIN || rc == -ENOTCONN);
            CHECK_EQ(shm_release(s, e.token), 0);
        }
    }
    CHECK_EQ(shm_close(s), 0);
}

/* 0: the event wanted; 1: the server is lost. */
static int await_event(shm_t *s, shm_event_t *e, uint32_t type)
{
    for (;;) {
        while (shm_poll(s, e, 1) == 0)
            CHECK(shm_await(s, now_ns() + 30000 * MS) >= 0);
        if (e->type == type)
            return 0;
        if (e->type == SHM_EVENT_PEER_LOST || e->type == SHM_EVENT_DISCONNECTED ||
            e->type == SHM_EVENT_CONNECT_FAILED)
            return 1;
        if (e->type == SHM_EVENT_MESSAGE)
            CHECK_EQ(shm_release(s, e->token), 0);
    }
}

static int64_t shm_connect_when_up(shm_t *s, const char *what)
{
    for (int i = 0; i < 40000; i++) {
        int64_t c = shm_connect(s, "t", 0, what, 1, 0, -1, why, sizeof why);
        if (c > 0)
            return c;
        if (c != -ENOENT && c != -ECONNREFUSED && c != -EAGAIN)
            test_fail(__FILE__, __LINE__, "connect: %lld %s", (long long)c, why);
        if (control->kill_role == TARGET && control->reached)
            return 0;
        usleep(500);
    }
    test_fail(__FILE__, __LINE__, "the server does not come up: %s", why);
}

static int shm_talk(shm_t *s, int64_t c)
{
    shm_event_t e;
    snic_key_t key;
    uint64_t before;
    char data[100];
    if (await_event(s, &e, SHM_EVENT_CONNECTED) || await_event(s, &e, SHM_EVENT_MESSAGE))
        return 1;
    memcpy(&key, e.data, sizeof key);
    CHECK_EQ(shm_release(s, e.token), 0);
    for (int i = 0; i < 6; i++) {
        memset(data, i, sizeof data);
        int rc = shm_send(s, c, data, sizeof data);
        if (rc == -ENOTCONN || await_event(s, &e, SHM_EVENT_MESSAGE))
            return 1;
        CHECK_EQ(rc, 0);
        CHECK(memcmp(e.data, data, sizeof data) == 0);
        CHECK_EQ(shm_release(s, e.token), 0);
        int codes[] = {shm_put_notify(s, c, &key, 64, data, sizeof data, 7),
                       snic_put(shm_peer(s, c), &key, 64, data, sizeof data),
                       snic_get(shm_peer(s, c), &key, 64, data, sizeof data),
                       snic_fetch_add(shm_peer(s, c), &key, 0, 1, &before)};
        for (int k = 0; k < COUNT(codes); k++)
            if (codes[k] != 0 && codes[k] != -ESRCH && codes[k] != -EAGAIN)
                test_fail(__FILE__, __LINE__, "operation %d: %d", k, codes[k]);
    }
    return 0;
}

static void shm_client(void *name)
{
    shm_event_t e;
    int64_t c = 0;
    start_role(INITIATOR);
    shm_t *s = open_shm(name);
    int lost = shm_connect_when_up(s, "r") == 0 || await_event(s, &e, SHM_EVENT_CONNECT_FAILED);
    if (!lost && (c = shm_connect_when_up(s, "i")) > 0)
        shm_disconnect(s, c); /* the server leaves it unanswered */
    for (int i = 0; i < 2 && !lost && c; i++) {
        c = shm_connect_when_up(s, "a");
        lost = c == 0 || shm_talk(s, c);
        if (!lost)
            CHECK_EQ(shm_disconnect(s, c), 0);
    }
    if ((lost || !c) && control->kill_role != TARGET)
        test_fail(__FILE__, __LINE__, "the server was lost");
    CHECK_EQ(shm_close(s), 0);
}

static const struct scenario shm = {shm_server, shm_client};

static void kill_at_shm_steps(void)
{
    kill_at_steps(&shm,
                  "control. end. connect. withdraw. accept. reject. send. notify. release. poll. "
                  "ring. attach. detach. close. publish.",
                  "");
}

/* ---- stopped at every step ---- */

/* 1: it stopped; 0: it ended without coming to the step. */
static int await_stop_or_end(int pid)
{
    int status;
    CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (!WIFSTOPPED(status))
        test_fail(__FILE__, __LINE__, "neither stopped nor ended well: status %x", status);
    return 1;
}

/* A client that is stopped anywhere disturbs neither the server nor another client, and ends well
 * when it runs again. */
static void run_stopped_client(int label, int at)
{
    fresh_run(INITIATOR, label, at);
    control->signal = SIGSTOP;
    int server = test_fork(shm_server, NULL);
    int first = test_fork(shm_client, "first");
    int stopped = await_stop_or_end(first);
    control->kill_role = -1;
    test_join(test_fork(shm_client, "second"), 0);
    if (stopped) {
        kill(first, SIGCONT);
        test_join(first, 0);
    }
    atomic_store(&control->stop, 1);
    test_join(server, 0);
    check_segments("at the end");
    check_nothing_is_left();
}

/* A server that is stopped anywhere: clients wait, and all ends well when it runs again. */
static void run_stopped_server(int label, int at)
{
    fresh_run(TARGET, label, at);
    control->signal = SIGSTOP;
    int server = test_fork(shm_server, NULL);
    int client = test_fork(shm_client, "first");
    if (starts_with(labels[label], "close.")) { /* the server closes when it is asked to */
        test_join(client, 0);
        client = -1;
        atomic_store(&control->stop, 1);
    }
    CHECK_EQ(await_stop_or_end(server), 1);
    check_segments("while the server is stopped");
    kill(server, SIGCONT);
    if (client > 0)
        test_join(client, 0);
    atomic_store(&control->stop, 1);
    test_join(server, 0);
    check_nothing_is_left();
}

static void stop_at_shm_steps(void)
{
    uint32_t counts[ROLES][LABELS_MAX];
    prepare();
    CHECK_EQ(run_kill(&shm, -1, -1, 0), 0);
    memcpy(counts, control->counts, sizeof counts);
    for (int label = 0; label < COUNT(labels); label++) {
        /* open. and file. happen with the job's folder locked: others are refused after 2 s, see
         * below. */
        if (starts_with(labels[label], "open. file.") || !is_due(label))
            continue;
        if (counts[INITIATOR][label])
            run_stopped_client(label, 1);
        if (counts[TARGET][label] && !starts_with(labels[label], "publish. memory. register."))
            run_stopped_server(label, 1);
    }
}

static void open_beside_a_stopped_open(void)
{
    snic_t *nic;
    prepare();
    fresh_run(TARGET, label_index("file.created"), 1);
    control->signal = SIGSTOP;
    int server = test_fork(shm_server, NULL);
    CHECK_EQ(await_stop_or_end(server), 1);
    snic_options_t o = {.job = "job", .name = "late", .registrations_max = 8};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), -EBUSY);
    CHECK_CONTAINS(why, "locked");
    kill(server, SIGCONT);
    atomic_store(&control->stop, 1);
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    test_join(server, 0);
    CHECK_EQ(snic_close(nic), 0);
}

static void kill_shm_at_random(void)
{
    kill_at_random(&shm, repeats(100));
}

static const struct test_case cases[] = {
    {"kill_at_every_shm_step", kill_at_shm_steps, NULL, 600},
    {"stop_at_every_shm_step", stop_at_shm_steps, NULL, 300},
    {"open_beside_a_stopped_open", open_beside_a_stopped_open, NULL, 0},
    {"kill_shm_at_random_instants", kill_shm_at_random, NULL, 300},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
