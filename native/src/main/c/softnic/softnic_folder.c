/* The folders in which segments live: <directory>/verbena-<uid>/<job>, and what the dead left
 * there. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_WAIT_NS 2000000000ull
#define JOBS_SWEPT_MAX 256
#define ENTRIES_MAX 100000
#define SWEPT_AT_ONCE 16u
#define LOCK_SLEEP_MAX_US 20000u

int snic_name_is_valid(const char *name, size_t max)
{
    size_t n = name ? strlen(name) : 0;
    if (n == 0 || n > max || name[0] == '.')
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
            return 0;
    return 1;
}

const char *snic_directory(const char *given)
{
    if (!given || !*given)
        given = getenv("VERBENA_SHM_DIR");
    return given && *given ? given : "/dev/shm";
}

void snic_memory_file(char *file, size_t size, const char *name, uint32_t number)
{
    snprintf(file, size, "%s+m%u", name, number);
}

/* Opens a folder of ours below parent_fd, making it if needed. */
static int folder_open_at(int parent_fd, const char *name, const char *path, int *fd, char *why,
                          size_t why_size)
{
    struct stat st;
    if (mkdirat(parent_fd, name, 0700) != 0 && errno != EEXIST) {
        int error = errno;
        SNIC_WHY("mkdir %s: %s", path, strerror(error));
        return -error;
    }
    int opened = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) {
        int error = errno;
        SNIC_WHY("open %s: %s", path, strerror(error));
        return -error;
    }
    if (fstat(opened, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
        close(opened);
        SNIC_WHY("%s must belong to user %u with mode 0700; it belongs to %u with mode %04o", path,
                 (unsigned)geteuid(), (unsigned)st.st_uid, (unsigned)(st.st_mode & 07777));
        return -EPERM;
    }
    *fd = opened;
    return 0;
}

int snic_folder_open(const char *directory, const char *job, char *path, size_t path_size, int *fd,
                     char *why, size_t why_size)
{
    char user[32], user_path[SNIC_PATH_MAX];
    directory = snic_directory(directory);
    snprintf(user, sizeof user, "verbena-%u", (unsigned)geteuid());
    if ((size_t)snprintf(path, path_size, "%s/%s/%s", directory, user, job) >= path_size) {
        SNIC_WHY("the folder's path is longer than %zu bytes: %s", path_size - 1, directory);
        return -ENAMETOOLONG;
    }
    snprintf(user_path, sizeof user_path, "%s/%s", directory, user);
    int root_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0) {
        int error = errno;
        SNIC_WHY("folder for shared memory %s: %s; set VERBENA_SHM_DIR to another one", directory,
                 strerror(error));
        return -error;
    }
    int user_fd = -1, rc = folder_open_at(root_fd, user, user_path, &user_fd, why, why_size);
    close(root_fd);
    if (rc != 0)
        return rc;
    /* Somebody may remove the empty folder of a dead job between our making and locking it. */
    for (int attempt = 0; attempt < 100; attempt++) {
        struct stat st;
        rc = folder_open_at(user_fd, job, path, fd, why, why_size);
        if (rc == -ENOENT)
            continue;
        if (rc != 0)
            break;
        rc = snic_folder_lock(*fd, why, why_size);
        if (rc == 0 && fstat(*fd, &st) == 0 && st.st_nlink > 0)
            break;
        close(*fd);
        if (rc != 0)
            break;
        rc = -ENOENT;
    }
    close(user_fd);
    return rc;
}

int snic_folder_lock(int fd, char *why, size_t why_size)
{
    uint64_t deadline = snic_now_ns() + LOCK_WAIT_NS;
    uint32_t sleep_us = 200;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -errno;
        if (snic_now_ns() > deadline) {
            SNIC_WHY("another process, perhaps a stopped one, has held the job's folder locked for "
                     "2 s");
            return -EBUSY;
        }
        /* Longer and longer: a thousand who look all the time leave no processor to the one inside.
         */
        snic_sleep_us(sleep_us);
        if (sleep_us < LOCK_SLEEP_MAX_US)
            sleep_us += sleep_us / 2 + (uint32_t)(snic_random64() & 127);
    }
    return 0;
}

void snic_folder_unlock(int fd)
{
    flock(fd, LOCK_UN);
}

/* Whether the process that made this file is dead, or the file cut to nothing. Unsure: no. */
static int file_is_dead(int job_fd, const char *file, uint64_t pid_namespace)
{
    struct snic_header header;
    unsigned pid;
    unsigned long long start, space;
    if (sscanf(file, ".new-%u-%llu-%llu-", &pid, &start, &space) == 3)
        return space == pid_namespace && snic_process_liveness(pid, start) == SNIC_DEAD;
    int fd = openat(job_fd, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    ssize_t n = pread(fd, &header, sizeof header, 0);
    close(fd);
    /* A segment is whole when it gets its name: this one was cut, and no process can use it. */
    if (n == 0)
        return 1;
    /* Only fields that keep their places in every layout version. */
    if (n < 64 || header.magic != SNIC_MAGIC || header.endianness != SNIC_ENDIAN)
        return 0;
    return header.pid_namespace == pid_namespace &&
           snic_process_liveness(header.pid, header.start_time) == SNIC_DEAD;
}

static DIR *folder_list(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    if (!d && copy >= 0)
        close(copy);
    return d;
}

/* Files that may be segments. */
static uint32_t segment_count(int job_fd)
{
    DIR *d = folder_list(job_fd);
    struct dirent *e;
    uint32_t count = 0;
    for (int n = 0; d && n < ENTRIES_MAX && (e = readdir(d)); n++)
        count += !strchr(e->d_name, '+');
    if (d)
        closedir(d);
    return count;
}

void snic_folder_sweep(int job_fd, const char *name)
{
    uint32_t pid;
    uint64_t start, space;
    if (snic_process_self(&pid, &start, &space) != 0)
        return;
    if (name && file_is_dead(job_fd, name, space))
        unlinkat(job_fd, name, 0);
    /* A look at every file of a job of a thousand processes would make opening them all take a
     * million looks: everybody looks at some, beginning anywhere. */
    uint32_t files = segment_count(job_fd), at = 0;
    if (files == 0) /* not even "." was read: no file may be opened just now */
        return;
    uint32_t first = files > SWEPT_AT_ONCE ? (uint32_t)(snic_random64() % files) : 0;
    /* Segments first, then memories whose segment is gone: the same order in which an owner unlinks
     * is reversed here, so a memory never outlives the look at its segment. */
    for (int pass = 0; pass < 2; pass++) {
        DIR *d = folder_list(job_fd);
        if (!d)
            return;
        struct dirent *e;
        for (int n = 0; n < ENTRIES_MAX && (e = readdir(d)); n++) {
            char *plus = strchr(e->d_name, '+');
            if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                continue;
            if (pass == 0 && !plus && (at++ + files - first) % files < SWEPT_AT_ONCE &&
                file_is_dead(job_fd, e->d_name, space))
                unlinkat(job_fd, e->d_name, 0);
            if (pass == 1 && plus && e->d_name[0] != '.') {
                char base[256];
                snprintf(base, sizeof base, "%.*s", (int)(plus - e->d_name), e->d_name);
                if (faccessat(job_fd, base, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
                    unlinkat(job_fd, e->d_name, 0);
            }
        }
        closedir(d);
    }
}

void snic_folder_sweep_jobs(int job_fd)
{
    int user_fd = openat(job_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = user_fd >= 0 ? folder_list(user_fd) : NULL;
    struct dirent *e;
    struct stat own, st;
    if (d && fstat(job_fd, &own) == 0) {
        for (int n = 0; n < JOBS_SWEPT_MAX && (e = readdir(d)); n++) {
            if (e->d_name[0] == '.')
                continue;
            int fd = openat(user_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (fd < 0)
                continue;
            if (fstat(fd, &st) == 0 && st.st_ino != own.st_ino &&
                flock(fd, LOCK_EX | LOCK_NB) == 0) {
                snic_folder_sweep(fd, NULL);
                unlinkat(user_fd, e->d_name, AT_REMOVEDIR); /* fails unless empty */
            }
            close(fd);
        }
    }
    if (d)
        closedir(d);
    if (user_fd >= 0)
        close(user_fd);
}
