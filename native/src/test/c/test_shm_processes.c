/* The shm personality between processes, which die and are stopped, and between threads. */
#define _GNU_SOURCE
#include "shm_pair.h"

/* ---- two processes ---- */

static void echo_server(void *argument)
{
    shm_t *s = open_shm("server");
    shm_event_t e;
    (void)argument;
    shm_listen(s);
    expect(s, &e, SHM_EVENT_CONNECT_REQUEST);
    CHECK_EQ(shm_accept(s, e.connection, 0), 0);
    for (;;) {
        next(s, &e);
        if (e.type != SHM_EVENT_MESSAGE)
            break;
        while (shm_send(s, e.connection, e.data, (uint32_t)e.length) == -EAGAIN)
            sched_yield();
        CHECK_EQ(shm_release(s, e.token), 0);
    }
    CHECK_EQ(e.type, SHM_EVENT_DISCONNECTED);
    CHECK_EQ(shm_close(s), 0);
}

static int64_t connect_when_up(shm_t *s, const char *name)
{
    for (;;) {
        int64_t c = shm_connect(s, name, 0, NULL, 0, 0, 20000 * MS, why, sizeof why);
        if (c > 0)
            return c;
        CHECK(c == -ENOENT || c == -ECONNREFUSED);
        usleep(500);
    }
}

static void echo_between_processes(void)
{
    shm_event_t e;
    uint8_t data[1000];
    uint64_t random = test_seed;
    int pid = test_fork(echo_server, NULL);
    shm_t *s = open_shm("client");
    int64_t c = connect_when_up(s, "server");
    expect(s, &e, SHM_EVENT_CONNECTED);
    uint64_t sent = 0, received = 0;
    while (received < 3000) {
        while (sent < 3000 && sent - received < 6) {
            memset(data, (int)(sent * 37), sizeof data);
            int rc = shm_send(s, c, data, 1 + (uint32_t)(test_random(&random) % 1000));
            if (rc == -EAGAIN)
                break;
            CHECK_EQ(rc, 0);
            sent++;
        }
        expect(s, &e, SHM_EVENT_MESSAGE);
        for (uint64_t j = 0; j < e.length; j++)
            CHECK_EQ(((const uint8_t *)e.data)[j], (received * 37) & 0xff);
        CHECK_EQ(shm_release(s, e.token), 0);
        received++;
    }
    CHECK_EQ(shm_disconnect(s, c), 0);
    test_join(pid, 0);
    CHECK_EQ(shm_close(s), 0);
}

static void dying_client(void *argument)
{
    (void)argument;
    shm_event_t e;
    shm_t *s = open_shm("client");
    int64_t c = connect_when_up(s, "server");
    expect(s, &e, SHM_EVENT_CONNECTED);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_EQ(shm_send(s, c, &i, 4), 0);
    kill(getpid(), SIGKILL);
}

/* What a peer sent before it died is delivered; then exactly one PEER_LOST. */
static void death_of_a_peer(void)
{
    shm_event_t e;
    shm_t *s = open_shm("server");
    shm_listen(s);
    int pid = test_fork(dying_client, NULL);
    expect(s, &e, SHM_EVENT_CONNECT_REQUEST);
    CHECK_EQ(shm_accept(s, e.connection, 0), 0);
    test_join_killed(pid);
    for (uint32_t i = 0; i < 5; i++) {
        expect(s, &e, SHM_EVENT_MESSAGE);
        CHECK_EQ(*(const uint32_t *)e.data, i);
        CHECK_EQ(shm_release(s, e.token), 0);
    }
    expect(s, &e, SHM_EVENT_PEER_LOST);
    CHECK_EQ(e.status, -ESRCH);
    CHECK_EQ(shm_poll(s, &e, 1), 0);
    check_records_free(s);
    CHECK_EQ(shm_close(s), 0);
}

static void patient_client(void *argument)
{
    (void)argument;
    shm_event_t e;
    shm_t *s = open_shm("client");
    connect_when_up(s, "server");
    expect(s, &e, SHM_EVENT_CONNECTED);
    do
        next(s, &e);
    while (e.type == SHM_EVENT_MESSAGE && shm_release(s, e.token) == 0);
    CHECK_EQ(e.type, SHM_EVENT_DISCONNECTED);
    CHECK_EQ(shm_close(s), 0);
}

/* A stopped peer is lost after the timeout, and finds out when it runs again. */
static void stop_of_a_peer(void)
{
    shm_event_t e;
    int status;
    shm_t *s = open_shm("server");
    shm_listen(s);
    int pid = test_fork(patient_client, NULL);
    expect(s, &e, SHM_EVENT_CONNECT_REQUEST);
    int64_t c = e.connection;
    CHECK_EQ(shm_accept(s, c, 0), 0);
    kill(pid, SIGSTOP);
    CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
    int rc = 0;
    for (int i = 0; i < 100 && rc == 0; i++)
        rc = shm_send(s, c, "x", 1); /* back pressure, no hang */
    CHECK_EQ(rc, -EAGAIN);
    int64_t start = now_ns();
    expect(s, &e, SHM_EVENT_PEER_LOST);
    CHECK_EQ(e.status, -EHOSTDOWN);
    CHECK(now_ns() - start >= 200 * MS);
    kill(pid, SIGCONT);
    test_join(pid, 0);
    check_records_free(s);
    CHECK_EQ(shm_close(s), 0);
}

/* ---- threads ---- */

struct sender {
    shm_t *s;
    int64_t c;
    int rc;
};

static void *sender_main(void *argument)
{
    struct sender *p = argument;
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t words[16] = {i, i, i, i};
        int rc;
        while ((rc = shm_send(p->s, p->c, words, sizeof words)) == -EAGAIN)
            sched_yield();
        if (rc != 0)
            p->rc = rc;
    }
    return NULL;
}

/* Both ends in one address space, each with a thread: for ThreadSanitizer. */
static void two_nics_in_two_threads(void)
{
    struct both p;
    shm_event_t e;
    pthread_t thread;
    make_both(&p);
    struct sender sender = {p.a, p.ab, 0};
    CHECK_EQ(pthread_create(&thread, NULL, sender_main, &sender), 0);
    for (uint32_t i = 0; i < 5000; i++) {
        expect(p.b, &e, SHM_EVENT_MESSAGE);
        CHECK_EQ(((const uint32_t *)e.data)[3], i);
        CHECK_EQ(shm_release(p.b, e.token), 0);
    }
    pthread_join(thread, NULL);
    CHECK_EQ(sender.rc, 0);
    close_both(&p);
}

static const struct test_case cases[] = {
    {"echo_between_processes", echo_between_processes, NULL, 0},
    {"death_of_a_peer", death_of_a_peer, NULL, 0},
    {"stop_of_a_peer", stop_of_a_peer, NULL, 0},
    {"two_nics_in_two_threads", two_nics_in_two_threads, NULL, 0},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
