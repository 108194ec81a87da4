/* What softnic has in test builds: labelled steps at which processes are killed from outside, and
 * files that are mapped once. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Thread_local void (*snic_step_hook)(const char *label);
void (*snic_step_hook_all)(const char *label);

/* For tests that are no C programs: VERBENA_KILL_AT=label:n kills the process when it comes to that
 * step for the n-th time, VERBENA_STEPS=file writes down each label that it comes to. */
#define LABELS_MAX 128
static struct {
    const char *label; /* where to die */
    size_t length;
    long at;
    _Atomic long count;
    int file;
    _Atomic(const char *) seen[LABELS_MAX];
} outside = {.file = -1};

static void outside_note(const char *label)
{
    for (int i = 0; i < LABELS_MAX; i++) {
        const char *there = NULL;
        if (atomic_compare_exchange_strong(&outside.seen[i], &there, label)) {
            char line[80];
            int n = snprintf(line, sizeof line, "%s\n", label);
            if (write(outside.file, line, (size_t)n) != n)
                abort();
            return;
        }
        if (strcmp(there, label) == 0)
            return;
    }
}

static void outside_step(const char *label)
{
    if (outside.file >= 0)
        outside_note(label);
    if (outside.label && strncmp(outside.label, label, outside.length) == 0 &&
        !label[outside.length] && atomic_fetch_add(&outside.count, 1) + 1 == outside.at)
        kill(getpid(), SIGKILL);
}

__attribute__((constructor)) static void outside_arm(void)
{
    const char *at = getenv("VERBENA_KILL_AT"), *file = getenv("VERBENA_STEPS");
    const char *colon = at ? strchr(at, ':') : NULL;
    if (colon) {
        outside.label = at;
        outside.length = (size_t)(colon - at);
        outside.at = strtol(colon + 1, NULL, 10);
    }
    if (file)
        outside.file = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (outside.label || outside.file >= 0)
        snic_step_hook_all = outside_step;
}

/* ---- mapping once ---- */

#define SHARED_MAPS 512
static struct shared_map {
    dev_t device;
    ino_t inode;
    uint8_t *base;
    uint64_t bytes;
    uint32_t users;
} shared_maps[SHARED_MAPS];
static pthread_mutex_t shared_maps_mutex = PTHREAD_MUTEX_INITIALIZER;

int snic_map_once(int fd, uint64_t bytes, uint64_t alignment, uint8_t **base)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    pthread_mutex_lock(&shared_maps_mutex);
    struct shared_map *spare = NULL;
    int rc = -ENFILE;
    for (int i = 0; i < SHARED_MAPS; i++) {
        struct shared_map *m = &shared_maps[i];
        if (m->users == 0) {
            spare = spare ? spare : m;
        } else if (m->device == st.st_dev && m->inode == st.st_ino && m->bytes == bytes) {
            m->users++;
            *base = m->base;
            pthread_mutex_unlock(&shared_maps_mutex);
            return 0;
        }
    }
    if (spare && (rc = snic_map_shared(fd, 0, bytes, alignment, base)) == 0)
        *spare = (struct shared_map){st.st_dev, st.st_ino, *base, bytes, 1};
    pthread_mutex_unlock(&shared_maps_mutex);
    return rc;
}

void snic_unmap_once(uint8_t *base, uint64_t bytes)
{
    pthread_mutex_lock(&shared_maps_mutex);
    for (int i = 0; i < SHARED_MAPS; i++) {
        struct shared_map *m = &shared_maps[i];
        if (m->users && m->base == base && m->bytes == bytes) {
            if (--m->users == 0)
                munmap(base, bytes);
            pthread_mutex_unlock(&shared_maps_mutex);
            return;
        }
    }
    pthread_mutex_unlock(&shared_maps_mutex);
    munmap(base, bytes);
}
