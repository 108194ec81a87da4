/* softnic's core: attaching, memory, registrations, operations, doorbell. */
#define _GNU_SOURCE
#include "test.h"
#include "softnic_layout.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

static char why[SNIC_WHY_MAX];

static snic_t *open_named(const char *job, const char *name, uint32_t foreign)
{
    snic_t *nic = NULL;
    snic_options_t o = {.job = job,
                        .name = name,
                        .personality = SNIC_SHM,
                        .initiators_max = 8,
                        .registrations_max = 64,
                        .foreign = foreign,
                        .area_bytes = 8192};
    int rc = snic_open(&o, &nic, why, sizeof why);
    if (rc != 0)
        test_fail(__FILE__, __LINE__, "snic_open %s: %d %s", name, rc, why);
    CHECK_EQ(snic_publish(nic), 0);
    return nic;
}

static snic_t *open_nic(const char *name)
{
    return open_named("job", name, SNIC_FOREIGN_ATTACH);
}

static snic_peer_t *attach(snic_t *nic, const char *name)
{
    snic_peer_t *peer = NULL;
    int rc = snic_attach(nic, name, 0, &peer, why, sizeof why);
    if (rc != 0)
        test_fail(__FILE__, __LINE__, "snic_attach %s: %d %s", name, rc, why);
    return peer;
}

/* ---- attach refusals ---- */

/* Opens the file of `name` and overwrites `size` bytes at `offset`. */
static void patch(const char *name, size_t offset, const void *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/verbena-%u/job/%s", test_folder, (unsigned)geteuid(), name);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    CHECK_EQ(pwrite(fd, bytes, size, (off_t)offset), size);
    close(fd);
}

static void refuse(size_t offset, uint64_t value, size_t size, int code, const char *text)
{
    snic_t *a = open_nic("a");
    snic_t *b = open_nic("b");
    snic_peer_t *peer = NULL;
    patch("b", offset, &value, size);
    CHECK_EQ(snic_attach(a, "b", 0, &peer, why, sizeof why), code);
    CHECK_CONTAINS(why, text);
    CHECK_CONTAINS(why, "/job/b");
    snic_close(a);
    snic_close(b);
}

#define AT(field) offsetof(struct snic_header, field)
static void refuse_magic(void)
{
    refuse(AT(magic), 0x1234567812345678ull, 8, -EPROTO, "magic 0x1234567812345678");
}
static void refuse_version(void)
{
    refuse(AT(layout_version), 99, 4, -EPROTO, "layout version 99");
}
static void refuse_endianness(void)
{
    refuse(AT(endianness), 0x04030201u, 4, -EPROTO, "endianness 0x04030201");
}
static void refuse_page_size(void)
{
    refuse(AT(page_size), 16384, 4, -EPROTO, "page size 16384");
}
static void refuse_pid_namespace(void)
{
    refuse(AT(pid_namespace), 1, 8, -EXDEV, "pid namespace");
}
static void refuse_personality(void)
{
    refuse(AT(personality), SNIC_UGNI, 4, -EPROTOTYPE, "personality 3");
}
static void refuse_geometry(void)
{
    refuse(AT(initiators_max), 0xffff, 4, -EPROTO, "geometry");
}
static void refuse_dead_owner(void)
{
    refuse(AT(pid), 0x3ffffff, 4, -ENOENT, "dead");
}

static void refuse_absent(void)
{
    snic_t *a = open_nic("a");
    snic_peer_t *peer = NULL;
    CHECK_EQ(snic_attach(a, "nobody", 0, &peer, why, sizeof why), -ENOENT);
    CHECK_CONTAINS(why, "nobody");
    CHECK_EQ(snic_attach(a, "../a", 0, &peer, why, sizeof why), -EINVAL);
    CHECK_EQ(snic_attach(a, "a", 77, &peer, why, sizeof why), -ESTALE);
    CHECK_CONTAINS(why, "incarnation");
    snic_close(a);
}

static void refuse_unpublished(void)
{
    snic_t *a = open_nic("a"), *b;
    snic_peer_t *peer = NULL;
    snic_options_t o = {.job = "job", .name = "b", .personality = SNIC_SHM, .area_bytes = 4096};
    CHECK_EQ(snic_open(&o, &b, why, sizeof why), 0);
    CHECK_EQ(snic_attach(a, "b", 0, &peer, why, sizeof why), -ECONNREFUSED);
    CHECK_CONTAINS(why, "not published");
    snic_close(b);
    snic_close(a);
}

static void refuse_short_file(void)
{
    snic_t *a = open_nic("a");
    snic_peer_t *peer = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/verbena-%u/job/b", test_folder, (unsigned)geteuid());
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    CHECK_EQ(write(fd, "short", 5), 5);
    close(fd);
    CHECK_EQ(snic_attach(a, "b", 0, &peer, why, sizeof why), -EPROTO);
    CHECK_CONTAINS(why, "5 bytes");
    snic_close(a);
}

static void initiator_slots(void)
{
    snic_t *a = open_nic("a"), *b = open_nic("b");
    snic_peer_t *peers[8], *ninth = NULL;
    for (int i = 0; i < 8; i++)
        peers[i] = attach(a, "b");
    CHECK_EQ(snic_attach(a, "b", 0, &ninth, why, sizeof why), -EUSERS);
    CHECK_CONTAINS(why, "8 initiator slots");
    char name[SNIC_NAME_MAX];
    CHECK_EQ(snic_initiator_name(b, snic_peer_slot(peers[3]), name, sizeof name), 0);
    CHECK(strcmp(name, "a") == 0);
    CHECK_EQ(snic_initiator_liveness(b, 3), SNIC_ALIVE);
    uint32_t epoch = snic_peer_epoch(peers[3]);
    CHECK_EQ(snic_close(a), -EBUSY);
    CHECK_EQ(snic_detach(peers[3]), 0);
    CHECK_EQ(snic_initiator_liveness(b, 3), SNIC_DEAD);
    CHECK_EQ(snic_initiator_liveness(b, 8), SNIC_DEAD);
    peers[3] = attach(a, "b");
    CHECK_EQ(snic_peer_slot(peers[3]), 3);
    CHECK(snic_peer_epoch(peers[3]) != epoch);
    for (int i = 0; i < 8; i++)
        snic_detach(peers[i]);
    snic_close(a);
    snic_close(b);
}

/* ---- names, folders, jobs ---- */

static void bad_names(void)
{
    snic_t *nic;
    snic_options_t o = {.job = "a/b", .personality = SNIC_SHM};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), -EINVAL);
    CHECK_CONTAINS(why, "a/b");
    o.job = "job", o.name = ".hidden";
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), -EINVAL);
    o.name = "n", o.initiators_max = 1u << 20;
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), -EINVAL);
    o.initiators_max = 0, o.directory = "/nonexistent/folder";
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), -ENOENT);
    CHECK_CONTAINS(why, "/nonexistent/folder");
}

static void name_is_taken(void)
{
    snic_t *a = open_nic("a"), *again;
    snic_options_t o = {.job = "job", .name = "a", .personality = SNIC_SHM};
    CHECK_EQ(snic_open(&o, &again, why, sizeof why), -EEXIST);
    CHECK_CONTAINS(why, "live process");
    snic_close(a);
    a = open_nic("a");
    snic_close(a);
}

static void folder_of_somebody_else(void)
{
    char path[512];
    snic_t *nic;
    snprintf(path, sizeof path, "%s/verbena-%u", test_folder, (unsigned)geteuid());
    CHECK_EQ(mkdir(path, 0700), 0);
    CHECK_EQ(chmod(path, 0777), 0);
    snic_options_t o = {.job = "job", .personality = SNIC_SHM};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), -EPERM);
    CHECK_CONTAINS(why, "mode 0777");
}

static void jobs_are_isolated(void)
{
    snic_t *a = open_named("job1", "a", 0), *b = open_named("job2", "b", 0);
    snic_peer_t *peer;
    CHECK_EQ(snic_attach(a, "b", 0, &peer, why, sizeof why), -ENOENT);
    snic_t *same = open_named("job2", "a", 0);
    snic_close(same);
    snic_close(a);
    snic_close(b);
}

static void child_with_memory(void *job)
{
    void *m;
    snic_t *nic = open_named(job, "dead", 0);
    CHECK_EQ(snic_memory_alloc(nic, 10000, 0, &m, why, sizeof why), 0);
    kill(getpid(), SIGKILL);
}

static int files_below(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    struct dirent *e;
    while (d && (e = readdir(d)))
        n += e->d_name[0] != '.' || strncmp(e->d_name, ".new", 4) == 0;
    if (d)
        closedir(d);
    return d ? n : -1;
}

static void the_dead_are_cleaned_up(void)
{
    char path[512];
    test_join_killed(test_fork(child_with_memory, "job"));
    test_join_killed(test_fork(child_with_memory, "other"));
    snprintf(path, sizeof path, "%s/verbena-%u/other", test_folder, (unsigned)geteuid());
    CHECK_EQ(files_below(path), 2);
    snic_t *nic = open_nic("dead"); /* the same name as the dead one's */
    CHECK_EQ(files_below(path), -1);
    snprintf(path, sizeof path, "%s/verbena-%u/job", test_folder, (unsigned)geteuid());
    CHECK_EQ(files_below(path), 1);
    snic_close(nic);
    CHECK_EQ(files_below(path), 0);
}

/* ---- full shared memory ---- */

static void full_folder(void)
{
    char small[300];
    snic_t *nic;
    void *m;
    snprintf(small, sizeof small, "%s/small", test_folder);
    mkdir(small, 0700);
    if (unshare(CLONE_NEWNS) != 0)
        test_skip("no mount namespace of our own: %s", strerror(errno));
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", small, "tmpfs", 0, "size=4m") != 0)
        test_skip("no small tmpfs: %s", strerror(errno));
    snic_options_t o = {.directory = small, .job = "job", .name = "a", .personality = SNIC_SHM};
    o.area_bytes = 64 << 20;
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), -ENOSPC);
    CHECK_CONTAINS(why, "ENOSPC");
    CHECK_CONTAINS(why, small);
    o.area_bytes = 4096, o.registrations_max = 64;
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    CHECK_EQ(snic_memory_alloc(nic, 8 << 20, 0, &m, why, sizeof why), -ENOSPC);
    CHECK_CONTAINS(why, "8388608 bytes of shared memory wanted");
    /* Nothing is left of the failed attempts: what fits, fits. */
    CHECK_EQ(snic_memory_alloc(nic, 2 << 20, 0, &m, why, sizeof why), 0);
    memset(m, 1, 2 << 20);
    CHECK_EQ(snic_memory_free(nic, m), 0);
    snic_close(nic);
    umount(small);
}

static void file_size_limit(void)
{
    snic_t *nic = open_nic("a");
    void *m;
    struct rlimit limit = {1 << 20, RLIM_INFINITY};
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_EQ(snic_memory_alloc(nic, 2 << 20, 0, &m, why, sizeof why), -EFBIG);
    CHECK_CONTAINS(why, "ulimit -f");
    CHECK_EQ(snic_memory_alloc(nic, 1 << 19, 0, &m, why, sizeof why), 0);
    snic_close(nic);
}

/* ---- operations ---- */

struct pair {
    snic_t *a, *b;
    snic_peer_t *peer; /* b as a sees it */
    uint8_t *memory;
    snic_key_t key;
};
#define SIZE 100000

static void make_pair(struct pair *p, int toolkit, uint32_t foreign, uint32_t rights)
{
    p->a = open_nic("a");
    p->b = open_named("job", "b", foreign);
    if (toolkit)
        CHECK_EQ(snic_memory_alloc(p->b, SIZE, 0, (void **)&p->memory, why, sizeof why), 0);
    else
        p->memory = calloc(1, SIZE);
    int rc = snic_register(p->b, p->memory, SIZE, rights, &p->key, why, sizeof why);
    if (rc != 0)
        test_fail(__FILE__, __LINE__, "register: %d %s", rc, why);
    p->peer = attach(p->a, "b");
}

static void free_pair(struct pair *p, int toolkit)
{
    CHECK_EQ(snic_deregister(p->b, &p->key, 1000), 0);
    CHECK_EQ(snic_deregister(p->b, &p->key, 1000), -ESTALE);
    snic_detach(p->peer);
    if (toolkit)
        CHECK_EQ(snic_memory_free(p->b, p->memory), 0);
    else
        free(p->memory);
    CHECK_EQ(snic_close(p->a), 0);
    CHECK_EQ(snic_close(p->b), 0);
}

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
    CHECK(size - 3 >= snic_stream_threshold());
    CHECK_EQ(snic_put(peer, &key, 3, from, size - 3), 0);
    CHECK(memcmp(memory + 3, from, size - 3) == 0);
    CHECK_EQ(snic_get(peer, &key, 1, to, size - 1), 0);
    CHECK(memcmp(memory + 1, to, size - 1) == 0);
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

/* ---- memory of other processes ---- */

struct shared {
    _Atomic int ready, go, done;
    snic_key_t key, key2;
    uint64_t address;
    _Atomic uint64_t count;
};
static struct shared *shared;

static void await(_Atomic int *flag)
{
    while (!atomic_load(flag))
        usleep(200);
}

static void make_shared(void)
{
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
}

static void foreign_target(void *foreign)
{
    snic_t *b = open_named("job", "b", (uint32_t)(uintptr_t)foreign);
    uint8_t *m = malloc(SIZE);
    memset(m, 3, SIZE);
    CHECK_EQ(snic_register(b, m, SIZE, 3, &shared->key, why, sizeof why), 0);
    /* Registered, but no longer to be reached when the peer comes. Not unmapped: something else, a
     * sanitizer's memory for example, could come to lie there. */
    uint8_t *gone = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_EQ(snic_register(b, gone, 65536, 3, &shared->key2, why, sizeof why), 0);
    CHECK_EQ(mprotect(gone, 65536, PROT_NONE), 0);
    atomic_store(&shared->ready, 1);
    await(&shared->done);
    for (int i = 0; i < SIZE; i++)
        CHECK_EQ(m[i], i < 70000 ? 4 : 3);
    CHECK_EQ(snic_close(b), 0);
    free(m);
}

static void foreign_memory(uint32_t foreign)
{
    static uint8_t buffer[SIZE];
    make_shared();
    int pid = test_fork(foreign_target, (void *)(uintptr_t)foreign);
    await(&shared->ready);
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    CHECK_EQ(snic_get(peer, &shared->key, 0, buffer, SIZE), 0);
    for (int i = 0; i < SIZE; i++)
        CHECK_EQ(buffer[i], 3);
    memset(buffer, 4, SIZE);
    CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 70000), 0);
    CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 0), 0);
    CHECK_EQ(snic_put(peer, &shared->key, SIZE - 10, buffer, 11), -ERANGE);
    CHECK_EQ(snic_put(peer, &shared->key2, 0, buffer, 8), -EFAULT);
    CHECK_EQ(snic_get(peer, &shared->key2, 0, buffer, 8), -EFAULT);
    struct snic_header *h;
    snic_view_t view;
    snic_peer_view(peer, &view);
    h = view.header;
    CHECK_EQ(atomic_load(&h->bounced) > 0, foreign == SNIC_FOREIGN_BOUNCE);
    snic_location_t wild = {.kind = 2, .offset = 4096, .length = 4096};
    CHECK_EQ(snic_write(peer, &wild, 0, buffer, 8), -EFAULT);
    wild.offset = UINT64_MAX - 7;
    CHECK_EQ(snic_write(peer, &wild, 0, buffer, 64), -EFAULT);
    atomic_store(&shared->done, 1);
    test_join(pid, 0);
    CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 8), -ESRCH);
    snic_detach(peer);
    snic_close(a);
}

static void foreign_attach(void)
{
    foreign_memory(SNIC_FOREIGN_ATTACH);
}

static void foreign_bounce(void)
{
    foreign_memory(SNIC_FOREIGN_BOUNCE);
}

static void forbid_cross_memory_attach(void)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {COUNT(f), f};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
        test_skip("no seccomp filter here: %s", strerror(errno));
}

static void foreign_forbidden(void)
{
    static uint8_t m[4096];
    snic_key_t key;
    forbid_cross_memory_attach();
    snic_t *nic = open_nic("a");
    CHECK_EQ(snic_register(nic, m, sizeof m, 3, &key, why, sizeof why), -EOPNOTSUPP);
    CHECK_CONTAINS(why, "ptrace_scope");
    CHECK_CONTAINS(why, "seccomp");
    CHECK_CONTAINS(why, "foreignMemory=bounce");
    snic_close(nic);
    /* With bounce it works all the same. */
    nic = open_named("job", "b", SNIC_FOREIGN_BOUNCE);
    snic_peer_t *self = attach(nic, "b");
    CHECK_EQ(snic_register(nic, m, sizeof m, 3, &key, why, sizeof why), 0);
    CHECK_EQ(snic_put(self, &key, 100, "hello", 5), 0);
    CHECK(memcmp(m + 100, "hello", 5) == 0);
    snic_detach(self);
    snic_close(nic);
}

/* ---- death and stopping ---- */

/* The helper cannot copy while its process is stopped: an answer, not a hang. */
static void bounce_to_a_stopped_target(void)
{
    static uint8_t buffer[70000];
    int status;
    make_shared();
    memset(buffer, 3, sizeof buffer);
    int pid = test_fork(foreign_target, (void *)(uintptr_t)SNIC_FOREIGN_BOUNCE);
    await(&shared->ready);
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    kill(pid, SIGSTOP);
    CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 70000), -EBUSY);
    kill(pid, SIGCONT);
    memset(buffer, 4, sizeof buffer);
    CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 70000), 0);
    snic_detach(peer);
    atomic_store(&shared->done, 1);
    test_join(pid, 0);
    snic_close(a);
}

static void idle_target(void *toolkit)
{
    snic_t *b = open_nic("b");
    void *m = calloc(1, SIZE);
    if (toolkit)
        CHECK_EQ(snic_memory_alloc(b, SIZE, 0, &m, why, sizeof why), 0);
    CHECK_EQ(snic_register(b, m, SIZE, 3, &shared->key, why, sizeof why), 0);
    atomic_store(&shared->ready, 1);
    await(&shared->done);
    snic_close(b);
}

static void liveness_of_a_peer(void)
{
    uint8_t byte = 1;
    int status;
    make_shared();
    int pid = test_fork(idle_target, NULL);
    await(&shared->ready);
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    CHECK_EQ(snic_peer_liveness(peer), SNIC_ALIVE);
    kill(pid, SIGSTOP);
    CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
    CHECK_EQ(snic_peer_liveness(peer), SNIC_STOPPED);
    CHECK_EQ(snic_put(peer, &shared->key, 0, &byte, 1), 0); /* a card does not need the CPU */
    kill(pid, SIGCONT);
    CHECK_EQ(waitpid(pid, &status, WCONTINUED), pid);
    CHECK_EQ(snic_peer_liveness(peer), SNIC_ALIVE);
    CHECK_EQ(snic_peer_is_open(peer), 1);
    kill(pid, SIGKILL);
    test_join_killed(pid);
    CHECK_EQ(snic_peer_liveness(peer), SNIC_DEAD);
    CHECK_EQ(snic_put(peer, &shared->key, 0, &byte, 1), -ESRCH);
    CHECK_EQ(snic_detach(peer), 0);
    snic_close(a);
}

static void use_in_forked_child(void *argument)
{
    struct pair *p = argument;
    uint64_t word = 1;
    CHECK_EQ(snic_put(p->peer, &p->key, 0, &word, 8), -ECHILD);
    CHECK_EQ(snic_register(p->b, p->memory, 8, 1, &p->key, why, sizeof why), -ECHILD);
    CHECK_EQ(snic_wait(p->b, snic_doorbell(p->b), 0), -ECHILD);
    CHECK_EQ(snic_detach(p->peer), -ECHILD);
    CHECK_EQ(snic_close(p->b), -ECHILD);
}

static void forked_child_is_refused(void)
{
    struct pair p;
    make_pair(&p, 1, 0, 7);
    test_join(test_fork(use_in_forked_child, &p), 0);
    free_pair(&p, 1);
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

/* ---- deregister against running puts ---- */

static void endless_puts(void *toolkit)
{
    (void)toolkit;
    static uint8_t from[4096];
    memset(from, 0xee, sizeof from);
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    uint64_t random = test_seed;
    while (!atomic_load(&shared->done)) {
        snic_key_t key = shared->key;
        uint64_t length = test_random(&random) % sizeof from;
        int rc = snic_put(peer, &key, 0, from, length);
        CHECK(rc == 0 || rc == -ESTALE);
        if (rc == 0)
            atomic_fetch_add(&shared->count, 1);
    }
    snic_detach(peer);
    snic_close(a);
}

static void deregister_against_puts(int toolkit)
{
    uint8_t *m = aligned_alloc(64, 4096);
    make_shared();
    snic_t *b = open_nic("b");
    if (toolkit) {
        free(m);
        CHECK_EQ(snic_memory_alloc(b, 4096, 0, (void **)&m, why, sizeof why), 0);
    }
    CHECK_EQ(snic_register(b, m, 4096, 3, &shared->key, why, sizeof why), 0);
    int pid = test_fork(endless_puts, NULL);
    for (int round = 0; round < 300; round++) {
        snic_key_t key = shared->key;
        uint64_t before = atomic_load(&shared->count);
        while (atomic_load(&shared->count) < before + 3)
            sched_yield();
        CHECK_EQ(snic_deregister(b, &key, 5000), 0);
        memset(m, 0x11, 4096);
        for (int look = 0; look < 20; look++)
            for (int i = 0; i < 4096; i++)
                CHECK_EQ(*(volatile uint8_t *)&m[i], 0x11);
        CHECK_EQ(snic_register(b, m, 4096, 3, &shared->key, why, sizeof why), 0);
    }
    atomic_store(&shared->done, 1);
    test_join(pid, 0);
    snic_close(b);
    if (!toolkit)
        free(m);
}

static void deregister_against_mapped_puts(void)
{
    deregister_against_puts(1);
}

static void deregister_against_foreign_puts(void)
{
    deregister_against_puts(0);
}

/* ---- threads of one process ---- */

struct adder {
    struct pair *p;
    snic_peer_t *peer;
    pthread_t thread;
};

static void *adder_main(void *argument)
{
    struct adder *a = argument;
    for (int i = 0; i < 3000; i++) {
        uint64_t before;
        if (snic_fetch_add(a->peer, &a->p->key, 8, 1, &before) != 0)
            return (void *)1;
    }
    return NULL;
}

/* Two NICs in one address space; under ThreadSanitizer. */
static void atomics_of_many_threads(void)
{
    struct pair p;
    struct adder adders[3];
    make_pair(&p, 1, 0, SNIC_ATOMIC);
    for (int i = 0; i < COUNT(adders); i++) {
        adders[i] = (struct adder){.p = &p, .peer = attach(p.a, "b")};
        CHECK_EQ(pthread_create(&adders[i].thread, NULL, adder_main, &adders[i]), 0);
    }
    for (int i = 0; i < COUNT(adders); i++) {
        void *result;
        pthread_join(adders[i].thread, &result);
        CHECK(result == NULL);
        snic_detach(adders[i].peer);
    }
    CHECK_EQ(*(uint64_t *)(p.memory + 8), 9000);
    free_pair(&p, 1);
}

struct putter {
    snic_peer_t *peer;
    snic_key_t key[2];
    _Atomic int turn, stop;
    _Atomic uint64_t puts;
};

static void *putter_main(void *argument)
{
    struct putter *p = argument;
    uint8_t from[512];
    memset(from, 1, sizeof from);
    while (!atomic_load(&p->stop)) {
        snic_key_t key = p->key[atomic_load(&p->turn) & 1];
        if (snic_put(p->peer, &key, 0, from, sizeof from) == 0)
            atomic_fetch_add(&p->puts, 1);
    }
    return NULL;
}

/* After deregister the owner may use the memory freely: no race, says ThreadSanitizer. */
static void deregister_orders_memory(void)
{
    snic_t *a = open_nic("a"), *b = open_nic("b");
    struct putter p = {.peer = attach(a, "b")};
    uint8_t *m;
    pthread_t thread;
    CHECK_EQ(snic_memory_alloc(b, 4096, 0, (void **)&m, why, sizeof why), 0);
    CHECK_EQ(snic_register(b, m, 512, 3, &p.key[0], why, sizeof why), 0);
    CHECK_EQ(pthread_create(&thread, NULL, putter_main, &p), 0);
    for (int round = 0; round < 100; round++) {
        uint64_t before = atomic_load(&p.puts);
        while (atomic_load(&p.puts) < before + 2)
            sched_yield();
        CHECK_EQ(snic_deregister(b, &p.key[round & 1], 5000), 0);
        memset(m, 2, 4096);
        CHECK_EQ(snic_register(b, m, 512, 3, &p.key[(round + 1) & 1], why, sizeof why), 0);
        atomic_store(&p.turn, round + 1);
    }
    atomic_store(&p.stop, 1);
    pthread_join(thread, NULL);
    snic_detach(p.peer);
    snic_close(a);
    snic_close(b);
}

static const struct test_case cases[] = {
    {"attach_refuses_other_magic", refuse_magic, NULL, 0},
    {"attach_refuses_other_layout_version", refuse_version, NULL, 0},
    {"attach_refuses_other_endianness", refuse_endianness, NULL, 0},
    {"attach_refuses_other_page_size", refuse_page_size, NULL, 0},
    {"attach_refuses_other_pid_namespace", refuse_pid_namespace, NULL, 0},
    {"attach_refuses_other_personality", refuse_personality, NULL, 0},
    {"attach_refuses_damaged_geometry", refuse_geometry, NULL, 0},
    {"attach_refuses_dead_owner", refuse_dead_owner, NULL, 0},
    {"attach_refuses_absent_and_other_incarnation", refuse_absent, NULL, 0},
    {"attach_refuses_unpublished", refuse_unpublished, NULL, 0},
    {"attach_refuses_short_file", refuse_short_file, NULL, 0},
    {"initiator_slots_are_given_and_taken_back", initiator_slots, NULL, 0},
    {"open_refuses_bad_names", bad_names, NULL, 0},
    {"open_refuses_taken_name", name_is_taken, NULL, 0},
    {"open_refuses_folder_open_to_others", folder_of_somebody_else, NULL, 0},
    {"jobs_are_isolated", jobs_are_isolated, NULL, 0},
    {"segments_of_the_dead_are_removed", the_dead_are_cleaned_up, NULL, 0},
    {"full_folder_is_a_clear_error", full_folder, NULL, 0},
    {"file_size_limit_is_a_clear_error", file_size_limit, NULL, 0},
    {"put_and_get_toolkit_memory", put_get_toolkit, NULL, 0},
    {"put_stays_inside", put_stays_inside, NULL, 0},
    {"large_copies_stream", large_streaming_copy, NULL, 0},
    {"rights_and_bounds", rights_and_bounds, NULL, 0},
    {"stale_key_is_refused", stale_key, NULL, 0},
    {"registrations_run_out", registrations_run_out, NULL, 0},
    {"atomics", atomics, NULL, 0},
    {"atomics_refused_on_foreign_memory", atomics_refused_on_foreign, NULL, 0},
    {"location_half_outside_is_refused", location_half_outside, NULL, 0},
    {"foreign_memory_by_attach", foreign_attach, NULL, 0},
    {"foreign_memory_by_bounce", foreign_bounce, NULL, 0},
    {"foreign_memory_forbidden_names_the_remedy", foreign_forbidden, NULL, 0},
    {"bounce_to_a_stopped_target", bounce_to_a_stopped_target, NULL, 0},
    {"liveness_of_a_peer", liveness_of_a_peer, NULL, 0},
    {"forked_child_is_refused", forked_child_is_refused, NULL, 0},
    {"doorbell_wakes", doorbell_wakes, NULL, 0},
    {"deregister_against_mapped_puts", deregister_against_mapped_puts, NULL, 120},
    {"deregister_against_foreign_puts", deregister_against_foreign_puts, NULL, 120},
    {"atomics_of_many_threads", atomics_of_many_threads, NULL, 0},
    {"deregister_orders_memory", deregister_orders_memory, NULL, 0},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
