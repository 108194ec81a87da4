/* PMI over a shared file that holds nonsense, and over one whose users died or do not go on. */
#define _GNU_SOURCE
#include "check.h"
#define LOCK_TRIES 2000
#include "../../main/c/pmi/pmi.c"
#include <sys/wait.h>

static char path[512];
static struct pmi_shared *file;

static void share(uint32_t size)
{
    int fd;

    snprintf(path, sizeof(path), "%s/pmi-XXXXXX", getenv("GNI_SHIM_DIR"));
    fd = mkstemp(path);
    CHECK(fd >= 0 && posix_fallocate(fd, 0, sizeof(*file)) == 0);
    file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(file != MAP_FAILED);
    close(fd);
    file->size = size;
    file->magic = PMI_SHARED_MAGIC;
    setenv("VERBENA_PMI_FILE", path, 1);
    setenv("PMI_RANK", "0", 1);
}

static void begin(void)
{
    int spawned;

    CHECK_EQ(PMI_SUCCESS, PMI_Init(&spawned));
}

static void keys(void)
{
    char value[PMI_VALUE_MAX];

    share(1);
    begin();
    CHECK_EQ(PMI_SUCCESS, PMI_KVS_Put("kvs", "one", "first"));
    CHECK_EQ(PMI_SUCCESS, PMI_KVS_Put("kvs", "one", "again"));
    CHECK_EQ(PMI_SUCCESS, PMI_KVS_Get("kvs", "one", value, sizeof(value)));
    CHECK(strcmp(value, "again") == 0);
    CHECK_EQ(PMI_ERR_INVALID_VAL_LENGTH, PMI_KVS_Get("kvs", "one", value, 3));
    CHECK_EQ(PMI_ERR_INVALID_KEY, PMI_KVS_Get("kvs", "two", value, sizeof(value)));
}

static void nonsense(void)
{
    char value[8 + PMI_VALUE_MAX];
    char out[64];

    share(1);
    begin();
    CHECK_EQ(PMI_SUCCESS, PMI_KVS_Put("kvs", "one", "first"));
    file->pairs = 0xffffffffu; /* more than there is room for */
    CHECK_EQ(PMI_FAIL, PMI_KVS_Put("kvs", "two", "second"));
    CHECK_EQ(0xffffffffu, file->pairs); /* left as it was */
    CHECK_EQ(PMI_ERR_INVALID_KEY, PMI_KVS_Get("kvs", "two", value, sizeof(value)));
    file->pairs = PMI_KEYS_MAX; /* texts without an end, the last one at the end of the file */
    memset(file->pair, 'x', sizeof(file->pair));
    memcpy(file->pair[PMI_KEYS_MAX - 1].key, "last", 5);
    CHECK_EQ(PMI_SUCCESS, PMI_KVS_Get("kvs", "last", value, sizeof(value)));
    CHECK_EQ(PMI_VALUE_MAX - 1, strlen(value));
    CHECK_EQ(PMI_ERR_NOMEM, PMI_KVS_Put("kvs", "new", "x"));
    file->size = 0; /* read once, when it was joined */
    CHECK_EQ(PMI_SUCCESS, PMI_Barrier());
    CHECK_EQ(PMI_SUCCESS, PMI_Allgather("ab", out, 2));
}

static void refused(void)
{
    int spawned;

    share(1);
    file->size = PMI_SIZE_MAX + 1;
    CHECK_EQ(PMI_ERR_INIT, PMI_Init(&spawned));
    file->size = 0;
    CHECK_EQ(PMI_ERR_INIT, PMI_Init(&spawned));
    file->size = 1;
    file->magic ^= 1;
    CHECK_EQ(PMI_ERR_INIT, PMI_Init(&spawned));
    CHECK(truncate(path, 100) == 0);
    CHECK_EQ(PMI_ERR_INIT, PMI_Init(&spawned));
}

/* Whoever died between locking and unlocking is succeeded. */
static void dies_locked(void)
{
    CHECK_EQ(PMI_SUCCESS, lock(file));
    raise(SIGKILL);
}

static void dead_owner(void)
{
    char value[16];

    share(1);
    CHECK_EQ(SIGKILL, join(start(dies_locked)));
    begin();
    CHECK_EQ(PMI_SUCCESS, PMI_KVS_Put("kvs", "key", "value"));
    CHECK_EQ(PMI_SUCCESS, PMI_KVS_Get("kvs", "key", value, sizeof(value)));
    CHECK_EQ(0, file->owner);
}

/* One who is there and does not go on is waited for, but not without end. */
static void stopped_owner(void)
{
    share(1);
    begin();
    file->owner = (uint32_t)getpid();
    CHECK_EQ(PMI_FAIL, PMI_KVS_Put("kvs", "key", "value"));
    file->aborted = 1; /* nobody waits any more */
    uint64_t before = now_ms();
    CHECK_EQ(PMI_FAIL, PMI_KVS_Put("kvs", "key", "value"));
    CHECK(now_ms() - before < LOCK_TRIES / 2);
}

static void writes_keys(void)
{
    char key[32];

    begin();
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "%d-%d", (int)getpid(), i);
        CHECK_EQ(PMI_SUCCESS, PMI_KVS_Put("kvs", key, key));
    }
}

static void many_writers(void)
{
    pid_t pid[4];

    share(4);
    for (int i = 0; i < 4; i++)
        pid[i] = start(writes_keys);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(0, join(pid[i]));
    CHECK_EQ(4000, file->pairs);
    for (int i = 0; i < 4000; i++)
        CHECK(strcmp(file->pair[i].key, file->pair[i].value) == 0);
}

static const struct check_case cases[] = {
    {"", "pmi_keys", keys},
    {"", "pmi_nonsense", nonsense},
    {"", "pmi_refused", refused},
    {"", "pmi_dead_owner", dead_owner},
    {"", "pmi_stopped_owner", stopped_owner},
    {"", "pmi_many_writers", many_writers},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
