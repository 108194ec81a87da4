/* softnic: who attaches to what, names and folders, full shared memory. */
#define _GNU_SOURCE
#include "nics.h"
#include "softnic_private.h"
#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

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
    /* Registrations had no address. */
    refuse(AT(layout_version), 1, 4, -EPROTO, "layout version 1, this program knows 2");
}
static void refuse_endianness(void)
{
    refuse(AT(endianness), 0x04030201u, 4, -EPROTO, "endianness 0x04030201");
}
static void refuse_page_size(void)
{
    refuse(AT(page_size), 32768, 4, -EPROTO, "page size 32768"); /* no Linux has that one */
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
    CHECK_EQ(snic_initiator_liveness(b, 3), SNIC_ALIVE);
    uint32_t epoch = peers[3]->epoch;
    CHECK_EQ(snic_close(a), -EBUSY);
    CHECK_EQ(snic_detach(peers[3]), 0);
    CHECK_EQ(snic_initiator_liveness(b, 3), SNIC_DEAD);
    CHECK_EQ(snic_initiator_liveness(b, 8), SNIC_DEAD);
    peers[3] = attach(a, "b");
    CHECK_EQ(snic_peer_slot(peers[3]), 3);
    CHECK(peers[3]->epoch != epoch);
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

/* 4 MiB, which only this process sees. */
static void mount_small(char *small, size_t size)
{
    snprintf(small, size, "%s/small", test_folder);
    mkdir(small, 0700);
    if (unshare(CLONE_NEWNS) != 0)
        test_skip("no mount namespace of our own: %s", strerror(errno));
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", small, "tmpfs", 0, "size=4m") != 0)
        test_skip("no small tmpfs: %s", strerror(errno));
}

/* As posix_fallocate: a file that could not be filled is as long as before. */
static void full_while_filling(void)
{
    char small[300], path[320];
    uint8_t byte = 'x';
    struct stat st;
    mount_small(small, sizeof small);
    snprintf(path, sizeof path, "%s/file", small);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK_EQ(pwrite(fd, &byte, 1, 4095), 1);
    CHECK_EQ(snic_file_fill(fd, 0, 8 << 20), -ENOSPC);
    CHECK_EQ(fstat(fd, &st), 0);
    CHECK_EQ(st.st_size, 4096);
    byte = 0;
    CHECK_EQ(pread(fd, &byte, 1, 4095), 1);
    CHECK_EQ(byte, 'x');
    CHECK_EQ(snic_file_fill(fd, 0, 3 << 20), 0);
    close(fd);
    umount(small);
}

static void full_folder(void)
{
    char small[300];
    snic_t *nic;
    void *m;
    mount_small(small, sizeof small);
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
    {"full_while_filling", full_while_filling, NULL, 0},
    {"file_size_limit_is_a_clear_error", file_size_limit, NULL, 0},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
