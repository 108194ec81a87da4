/* Pins against deregister, between two processes that really run at the same time. */
#define _GNU_SOURCE
#include "test.h"
#include "repeats.h"
#include "softnic_private.h"
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define ROUNDS_MS 3000

/* A busy machine rarely runs both processes at once: so long they may take to meet. */
#define PUTS_MIN 10
#define MEET_MS 30000

static char why[SNIC_WHY_MAX];

/* What the two processes tell each other. */
struct table {
    _Atomic uint32_t turn; /* odd: the key is good */
    _Atomic uint32_t stop;
    _Atomic uint64_t puts;
    snic_key_t key;
};

static snic_t *open_nic(const char *name)
{
    snic_t *nic = NULL;
    snic_options_t o = {.job = "job",
                        .name = name,
                        .personality = SNIC_SHM,
                        .initiators_max = 8,
                        .registrations_max = 64,
                        .area_bytes = 8192};
    int rc = snic_open(&o, &nic, why, sizeof why);
    if (rc != 0)
        test_fail(__FILE__, __LINE__, "snic_open %s: %d %s", name, rc, why);
    CHECK_EQ(snic_publish(nic), 0);
    return nic;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Puts a new value each time, as fast as it can. */
static void put_without_end(void *argument)
{
    struct table *table = argument;
    snic_t *nic = open_nic("initiator");
    snic_peer_t *peer = NULL;
    int rc = -ENOENT;
    for (int tries = 0; rc != 0 && tries < 10000; tries++) {
        rc = snic_attach(nic, "owner", 0, &peer, why, sizeof why);
        if (rc != 0)
            usleep(1000); /* the owner is still opening */
    }
    CHECK_EQ(rc, 0);
    uint64_t value = 0;
    while (!atomic_load(&table->stop)) {
        uint32_t turn = atomic_load(&table->turn);
        if (!(turn & 1)) {
            sched_yield();
            continue;
        }
        snic_key_t key = table->key;
        rc = 0;
        while (rc == 0) {
            value++;
            rc = snic_put(peer, &key, 0, &value, 8);
            atomic_store_explicit(&table->puts, value, memory_order_relaxed);
        }
        CHECK_EQ(rc, -ESTALE);
        /* The owner may have been between two turns while the key was read. */
    }
    snic_detach(peer);
    CHECK_EQ(snic_close(nic), 0);
}

static void no_byte_lands_after_deregister(void)
{
    struct table *table =
        mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(table != MAP_FAILED);
    int child = test_fork(put_without_end, table);
    snic_t *nic = open_nic("owner");
    void *memory = NULL;
    CHECK_EQ(snic_memory_alloc(nic, 4096, 0, &memory, why, sizeof why), 0);
    volatile uint64_t *word = memory;
    uint64_t began = now_ns(), end = began + (uint64_t)repeats(ROUNDS_MS) * 1000000u;
    uint64_t latest = began + MEET_MS * 1000000ull;
    uint64_t rounds = 0;
    uint64_t random = test_seed;
    _Atomic uint64_t *pin = &nic->segment.initiators[0].pins[0];
    while (now_ns() < end || (atomic_load(&table->puts) <= PUTS_MIN && now_ns() < latest)) {
        CHECK_EQ(snic_register(nic, memory, 4096, SNIC_WRITE, &table->key, why, sizeof why), 0);
        snic_key_t key = table->key;
        atomic_fetch_add(&table->turn, 1);
        /* Looking takes the pin's cache line away from the initiator: its next store waits long. */
        for (uint64_t looks = test_random(&random) % 400; looks > 0; looks--)
            (void)atomic_load_explicit(pin, memory_order_relaxed);
        atomic_fetch_add(&table->turn, 1);
        CHECK_EQ(snic_deregister(nic, &key, 20000), 0);
        uint64_t last = *word;
        for (int look = 0; look < 200; look++)
            if (*word != last)
                test_fail(__FILE__, __LINE__,
                          "a byte landed after deregister came back, round %llu",
                          (unsigned long long)rounds);
        rounds++;
    }
    atomic_store(&table->stop, 1);
    test_join(child, 0);
    CHECK(rounds > 10);
    CHECK(atomic_load(&table->puts) > PUTS_MIN);
    CHECK_EQ(snic_memory_free(nic, memory), 0);
    CHECK_EQ(snic_close(nic), 0);
}

/* ---- an owner without free descriptors ---- */

static struct table *held;

static void hold_pin(const char *label)
{
    if (strcmp(label, "pin.checked") != 0)
        return;
    atomic_store(&held->turn, 1);
    while (!atomic_load(&held->stop))
        usleep(200);
}

static void put_and_hold(void *argument)
{
    uint64_t value = 1;
    snic_peer_t *peer = NULL;
    snic_t *nic = open_nic("initiator");
    (void)argument;
    CHECK_EQ(snic_attach(nic, "owner", 0, &peer, why, sizeof why), 0);
    snic_step_hook = hold_pin;
    CHECK_EQ(snic_put(peer, &held->key, 0, &value, 8), 0);
    snic_step_hook = NULL;
    snic_detach(peer);
    CHECK_EQ(snic_close(nic), 0);
}

static void set_descriptors(rlim_t limit)
{
    struct rlimit now;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
    now.rlim_cur = limit;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &now), 0);
}

/* Takes every descriptor; one of them is answered. */
static int take_descriptors(void)
{
    int fd, last = -1;
    set_descriptors(64);
    while ((fd = dup(STDERR_FILENO)) >= 0)
        last = fd;
    CHECK_EQ(errno, EMFILE);
    CHECK(last >= 0);
    return last;
}

static void no_descriptor_left_is_no_death(void)
{
    held = mmap(NULL, sizeof *held, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(held != MAP_FAILED);
    snic_t *nic = open_nic("owner");
    void *memory = NULL;
    CHECK_EQ(snic_memory_alloc(nic, 4096, 0, &memory, why, sizeof why), 0);
    CHECK_EQ(snic_register(nic, memory, 4096, SNIC_WRITE, &held->key, why, sizeof why), 0);
    int child = test_fork(put_and_hold, NULL);
    while (!atomic_load(&held->turn))
        usleep(200);
    int one = take_descriptors();
    CHECK_EQ(snic_deregister(nic, &held->key, 200), -ETIMEDOUT);
    close(one);
    CHECK_EQ(snic_deregister(nic, &held->key, 200), -ETIMEDOUT);
    set_descriptors(128);
    atomic_store(&held->stop, 1);
    CHECK_EQ(snic_deregister(nic, &held->key, 20000), 0);
    CHECK_EQ(*(uint64_t *)memory, 1);
    test_join(child, 0);
    CHECK_EQ(snic_memory_free(nic, memory), 0);
    CHECK_EQ(snic_close(nic), 0);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"no_byte_lands_after_deregister", no_byte_lands_after_deregister, NULL, 60},
        {"no_descriptor_left_is_no_death", no_descriptor_left_is_no_death, NULL, 0},
    };
    return test_main(argc, argv, cases, COUNT(cases));
}
