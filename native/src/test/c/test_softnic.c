/* softnic: operations on toolkit memory, doorbell. */
#define _GNU_SOURCE
#include "nics.h"
#include "softnic_private.h"
#include "softnic_reach.h"
#include "sums.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void put_get(int toolkit, uint32_t foreign)
{
    struct pair p;
    static uint8_t from[SIZE], to[SIZE];
    uint64_t random = test_seed;
    make_pair(&p, toolkit, foreign, SNIC_READ | SNIC_WRITE);
    for (int i = 0; i < 300; i++) {
        uint64_t offset = test_random(&random) % SIZE;
        uint64_t length = test_random(&random) % (i % 2 ? 65 : SIZE - offset + 1);
        if (length > SIZE - offset)
            length = SIZE - offset;
        for (uint64_t j = 0; j < length; j++)
            from[j] = (uint8_t)test_random(&random);
        CHECK_EQ(snic_put(p.peer, &p.key, offset, from, length), 0);
        CHECK(memcmp(p.memory + offset, from, length) == 0);
        memset(to, 0, length);
        CHECK_EQ(snic_get(p.peer, &p.key, offset, to, length), 0);
        CHECK(memcmp(to, from, length) == 0);
        uint32_t expected = plain_sum(0, from, length), sum = ~expected;
        memset(to, 0, length);
        CHECK_EQ(snic_get_summed(p.peer, &p.key, offset, to, length, &sum), 0);
        CHECK(memcmp(to, from, length) == 0 && sum == expected);
        memset(p.memory + offset, 0, length);
        sum = ~expected;
        CHECK_EQ(snic_put_summed(p.peer, &p.key, offset, from, length, i & 1, &sum), 0);
        CHECK(memcmp(p.memory + offset, from, length) == 0 && sum == expected);
    }
    free_pair(&p, toolkit);
}

static void put_get_toolkit(void)
{
    put_get(1, SNIC_FOREIGN_ATTACH);
}

/* A put ends exactly where it should: bytes around it stay. */
static void put_stays_inside(void)
{
    struct pair p;
    uint8_t from[64];
    make_pair(&p, 1, 0, SNIC_WRITE);
    memset(p.memory, 0x55, SIZE);
    memset(from, 0xaa, sizeof from);
    for (uint64_t length = 0; length <= 64; length++) {
        CHECK_EQ(snic_put(p.peer, &p.key, 1000 + length, from, length), 0);
        for (uint64_t i = 900; i < 1200; i++)
            CHECK_EQ(p.memory[i], i >= 1000 + length && i < 1000 + 2 * length ? 0xaa : 0x55);
        memset(p.memory, 0x55, SIZE);
    }
    free_pair(&p, 1);
}

static void large_streaming_copy(void)
{
    snic_t *a = open_nic("a"), *b = open_nic("b");
    const uint64_t size = (12 << 20) + 777;
    uint8_t *memory, *from = malloc(size), *to = calloc(1, size);
    snic_key_t key;
    CHECK_EQ(snic_memory_alloc(b, size, 1, (void **)&memory, why, sizeof why), 0);
    CHECK_EQ(snic_register(b, memory, size, 3, &key, why, sizeof why), 0);
    for (uint64_t i = 0; i < size; i++)
        from[i] = (uint8_t)(i * 2654435761u >> 13);
    snic_peer_t *peer = attach(a, "b");
    CHECK(size - 3 >= SNIC_STREAM_THRESHOLD);
    CHECK_EQ(snic_put(peer, &key, 3, from, size - 3), 0);
    CHECK(memcmp(memory + 3, from, size - 3) == 0);
    CHECK_EQ(snic_get(peer, &key, 1, to, size - 1), 0);
    CHECK(memcmp(memory + 1, to, size - 1) == 0);
    uint32_t sum = 0, expected = plain_sum(0, from, size - 3);
    memset(memory, 0, size);
    CHECK_EQ(snic_put_summed(peer, &key, 3, from, size - 3, 0, &sum), 0);
    CHECK(memcmp(memory + 3, from, size - 3) == 0 && sum == expected);
    memset(to, 0, size);
    CHECK_EQ(snic_get_summed(peer, &key, 3, to, size - 3, &sum), 0);
    CHECK(memcmp(to, from, size - 3) == 0 && sum == expected);
    CHECK_EQ(snic_put_summed(peer, &key, 4, from, size - 3, 1, &sum), -ERANGE);
    CHECK_EQ(snic_get_summed(peer, &key, size, to, 1, &sum), -ERANGE);
    for (uint64_t n = 0; n < 300; n++) {
        memset(to, 0, 400);
        snic_copy(to + n % 7, from + n % 5, n, 1);
        CHECK(memcmp(to + n % 7, from + n % 5, n) == 0);
        CHECK(to[n % 7 + n] == 0);
    }
    snic_detach(peer);
    snic_close(a);
    snic_close(b);
    free(from);
    free(to);
}

static int staged_file(char path[512], uint64_t length)
{
    snprintf(path, 512, "%s/staged", test_folder);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK_EQ(ftruncate(fd, (off_t)length), 0);
    return fd;
}

/* A file of the program: peers put into its pages, those too that it did not have. */
static void file_as_memory(void)
{
    char path[512];
    const uint64_t size = (3 << 20) + 65536; /* whole pages, or QEMU does not map it */
    uint8_t *memory, byte = 0;
    snic_key_t key;
    struct stat st;
    snic_t *a = open_nic("a"), *b = open_nic("b");
    int fd = staged_file(path, size);
    CHECK_EQ(snic_memory_map(b, path, size + 1, (void **)&memory, why, sizeof why), -ERANGE);
    CHECK(strstr(why, path) != NULL);
    CHECK_EQ(snic_memory_map(b, test_folder, 1, (void **)&memory, why, sizeof why), -EISDIR);
    CHECK_EQ(snic_memory_map(b, path, 0, (void **)&memory, why, sizeof why), -EINVAL);
    CHECK_EQ(snic_memory_map(b, path, size, (void **)&memory, why, sizeof why), 0);
    CHECK_EQ(snic_register(b, memory + 4096, size - 4096, SNIC_WRITE, &key, why, sizeof why), 0);
    snic_peer_t *peer = attach(a, "b");
    CHECK_EQ(snic_put(peer, &key, size - 4096 - 1, "x", 1), 0);
    CHECK_EQ(snic_put_streamed(peer, &key, 3, why, sizeof why), 0);
    CHECK(pread(fd, &byte, 1, (off_t)size - 1) == 1 && byte == 'x');
    CHECK(memcmp(memory + 4096 + 3, why, sizeof why) == 0);
    CHECK_EQ(snic_memory_free(b, memory), -EBUSY);
    CHECK_EQ(snic_deregister(b, &key, 1000), 0);
    CHECK_EQ(snic_memory_free(b, memory), 0);
    CHECK_EQ(fstat(fd, &st), 0);
    CHECK_EQ(st.st_nlink, 1);
    close(fd);
    unlink(path);
    snic_detach(peer);
    snic_close(a);
    snic_close(b);
}

/* Space behind the first page, in huge pages where they fit: what the file had stays. */
static void filled_file(void)
{
    char path[512];
    const uint64_t size = (7 << 20) + 65536, first = 65536, huge = SNIC_HUGE_PAGE;
    uint8_t *memory, byte = 'x';
    struct stat st;
    int fd = staged_file(path, size - 4096);
    CHECK_EQ(pwrite(fd, &byte, 1, 3 << 20), 1);
    CHECK_EQ(snic_file_fill(fd, first, 0), -EINVAL);
    CHECK_EQ(snic_file_fill(fd, first, size - first), 0);
    CHECK_EQ(fstat(fd, &st), 0);
    CHECK_EQ(st.st_size, size);
    CHECK_EQ(st.st_blocks * 512, size - first);
    CHECK_EQ(snic_map_shared(fd, huge, size - huge, huge, &memory), 0);
    CHECK_EQ((uintptr_t)memory % huge, 0);
    for (uint64_t i = 0; i < size - huge; i++)
        CHECK(memory[i] == (i == 1 << 20 ? 'x' : 0));
    munmap(memory, size - huge);
    close(fd);
    unlink(path);
}

/* Three rounds: pages are made in the first one. */
static void streamed_puts(int summed)
{
    char path[512];
    const uint64_t size = (5 << 20) + 65536;
    uint8_t *memory, *from = malloc(size);
    snic_key_t key;
    snic_t *a = open_nic("a"), *b = open_nic("b");
    int fd = staged_file(path, size);
    CHECK_EQ(snic_memory_map(b, path, size, (void **)&memory, why, sizeof why), 0);
    CHECK_EQ(snic_register(b, memory, size, SNIC_WRITE, &key, why, sizeof why), 0);
    snic_peer_t *peer = attach(a, "b");
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < size; i++)
            from[i] = (uint8_t)(round + (i * 2654435761u >> 13));
        uint64_t halves[] = {size / 2 / 4096 * 4096, 0}; /* out of order in the last round */
        uint64_t first = round == 2 ? 0 : 1;
        for (int k = 0; k < 2; k++) {
            uint64_t at = halves[(first + (uint64_t)k) % 2];
            uint64_t length = at ? size - at : halves[0];
            uint32_t sum = 0;
            if (!summed) {
                CHECK_EQ(snic_put_streamed(peer, &key, at, from + at, length), 0);
                continue;
            }
            CHECK_EQ(snic_put_summed(peer, &key, at, from + at, length, 1, &sum), 0);
            CHECK_EQ(sum, plain_sum(0, from + at, length));
        }
        CHECK(memcmp(memory, from, size) == 0);
        CHECK_EQ(snic_put_streamed(peer, &key, size - 4096, from, 4097), -ERANGE);
    }
    CHECK_EQ(lseek(fd, 0, SEEK_END), size);
    close(fd);
    unlink(path);
    snic_detach(peer);
    snic_close(a);
    snic_close(b);
    free(from);
}

static void streamed_puts_into_a_file(void)
{
    streamed_puts(0);
    streamed_puts(1);
}

static void rights_and_bounds(void)
{
    struct pair p;
    uint64_t word = 0;
    make_pair(&p, 1, 0, SNIC_READ);
    CHECK_EQ(snic_put(p.peer, &p.key, 0, &word, 8), -EACCES);
    CHECK_EQ(snic_fetch_add(p.peer, &p.key, 0, 1, &word), -EACCES);
    CHECK_EQ(snic_get(p.peer, &p.key, 0, &word, 8), 0);
    CHECK_EQ(snic_get(p.peer, &p.key, SIZE - 8, &word, 8), 0);
    CHECK_EQ(snic_get(p.peer, &p.key, SIZE - 7, &word, 8), -ERANGE);
    CHECK_EQ(snic_get(p.peer, &p.key, SIZE, &word, 0), 0);
    CHECK_EQ(snic_get(p.peer, &p.key, SIZE + 1, &word, 0), -ERANGE);
    CHECK_EQ(snic_get(p.peer, &p.key, UINT64_MAX - 3, &word, 8), -ERANGE);
    CHECK_EQ(snic_get(p.peer, &p.key, 8, &word, UINT64_MAX - 3), -ERANGE);
    snic_key_t k = p.key;
    k.secret ^= 1;
    CHECK_EQ(snic_get(p.peer, &k, 0, &word, 8), -ESTALE);
    k = p.key, k.generation += 2;
    CHECK_EQ(snic_get(p.peer, &k, 0, &word, 8), -ESTALE);
    k = p.key, k.slot = 1u << 30;
    CHECK_EQ(snic_get(p.peer, &k, 0, &word, 8), -ESTALE);
    k = p.key, k.slot++;
    CHECK_EQ(snic_get(p.peer, &k, 0, &word, 8), -ESTALE);
    CHECK_EQ(snic_memory_free(p.b, p.memory), -EBUSY);
    free_pair(&p, 1);
}

/* A peer that mapped the first memory finds none of the many that come and go afterwards there. */
static void memory_numbers_are_used_up(void)
{
    snic_t *a = open_nic("a"), *b = open_nic("b");
    snic_peer_t *peer = attach(a, "b");
    snic_location_t location;
    uint8_t *memory, *seen;

    for (int i = 0; i <= 1 << 15; i++) {
        CHECK_EQ(snic_memory_alloc(b, 64, 0, (void **)&memory, why, sizeof why), 0);
        if (i == 0) {
            CHECK_EQ(snic_locate(b, memory, 64, &location, why, sizeof why), 0);
            CHECK(snic_map(peer, &location, 0, 64) != NULL);
        }
        if (i < 1 << 15)
            CHECK_EQ(snic_memory_free(b, memory), 0);
    }
    CHECK_EQ(snic_locate(b, memory, 64, &location, why, sizeof why), 0);
    seen = snic_map(peer, &location, 0, 64);
    CHECK(seen != NULL);
    seen[7] = 42;
    CHECK_EQ(memory[7], 42);
    snic_detach(peer);
    CHECK_EQ(snic_memory_free(b, memory), 0);
    CHECK_EQ(snic_close(a), 0);
    CHECK_EQ(snic_close(b), 0);
}

/* What was looked up once is not believed after its owner took it back. */
static void reach_ends_with_its_key(void)
{
    struct pair p;
    snic_reach_t reach;
    snic_key_t key;
    uint64_t word = 7;
    make_pair(&p, 1, 0, SNIC_READ | SNIC_WRITE);
    CHECK_EQ(snic_reach(p.peer, &p.key, &reach), 0);
    CHECK_EQ(reach.length, SIZE);
    CHECK_EQ(reach.rights, SNIC_READ | SNIC_WRITE);
    CHECK(snic_reach_holds(&reach, reach.base + SIZE - 8, 8));
    CHECK(!snic_reach_holds(&reach, reach.base + SIZE - 7, 8));
    CHECK(!snic_reach_holds(&reach, reach.base - 1, 8));
    CHECK_EQ(snic_reach_pin(&reach), 0);
    snic_reach_copy(reach.base, &word, 8);
    /* An owner waits for whoever is at it. */
    CHECK_EQ(snic_deregister(p.b, &p.key, 10), -ETIMEDOUT);
    snic_reach_unpin(&reach);
    CHECK(memcmp(p.memory, &word, 8) == 0);
    CHECK_EQ(snic_deregister(p.b, &p.key, 1000), 0);
    CHECK_EQ(snic_reach_pin(&reach), -ESTALE);
    CHECK_EQ(snic_register(p.b, p.memory, SIZE, SNIC_READ | SNIC_WRITE, &key, why, sizeof why), 0);
    CHECK_EQ(key.slot, p.key.slot);
    CHECK_EQ(snic_reach_pin(&reach), -ESTALE);
    CHECK_EQ(snic_reach(p.peer, &p.key, &reach), -ESTALE);
    CHECK_EQ(snic_reach(p.peer, &key, &reach), 0);
    CHECK_EQ(snic_reach_pin(&reach), 0);
    snic_reach_unpin(&reach);
    p.key = key;
    free_pair(&p, 1);
}

static void stale_key(void)
{
    struct pair p;
    uint64_t word = 7;
    make_pair(&p, 1, 0, 7);
    snic_key_t old = p.key;
    CHECK_EQ(snic_deregister(p.b, &old, 1000), 0);
    CHECK_EQ(snic_put(p.peer, &old, 0, &word, 8), -ESTALE);
    CHECK_EQ(snic_register(p.b, p.memory, SIZE, 7, &p.key, why, sizeof why), 0);
    CHECK_EQ(p.key.slot, old.slot);
    CHECK_EQ(snic_put(p.peer, &old, 0, &word, 8), -ESTALE);
    CHECK_EQ(snic_put(p.peer, &p.key, 0, &word, 8), 0);
    free_pair(&p, 1);
}

static void registrations_run_out(void)
{
    snic_t *nic = open_nic("a");
    snic_key_t keys[65];
    static uint8_t m[64];
    CHECK_EQ(snic_register(nic, m, 8, 99, &keys[0], why, sizeof why), -EINVAL);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(snic_register(nic, m, 8, 1, &keys[i], why, sizeof why), 0);
    CHECK_EQ(snic_register(nic, m, 8, 1, &keys[64], why, sizeof why), -ENOSPC);
    CHECK_CONTAINS(why, "64 registrations");
    CHECK_EQ(snic_deregister(nic, &keys[5], 10), 0);
    CHECK_EQ(snic_register(nic, m, 8, 1, &keys[64], why, sizeof why), 0);
    CHECK(keys[64].secret != keys[5].secret);
    snic_close(nic);
}

static void atomics(void)
{
    struct pair p;
    uint64_t before = 0;
    make_pair(&p, 1, 0, SNIC_ATOMIC);
    CHECK_EQ(snic_fetch_add(p.peer, &p.key, 16, 5, &before), 0);
    CHECK_EQ(before, 0);
    CHECK_EQ(snic_fetch_add(p.peer, &p.key, 16, (uint64_t)-7, &before), 0);
    CHECK_EQ(before, 5);
    CHECK_EQ(snic_compare_swap(p.peer, &p.key, 16, 5, 9, &before), 0);
    CHECK_EQ(before, -2);
    CHECK_EQ(snic_compare_swap(p.peer, &p.key, 16, (uint64_t)-2, 9, &before), 0);
    CHECK_EQ(before, -2);
    CHECK_EQ(*(uint64_t *)(p.memory + 16), 9);
    CHECK_EQ(snic_fetch_add(p.peer, &p.key, 17, 5, &before), -EINVAL);
    CHECK_EQ(snic_fetch_add(p.peer, &p.key, SIZE - 7, 5, &before), -ERANGE);
    free_pair(&p, 1);
}

static void atomics_refused_on_foreign(void)
{
    struct pair p;
    uint64_t before = 0;
    make_pair(&p, 0, 0, 7);
    CHECK_EQ(snic_fetch_add(p.peer, &p.key, 0, 5, &before), -EOPNOTSUPP);
    free_pair(&p, 0);
}

static void location_half_outside(void)
{
    snic_t *nic = open_nic("a");
    uint8_t *m;
    snic_location_t l;
    CHECK_EQ(snic_memory_alloc(nic, 5000, 0, (void **)&m, why, sizeof why), 0);
    CHECK_EQ(snic_locate(nic, m + 1000, 4000, &l, why, sizeof why), 0);
    CHECK_EQ(l.kind, 1);
    CHECK_EQ(l.offset, 1000);
    CHECK_EQ(snic_locate(nic, m + 1000, 4001, &l, why, sizeof why), -ERANGE);
    CHECK_EQ(snic_locate(nic, m, UINT64_MAX, &l, why, sizeof why), -ERANGE);
    snic_close(nic);
}

/* ---- doorbell ---- */

static void ringer(void *argument)
{
    (void)argument;
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    for (int i = 0; i < 2000; i++) {
        while (atomic_load(&shared->count) != (uint64_t)i) /* the other has seen the last one */
            sched_yield();
        atomic_store(&shared->go, i + 1);
        snic_ring(peer);
    }
    snic_detach(peer);
    snic_close(a);
}

/* Each ring ends a sleep; no ring is lost however the two meet. */
static void doorbell_wakes(void)
{
    make_shared();
    snic_t *b = open_nic("b");
    CHECK_EQ(snic_wait(b, snic_doorbell(b), 1000000), 0);
    int pid = test_fork(ringer, NULL);
    for (int i = 0; i < 2000; i++) {
        for (;;) {
            uint32_t seen = snic_doorbell(b);
            if (atomic_load(&shared->go) == i + 1)
                break;
            CHECK_EQ(snic_wait(b, seen, 20000000000), 1);
        }
        atomic_store(&shared->count, (uint64_t)i + 1);
    }
    test_join(pid, 0);
    uint32_t seen = snic_doorbell(b);
    snic_ring_self(b);
    CHECK_EQ(snic_wait(b, seen, -1), 1);
    snic_close(b);
}

static const struct test_case cases[] = {
    {"put_and_get_toolkit_memory", put_get_toolkit, NULL, 0},
    {"put_stays_inside", put_stays_inside, NULL, 0},
    {"large_copies_stream", large_streaming_copy, NULL, 0},
    {"sums_of_copies", sums_of_copies, NULL, 0},
    {"a_file_as_memory", file_as_memory, NULL, 0},
    {"filled_file", filled_file, NULL, 0},
    {"streamed_puts_into_a_file", streamed_puts_into_a_file, NULL, 0},
    {"rights_and_bounds", rights_and_bounds, NULL, 0},
    {"reach_ends_with_its_key", reach_ends_with_its_key, NULL, 0},
    {"stale_key_is_refused", stale_key, NULL, 0},
    {"registrations_run_out", registrations_run_out, NULL, 0},
    {"memory_numbers_are_used_up", memory_numbers_are_used_up, NULL, 0},
    {"atomics", atomics, NULL, 0},
    {"atomics_refused_on_foreign_memory", atomics_refused_on_foreign, NULL, 0},
    {"location_half_outside_is_refused", location_half_outside, NULL, 0},
    {"doorbell_wakes", doorbell_wakes, NULL, 0},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
