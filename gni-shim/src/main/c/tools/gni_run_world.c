/* What gni-run's processes find: the shared file of libpmi, the environment of Cray's launcher,
 * libfabric's file; and taking all of it away. */
#define _GNU_SOURCE
#include "gni_run.h"
#include "pmi_shared.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ADDRESSES_OF_A_NODE 4u /* devices */
#define CCM_VERSION 1u

/* ---- the file of libpmi ---- */

int run_share(struct job *job)
{
    const char *directory = getenv("VERBENA_SHM_DIR");
    int fd, error;

    snprintf(job->path, sizeof(job->path), "%s/gni-run-XXXXXX", directory ? directory : "/dev/shm");
    fd = mkostemp(job->path, O_CLOEXEC);
    error = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof(*job->shared));
    if (error != 0) {
        fprintf(stderr, "gni-run: %s: %s\n", job->path, strerror(error));
        if (fd >= 0)
            unlink(job->path);
        return -1;
    }
    job->shared = mmap(NULL, sizeof(*job->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (job->shared == MAP_FAILED) {
        fprintf(stderr, "gni-run: %s: %s\n", job->path, strerror(errno));
        unlink(job->path);
        return -1;
    }
    job->shared->size = (uint32_t)job->size;
    job->shared->magic = PMI_SHARED_MAGIC;
    return 0;
}

/* ---- the environment ---- */

static void set_number(const char *name, unsigned long value)
{
    char text[32];

    snprintf(text, sizeof(text), "%lu", value);
    setenv(name, text, 1);
}

/* As the library answers for device 0, so that programs that read it from the environment agree. */
static unsigned long nic_address(void)
{
    const char *given = getenv("GNI_SHIM_NIC_ADDR");
    char host[256] = "";
    uint32_t hash = 2166136261u;

    if (given != NULL)
        return strtoul(given, NULL, 0) & 0x3ffffu;
    gethostname(host, sizeof(host) - 1);
    for (const char *p = host; *p; p++)
        hash = (hash ^ (uint8_t)*p) * 16777619u;
    return (hash ^ hash >> 18) & 0x3ffffu;
}

/* A file of our own making, which must not exist; its name is kept for run_clean. */
static int write_file(char kept[300], const char *path, const void *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int is_written = fd >= 0 && write(fd, bytes, length) == (ssize_t)length;

    if (fd < 0)
        fprintf(stderr, "gni-run: %s: %s%s\n", path, strerror(errno),
                errno == EEXIST ? " (of another job, or left by one that was killed)" : "");
    else
        snprintf(kept, 300, "%s", path);
    if (fd >= 0 && close(fd) != 0)
        is_written = 0;
    return is_written ? 0 : -1;
}

/* A version, the tag and the cookie; and the nodes, one name a line. */
static int write_ccm(struct job *job)
{
    struct {
        uint32_t version;
        uint8_t ptag;
        uint32_t cookie;
    } info;
    char path[280], host[256] = "localhost", *names;
    size_t length;
    int code;

    memset(&info, 0, sizeof(info));
    info.version = CCM_VERSION;
    info.ptag = (uint8_t)job->ptag;
    info.cookie = job->cookie;
    gethostname(host, sizeof(host) - 1);
    length = (strlen(host) + 1) * (size_t)job->size;
    names = malloc(length + 1);
    if (names == NULL)
        return -1;
    for (int i = 0; i < job->size; i++)
        sprintf(names + (strlen(host) + 1) * (size_t)i, "%s\n", host);
    snprintf(path, sizeof(path), "%s/ccm_alps_info", job->ccm);
    code = write_file(job->ccm_file, path, &info, sizeof(info));
    if (code == 0) {
        snprintf(path, sizeof(path), "%s/ccm_nodelist.%d", job->ccm, (int)getpid());
        code = write_file(job->ccm_list, path, names, length);
        setenv("PBS_NODEFILE", path, 1);
    }
    free(names);
    return code;
}

int run_domain(struct job *job)
{
    uint32_t chance[2] = {(uint32_t)time(NULL), (uint32_t)getpid()};

    if (getrandom(chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
        chance[0] ^= (uint32_t)getpid() << 16;
    job->is_own_domain = job->ptag == 0 && job->cookie == 0;
    if (job->ptag == 0)
        job->ptag = 3 + chance[0] % 251;
    if (job->cookie == 0) /* the upper half is the protection key, of a user's range */
        job->cookie = (128 + chance[1] % 65000u) << 16;
    set_number("PMI_GNI_PTAG", job->ptag);
    set_number("PMI_GNI_COOKIE", job->cookie);
    set_number("CRAY_COOKIES", job->cookie);
    set_number("PMI_GNI_DEV_ID", 0);
    set_number("PMI_GNI_LOC_ADDR", nic_address());
    set_number("PMI_SIZE", (unsigned long)job->size);
    set_number("ALPS_APP_ID", (unsigned long)getpid());
    set_number("VERBENA_PMI_NODES", (unsigned long)job->nodes);
    setenv("VERBENA_PMI_FILE", job->path, 1);
    if (job->is_aries)
        setenv("GNI_SHIM_DEVICE", "aries", 1);
    return job->ccm != NULL ? write_ccm(job) : 0;
}

void run_set_rank(const struct job *job, int rank, int appnum)
{
    unsigned long node = (unsigned long)pmi_node_of(rank, job->nodes, job->size);

    set_number("PMI_RANK", (unsigned long)rank);
    set_number("PMI_FORK_RANK", (unsigned long)rank);
    set_number("ALPS_APP_PE", (unsigned long)rank);
    set_number("PMI_APPNUM", (unsigned long)appnum);
    set_number("VERBENA_PMI_APP_SIZE", (unsigned long)job->program[appnum].count);
    if (job->nodes > 1) {
        unsigned long address = (nic_address() + node * ADDRESSES_OF_A_NODE) & 0x3ffffu;

        set_number("GNI_SHIM_NIC_ADDR", address);
        set_number("PMI_GNI_LOC_ADDR", address);
    }
}

/* Programs linked with -lugni -lpmi find the libraries beside this command, or in ../lib of it. */
void run_library_path(void)
{
    static const char *const beside[] = {"", "/../lib"};
    const char *before = getenv("LD_LIBRARY_PATH");
    char self[512], library[640], path[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (length <= 0)
        return;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (int i = 0; i < 2; i++) {
        snprintf(library, sizeof(library), "%s%s/libugni.so.0", self, beside[i]);
        if (access(library, R_OK) != 0)
            continue;
        snprintf(path, sizeof(path), "%s%s%s%s", self, beside[i], before ? ":" : "",
                 before ? before : "");
        setenv("LD_LIBRARY_PATH", path, 1);
        return;
    }
}

/* ---- the end ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0;
}

/* A killed rank has left a segment, and no other process will attach to this domain. */
static void clean_domain(const struct job *job)
{
    const char *folder = getenv("GNI_SHIM_DIR");
    char path[512];
    glob_t found;

    if (folder == NULL || *folder == '\0')
        folder = getenv("VERBENA_SHM_DIR");
    if (folder == NULL || *folder == '\0')
        folder = "/dev/shm";
    snprintf(path, sizeof(path), "%s/verbena-%u/gni-%u-%08x", folder, (unsigned)getuid(), job->ptag,
             job->cookie);
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    snprintf(path, sizeof(path), "%s/gni-msgq-%u-%u-%08x-*", folder, (unsigned)getuid(), job->ptag,
             job->cookie);
    if (glob(path, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            unlink(found.gl_pathv[i]);
        globfree(&found);
    }
}

void run_clean(const struct job *job)
{
    unlink(job->path);
    if (job->ccm_file[0])
        unlink(job->ccm_file);
    if (job->ccm_list[0])
        unlink(job->ccm_list);
    if (job->is_own_domain)
        clean_domain(job);
}
