/* PMI over the memory that gni-run shares with the processes it starts. */
#define _GNU_SOURCE
#include "pmi.h"
#include "pmi_shared.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef LOCK_TRIES
#define LOCK_TRIES 5000 /* of a millisecond each */
#endif
#define SLICE_NS 50000000 /* a waiting process looks this often whether the job was ended */

/* PMI is a process-wide interface by its own definition. */
static struct {
    struct pmi_shared *shared; /* NULL: alone */
    int is_initialised;
    int rank, size, appnum;
} pmi = {.size = 1};

static int map_shared(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct pmi_shared *shared;
    struct stat st;

    if (fd < 0)
        return PMI_ERR_INIT;
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < sizeof(*shared)) {
        close(fd);
        return PMI_ERR_INIT;
    }
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared == MAP_FAILED)
        return PMI_ERR_NOMEM;
    uint32_t size = *(volatile const uint32_t *)&shared->size; /* read once, not trusted again */
    if (shared->magic != PMI_SHARED_MAGIC || size == 0 || size > PMI_SIZE_MAX) {
        munmap(shared, sizeof(*shared));
        return PMI_ERR_INIT;
    }
    pmi.shared = shared;
    pmi.size = (int)size;
    return PMI_SUCCESS;
}

int PMI_Init(int *spawned)
{
    const char *path = getenv("VERBENA_PMI_FILE");

    if (spawned == NULL)
        return PMI_ERR_INVALID_ARG;
    *spawned = 0;
    if (pmi.is_initialised)
        return PMI_SUCCESS;
    if (path != NULL) {
        errno = 0;
        int code = map_shared(path);

        if (code != PMI_SUCCESS) {
            fprintf(stderr, "PMI_Init: %s: %s\n", path,
                    errno ? strerror(errno) : "not made by this version's gni-run");
            return code;
        }
        pmi.rank = pmi_number("PMI_RANK", 0);
        pmi.appnum = pmi_number("PMI_APPNUM", 0);
        if (pmi.rank < 0 || pmi.rank >= pmi.size)
            return PMI_ERR_INIT;
    }
    pmi.is_initialised = 1;
    return PMI_SUCCESS;
}

int PMI_Initialized(PMI_BOOL *initialized)
{
    if (initialized == NULL)
        return PMI_ERR_INVALID_ARG;
    *initialized = pmi.is_initialised ? PMI_TRUE : PMI_FALSE;
    return PMI_SUCCESS;
}

int PMI_Finalize(void)
{
    if (!pmi.is_initialised)
        return PMI_ERR_INIT;
    if (pmi.shared != NULL)
        munmap(pmi.shared, sizeof(*pmi.shared));
    pmi.shared = NULL;
    pmi.is_initialised = 0;
    return PMI_SUCCESS;
}

static int give(int *where, int what)
{
    if (!pmi.is_initialised)
        return PMI_ERR_INIT;
    if (where == NULL)
        return PMI_ERR_INVALID_ARG;
    *where = what;
    return PMI_SUCCESS;
}

int PMI_Get_size(int *size)
{
    return give(size, pmi.size);
}

int PMI_Get_rank(int *rank)
{
    return give(rank, pmi.rank);
}

int PMI_Get_universe_size(int *size)
{
    return give(size, pmi.size);
}

int PMI_Get_appnum(int *appnum)
{
    return give(appnum, pmi.appnum);
}

int PMI_Abort(int exit_code, const char error_msg[])
{
    fprintf(stderr, "PMI_Abort: rank %d: %s\n", pmi.rank, error_msg ? error_msg : "");
    if (pmi.shared != NULL)
        atomic_store_explicit(&pmi.shared->aborted, 1, memory_order_release);
    _exit(exit_code ? exit_code : 1);
}

/* ---- bootstrap: finding the other ranks ---- */

int PMI_Barrier(void)
{
    struct pmi_shared *s = pmi.shared;
    const struct timespec slice = {.tv_nsec = SLICE_NS};
    uint32_t phase;

    if (!pmi.is_initialised)
        return PMI_ERR_INIT;
    if (s == NULL)
        return PMI_SUCCESS;
    phase = atomic_load_explicit(&s->phase, memory_order_acquire);
    /* Everything before the barrier is visible after it: acq_rel, and the store to phase. */
    if (atomic_fetch_add_explicit(&s->arrived, 1, memory_order_acq_rel) + 1 == (uint32_t)pmi.size) {
        atomic_store_explicit(&s->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&s->phase, phase + 1, memory_order_release);
        syscall(SYS_futex, &s->phase, FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0);
        return PMI_SUCCESS;
    }
    while (atomic_load_explicit(&s->phase, memory_order_acquire) == phase) {
        if (atomic_load_explicit(&s->aborted, memory_order_acquire))
            return PMI_FAIL;
        syscall(SYS_futex, &s->phase, FUTEX_WAIT, phase, &slice, NULL, 0);
    }
    return PMI_SUCCESS;
}

int PMI_Allgather(void *in, void *out, int len)
{
    int most = PMI_GATHER_BYTES / (uint32_t)pmi.size;

    if (!pmi.is_initialised)
        return PMI_ERR_INIT;
    if (in == NULL || out == NULL || len < 0)
        return PMI_ERR_INVALID_ARG;
    if (pmi.shared == NULL) {
        memcpy(out, in, (size_t)len);
        return PMI_SUCCESS;
    }
    for (int done = 0; done < len; done += most) {
        int piece = len - done < most ? len - done : most;
        int code;

        memcpy(pmi.shared->gather + (size_t)pmi.rank * (size_t)most, (uint8_t *)in + done,
               (size_t)piece);
        if ((code = PMI_Barrier()) != PMI_SUCCESS)
            return code;
        for (int i = 0; i < pmi.size; i++)
            memcpy((uint8_t *)out + (size_t)i * (size_t)len + done,
                   pmi.shared->gather + (size_t)i * (size_t)most, (size_t)piece);
        if ((code = PMI_Barrier()) != PMI_SUCCESS)
            return code;
    }
    return PMI_SUCCESS;
}

/* ---- keys and values ---- */

static struct pmi_pair own_pair[64]; /* of a process that was not launched by gni-run */
static uint32_t own_pairs;

int PMI_KVS_Get_my_name(char kvsname[], int length)
{
    if (!pmi.is_initialised)
        return PMI_ERR_INIT;
    if (kvsname == NULL || length < (int)sizeof("kvs"))
        return PMI_ERR_INVALID_LENGTH;
    strcpy(kvsname, "kvs");
    return PMI_SUCCESS;
}

int PMI_KVS_Get_name_length_max(int *length)
{
    return give(length, 16);
}

int PMI_KVS_Get_key_length_max(int *length)
{
    return give(length, PMI_KEY_MAX);
}

int PMI_KVS_Get_value_length_max(int *length)
{
    return give(length, PMI_VALUE_MAX);
}

/* The pid of the process that writes or reads pairs. A dead one is succeeded, one that does not go
 * on is not waited for without end. No pthread mutex: its links would be pointers in memory of
 * others. */
static int lock(struct pmi_shared *s)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    uint32_t self = (uint32_t)getpid();

    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        uint32_t owner = 0;

        /* Acquire; partner: the release store in unlock. */
        if (atomic_compare_exchange_strong_explicit(&s->owner, &owner, self, memory_order_acquire,
                                                    memory_order_relaxed))
            return PMI_SUCCESS;
        if (kill((pid_t)(owner & 0x7fffffffu), 0) != 0 && errno == ESRCH &&
            atomic_compare_exchange_strong_explicit(&s->owner, &owner, self, memory_order_acquire,
                                                    memory_order_relaxed))
            return PMI_SUCCESS;
        if (atomic_load_explicit(&s->aborted, memory_order_relaxed))
            return PMI_FAIL;
        nanosleep(&pause, NULL);
    }
    return PMI_FAIL;
}

static void unlock(struct pmi_shared *s)
{
    atomic_store_explicit(&s->owner, 0, memory_order_release);
}

static int put_pair(struct pmi_pair *pairs, uint32_t used, uint32_t most, const char *key,
                    const char *value, uint32_t *now)
{
    uint32_t i = 0;

    *now = used;
    if (used > most)
        return PMI_FAIL; /* nonsense in the shared file */
    while (i < used && strncmp(pairs[i].key, key, PMI_KEY_MAX) != 0)
        i++;
    if (i == most)
        return PMI_ERR_NOMEM;
    strcpy(pairs[i].key, key);
    strcpy(pairs[i].value, value);
    if (i == used)
        *now = used + 1;
    return PMI_SUCCESS;
}

int PMI_KVS_Put(const char kvsname[], const char key[], const char value[])
{
    struct pmi_shared *s = pmi.shared;
    uint32_t now;
    int code;

    (void)kvsname;
    if (!pmi.is_initialised)
        return PMI_ERR_INIT;
    if (key == NULL || strlen(key) >= PMI_KEY_MAX)
        return PMI_ERR_INVALID_KEY_LENGTH;
    if (value == NULL || strlen(value) >= PMI_VALUE_MAX)
        return PMI_ERR_INVALID_VAL_LENGTH;
    if (s == NULL)
        return put_pair(own_pair, own_pairs, 64, key, value, &own_pairs);
    if (lock(s) != PMI_SUCCESS)
        return PMI_FAIL;
    code = put_pair(s->pair, atomic_load_explicit(&s->pairs, memory_order_acquire), PMI_KEYS_MAX,
                    key, value, &now);
    /* A pair counts once it is written: partner is the load in PMI_KVS_Get. */
    atomic_store_explicit(&s->pairs, now, memory_order_release);
    unlock(s);
    return code;
}

int PMI_KVS_Commit(const char kvsname[])
{
    (void)kvsname;
    return pmi.is_initialised ? PMI_SUCCESS : PMI_ERR_INIT;
}

int PMI_KVS_Get(const char kvsname[], const char key[], char value[], int length)
{
    struct pmi_shared *s = pmi.shared;
    const struct pmi_pair *pairs = s ? s->pair : own_pair;
    /* Loop and text are bounded: another process may write anything there. */
    uint32_t used = s ? atomic_load_explicit(&s->pairs, memory_order_acquire) : own_pairs;
    int code = PMI_ERR_INVALID_KEY;

    (void)kvsname;
    if (!pmi.is_initialised)
        return PMI_ERR_INIT;
    if (key == NULL || value == NULL || length <= 0)
        return PMI_ERR_INVALID_ARG;
    if (s != NULL && lock(s) != PMI_SUCCESS)
        return PMI_FAIL;
    for (uint32_t i = 0; i < used && i < PMI_KEYS_MAX && code != PMI_SUCCESS; i++) {
        if (strncmp(pairs[i].key, key, PMI_KEY_MAX) != 0)
            continue;
        code = snprintf(value, (size_t)length, "%.*s", PMI_VALUE_MAX - 1, pairs[i].value) < length
                   ? PMI_SUCCESS
                   : PMI_ERR_INVALID_VAL_LENGTH;
        break;
    }
    if (s != NULL)
        unlock(s);
    return code;
}
