/*
 * A live segment is damaged at random while processes work in it: they may get errors, never a
 * signal, and never a hang. The damage is what another process of the same user with a wild pointer
 * could do.
 */
#define _GNU_SOURCE
#include "test.h"
#include "repeats.h"
#include "shm_open.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define MS 1000000ll
static char why[SNIC_WHY_MAX];
static struct shared {
    _Atomic int stop;
    _Atomic uint64_t rounds[2];
    snic_key_t key;
} * shared;

static shm_t *open_shm(const char *name)
{
    return open_shm_with(name, 8, 200, 4, 200 * MS);
}

/* Touches what an event points to. */
static uint64_t consume(shm_t *s, const shm_event_t *e)
{
    uint64_t sum = 0;
    if (e->type == SHM_EVENT_MESSAGE || e->type == SHM_EVENT_CONNECT_REQUEST)
        for (uint64_t i = 0; i < e->length; i++)
            sum += ((const uint8_t *)e->data)[i];
    if (e->type == SHM_EVENT_MESSAGE)
        shm_release(s, e->token);
    return sum;
}

static void work_once(shm_t *s, int64_t c, int round)
{
    uint8_t data[200];
    uint64_t before;
    memset(data, round, sizeof data);
    shm_send(s, c, data, (uint32_t)round % 200);
    shm_put_notify(s, c, &shared->key, (uint64_t)round % 60000, data, 200, 1);
    snic_peer_t *peer = shm_peer(s, c);
    if (!peer)
        return;
    snic_get(peer, &shared->key, (uint64_t)round % 60000, data, 200);
    snic_fetch_add(peer, &shared->key, 8, 1, &before);
}

/* Connects again and again, works, listens too. */
static void worker(void *argument)
{
    int me = (int)(uintptr_t)argument;
    static const char *const names[2] = {"a", "b"};
    shm_t *s = open_shm(names[me]);
    shm_event_t e;
    void *m;
    snic_key_t key;
    CHECK_EQ(snic_memory_alloc(shm_nic(s), 65536, 0, &m, why, sizeof why), 0);
    CHECK_EQ(snic_register(shm_nic(s), m, 65536, 7, &key, why, sizeof why), 0);
    if (me == 0)
        shared->key = key;
    shm_listen(s);
    int64_t c = -1;
    for (int round = 0; !atomic_load(&shared->stop); round++) {
        if (c <= 0 || round % 500 == 499) {
            if (c > 0)
                shm_disconnect(s, c);
            c = shm_connect(s, names[!me], 0, "private", 7, 0, 50 * MS, why, sizeof why);
        }
        if (c > 0)
            work_once(s, c, round);
        for (int i = 0; i < 8 && shm_poll(s, &e, 1) == 1; i++) {
            consume(s, &e);
            if (e.type == SHM_EVENT_CONNECT_REQUEST)
                shm_accept(s, e.connection, 0);
            if (e.connection == c &&
                (e.type == SHM_EVENT_CONNECT_FAILED || e.type == SHM_EVENT_DISCONNECTED ||
                 e.type == SHM_EVENT_PEER_LOST))
                c = -1;
        }
        if (round % 100 == 0) {
            snic_key_t extra;
            if (snic_register(shm_nic(s), m, 100, 7, &extra, why, sizeof why) == 0)
                snic_deregister(shm_nic(s), &extra, 1);
            shm_await(s, now_ns() + MS / 10);
        }
        atomic_fetch_add(&shared->rounds[me], 1);
    }
    /* Must end, in whatever way; what is left is swept later. */
    shm_close(s);
}

static uint64_t *map_segment(const char *name, uint64_t *bytes)
{
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/verbena-%u/job/%s", test_folder, (unsigned)geteuid(), name);
    for (int i = 0; i < 20000; i++) {
        int fd = open(path, O_RDWR);
        if (fd >= 0) {
            CHECK_EQ(fstat(fd, &st), 0);
            *bytes = (uint64_t)st.st_size;
            void *p = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            close(fd);
            CHECK(p != MAP_FAILED);
            return p;
        }
        usleep(500);
    }
    test_fail(__FILE__, __LINE__, "no segment %s", name);
}

enum style { BITS, SMALL, HUGE_VALUE, STYLES };

static void damage(uint64_t *words, uint64_t from, uint64_t to, uint64_t *random)
{
    uint64_t at = (from + test_random(random) % (to - from)) / 8;
    switch (test_random(random) % STYLES) {
    case BITS:
        words[at] ^= 1ull << (test_random(random) % 64);
        break;
    case SMALL:
        words[at] = test_random(random) % 70;
        break;
    default:
        words[at] = test_random(random);
        break;
    }
}

/* Ranges where damage hits something: header, first initiators, registrations, memories, control
 * words, rings. */
static void damage_somewhere(uint64_t *words, uint64_t bytes, uint64_t *random)
{
    const struct snic_header *h = (const struct snic_header *)words;
    static struct snic_header first;
    if (!first.magic)
        first = *h;
    uint64_t starts[] = {64,
                         first.initiators_offset,
                         first.registrations_offset,
                         first.memories_offset,
                         first.area_offset,
                         first.area_offset + SHM_AREA_BYTES,
                         first.area_offset + 4096};
    uint64_t lengths[] = {640, 1024, 512, 256, 512, 2048, bytes - first.area_offset - 4096};
    int i = (int)(test_random(random) % (uint64_t)COUNT(starts));
    uint64_t from = starts[i], to = starts[i] + lengths[i];
    if (to <= bytes && from < to)
        damage(words, from, to, random);
}

static void damaged_at_random(void)
{
    uint64_t random = test_seed, bytes;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int run = 0; run < repeats(150); run++) {
        memset((void *)shared, 0, sizeof *shared);
        int a = test_fork(worker, (void *)0), b = test_fork(worker, (void *)1);
        uint64_t *words = map_segment("a", &bytes);
        int64_t until = now_ns() + 5000 * MS;
        while (atomic_load(&shared->rounds[0]) < 300 && now_ns() < until)
            usleep(200);
        for (int i = 0; i < 400; i++) {
            damage_somewhere(words, bytes, &random);
            if (i % 8 == 0)
                usleep(200);
        }
        atomic_store(&shared->stop, 1);
        test_join(a, 0);
        test_join(b, 0);
        munmap(words, bytes);
    }
}

static void set_length(const char *file, uint64_t bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/verbena-%u/job/%s", test_folder, (unsigned)geteuid(), file);
    CHECK(truncate(path, (off_t)bytes) == 0 || errno == ENOENT);
}

/* The files get shorter and longer while both ends work. */
static void cut_at_random(void)
{
    static const char *const files[] = {"a", "b", "a+m0", "b+m0"};
    uint64_t random = test_seed, bytes;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int run = 0; run < repeats(150); run++) {
        memset((void *)shared, 0, sizeof *shared);
        int a = test_fork(worker, (void *)0), b = test_fork(worker, (void *)1);
        uint64_t *words = map_segment("a", &bytes);
        munmap(words, bytes);
        int64_t until = now_ns() + 5000 * MS;
        while ((atomic_load(&shared->rounds[0]) < 300 || atomic_load(&shared->rounds[1]) < 300) &&
               now_ns() < until)
            usleep(200);
        for (int i = 0; i < 6; i++) {
            int file = (int)(test_random(&random) % (uint64_t)COUNT(files));
            uint64_t most = file < 2 ? bytes : 65536;
            set_length(files[file],
                       test_random(&random) % 4 == 0 ? most : test_random(&random) % most);
            usleep(2000);
        }
        atomic_store(&shared->stop, 1);
        test_join(a, 0);
        test_join(b, 0);
    }
}

/* A length beyond the slot, an unknown kind: dropped and counted, and the connection goes on. */
static void nonsense_in_a_slot_is_dropped(void)
{
    shm_event_t e;
    shm_view_t view;
    shm_t *a = open_shm("a"), *b = open_shm("b");
    shm_listen(b);
    int64_t c = shm_connect(a, "b", 0, NULL, 0, 0, -1, why, sizeof why);
    while (shm_poll(b, &e, 1) == 0)
        ;
    CHECK_EQ(shm_accept(b, e.connection, 0), 0);
    while (shm_poll(a, &e, 1) == 0)
        ;
    CHECK_EQ(e.type, SHM_EVENT_CONNECTED);
    CHECK_EQ(shm_view(a, c, &view), 0);
    for (uint32_t i = 0; i < 40; i++) {
        struct shm_slot *slot =
            (struct shm_slot *)((uint8_t *)view.peer_ring + view.peer_credit_bytes +
                                (uint64_t)(i % view.peer_credits) * view.peer_slot_bytes);
        CHECK_EQ(shm_send(a, c, &i, 4), 0);
        if (i % 4 == 1)
            slot->length = 201;
        if (i % 4 == 2)
            slot->length = 0xffffffffu;
        if (i % 4 == 3)
            slot->kind = 77;
        CHECK_EQ(shm_poll(b, &e, 1), i % 4 == 0);
        if (i % 4 != 0)
            continue;
        CHECK_EQ(e.type, SHM_EVENT_MESSAGE);
        CHECK_EQ(*(const uint32_t *)e.data, i);
        CHECK_EQ(shm_release(b, e.token), 0);
    }
    struct shm_area *area = snic_area(shm_nic(b));
    CHECK_EQ(atomic_load(&area->malformed), 30);
    shm_close(a);
    shm_close(b);
}

/* The checker itself reads what may be damaged, and must notice. */
static void checker_finds_damage(void)
{
    uint64_t bytes;
    static char text[65536];
    shm_t *s = open_shm("a");
    struct snic_header *h = (struct snic_header *)map_segment("a", &bytes);
    CHECK_EQ(snic_check(NULL, "job", text, sizeof text), 0);
    struct shm_area *area = snic_area(shm_nic(s));
    struct shm_connection *r =
        (struct shm_connection *)((uint8_t *)area + area->connections_offset);
    struct snic_initiator *initiators =
        (struct snic_initiator *)((uint8_t *)h + h->initiators_offset);
    struct snic_registration *regs =
        (struct snic_registration *)((uint8_t *)h + h->registrations_offset);

    uint64_t saved = atomic_load(&r[1].control);
    atomic_store(&r[1].control, SHM_CONTROL(7, 3, SHM_OPEN | SHM_LOCAL_DONE | SHM_REMOTE_DONE));
    CHECK(snic_check(NULL, "job", text, sizeof text) > 0);
    CHECK_CONTAINS(text, "record 1: both ends are done");
    atomic_store(&r[1].control, saved);

    atomic_store(&initiators[2].pins[0], 99);
    CHECK(snic_check(NULL, "job", text, sizeof text) > 0);
    CHECK_CONTAINS(text, "initiator 2 is free and holds a pin");
    atomic_store(&initiators[2].pins[0], 0);

    atomic_store(&regs[3].generation, 1);
    CHECK(snic_check(NULL, "job", text, sizeof text) > 0);
    CHECK_CONTAINS(text, "registration 3");
    atomic_store(&regs[3].generation, 0);

    uint32_t version = h->layout_version;
    h->layout_version = 7;
    CHECK_EQ(snic_check(NULL, "job", text, sizeof text), 1);
    CHECK_CONTAINS(text, "layout version 7");
    h->layout_version = version;
    CHECK_EQ(snic_check(NULL, "job", text, sizeof text), 0);
    CHECK_EQ(snic_check(NULL, "nojob", text, sizeof text), -ENOENT);
    shm_close(s);
}

static const struct test_case cases[] = {
    {"damage_at_random_gives_no_signal_and_no_hang", damaged_at_random, NULL, 300},
    {"files_cut_at_random_give_no_signal_and_no_hang", cut_at_random, NULL, 300},
    {"nonsense_in_a_slot_is_dropped", nonsense_in_a_slot_is_dropped, NULL, 0},
    {"checker_finds_damage", checker_finds_damage, NULL, 0},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
