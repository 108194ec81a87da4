/* A NIC's life: open, publish, close. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif
#define CLOSE_WAIT_NS 1000000000ull

/* ---- open ---- */

static int alive_page(const volatile uint32_t **alive)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint32_t *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return -errno;
    *p = 1;
    /* Without this a forked child would go on using the parent's NIC; old kernels (before 4.14) let
     * it. */
    madvise(p, page, MADV_WIPEONFORK);
    *alive = p;
    return 0;
}

static uint64_t align_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

static int fill_header(const snic_t *nic, const snic_options_t *o, struct snic_header *h)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    memset(h, 0, sizeof *h);
    h->layout_version = SNIC_LAYOUT_VERSION;
    h->endianness = SNIC_ENDIAN;
    h->page_size = (uint32_t)page;
    h->personality = o->personality;
    h->pid = nic->pid;
    h->uid = (uint32_t)geteuid();
    h->start_time = nic->start_time;
    h->pid_namespace = nic->pid_namespace;
    h->incarnation = nic->incarnation;
    h->initiators_max = o->initiators_max ? o->initiators_max : SNIC_INITIATORS_DEFAULT;
    h->registrations_max = o->registrations_max ? o->registrations_max : SNIC_REGISTRATIONS_DEFAULT;
    h->memories_max = SNIC_MEMORIES_MAX;
    h->foreign = o->foreign;
    if (h->initiators_max > SNIC_INITIATORS_LIMIT ||
        h->registrations_max > SNIC_REGISTRATIONS_LIMIT || o->area_bytes > (1ull << 45) ||
        o->foreign > SNIC_FOREIGN_BOUNCE)
        return -EINVAL;
    uint64_t at = page;
    h->initiators_offset = at;
    at = align_up(at + (uint64_t)h->initiators_max * SNIC_INITIATOR_BYTES, page);
    h->registrations_offset = at;
    at = align_up(at + (uint64_t)h->registrations_max * SNIC_REGISTRATION_BYTES, page);
    h->memories_offset = at;
    at = align_up(at + (uint64_t)h->memories_max * SNIC_MEMORY_BYTES, page);
    if (o->foreign == SNIC_FOREIGN_BOUNCE) {
        h->bounce_offset = at;
        at += SNIC_BOUNCE_SLOTS * (sizeof(struct snic_bounce) + (uint64_t)SNIC_BOUNCE_BYTES);
        at = align_up(at, page);
    }
    h->area_offset = at;
    h->area_bytes = o->area_bytes;
    h->segment_bytes = align_up(at + o->area_bytes, page);
    memcpy(h->name, nic->name, sizeof h->name);
    memcpy(h->job, nic->job, sizeof h->job);
    return 0;
}

/* The folder is locked. Makes the segment under a passing name, fills it, then gives it its name.
 */
static int create_segment(snic_t *nic, const struct snic_header *h, uint64_t reserved, char *why,
                          size_t why_size)
{
    char file[SNIC_FILE_MAX + 64];
    int fd;
    struct stat st;
    snprintf(file, sizeof file, ".new-%u-%llu-%llu-%llx", nic->pid,
             (unsigned long long)nic->start_time, (unsigned long long)nic->pid_namespace,
             (unsigned long long)nic->incarnation);
    int rc = snic_file_create(nic->job_fd, nic->path, file, h->segment_bytes, reserved, &fd, why,
                              why_size);
    if (rc != 0)
        return rc;
    struct snic_header whole = *h;
    whole.magic = SNIC_MAGIC;
    if (fstat(fd, &st) != 0)
        rc = -errno;
    else
        rc = snic_segment_check(&whole, (uint64_t)st.st_size, nic->pid_namespace, &nic->segment,
                                why, why_size);
    if (rc == 0)
        rc = snic_map_file(fd, h->segment_bytes, 0, &nic->damage, SNIC_DAMAGE_SEGMENT,
                           &nic->segment.base);
    close(fd);
    if (rc != 0) {
        unlinkat(nic->job_fd, file, 0);
        return rc;
    }
    nic->inode = st.st_ino;
    nic->device = st.st_dev;
    memcpy(nic->segment.base, h, sizeof *h);
    snic_segment_point(&nic->segment, &whole);
    nic->segment.header->magic = SNIC_MAGIC;
    SNIC_STEP("open.filled");
    if (syscall(SYS_renameat2, nic->job_fd, file, nic->job_fd, nic->name, RENAME_NOREPLACE) != 0) {
        rc = -errno;
        unlinkat(nic->job_fd, file, 0);
        snic_unmap_file(nic->segment.base, h->segment_bytes, &nic->damage);
        SNIC_WHY("%s/%s: %s", nic->path, nic->name,
                 rc == -EEXIST ? "EEXIST: a live process has this name in the job" : strerror(-rc));
        return rc;
    }
    SNIC_STEP("open.named");
    return 0;
}

static void free_nic(snic_t *nic)
{
    if (nic->alive)
        munmap((void *)(uintptr_t)nic->alive, (size_t)sysconf(_SC_PAGESIZE));
    if (nic->job_fd >= 0)
        close(nic->job_fd);
    pthread_mutex_destroy(&nic->control);
    free(nic->memories);
    free(nic->registrations);
    free(nic->free_slots);
    free(nic->located);
    free(nic);
}

static int prepare_tables(snic_t *nic, uint32_t registrations_max)
{
    nic->memories = calloc(SNIC_MEMORIES_MAX, sizeof *nic->memories);
    nic->registrations = calloc(registrations_max, sizeof *nic->registrations);
    nic->free_slots = calloc(registrations_max, sizeof *nic->free_slots);
    if (!nic->memories || !nic->registrations || !nic->free_slots)
        return -ENOMEM;
    nic->free_count = registrations_max;
    for (uint32_t i = 0; i < registrations_max; i++)
        nic->free_slots[i] = registrations_max - 1 - i;
    return 0;
}

static int set_names(snic_t *nic, const snic_options_t *o, char *why, size_t why_size)
{
    if (!snic_name_is_valid(o->job, SNIC_NAME_MAX - 1)) {
        SNIC_WHY("job '%.80s': 1 to 63 letters, digits, dots, dashes, underscores; no leading dot",
                 o->job ? o->job : "");
        return -EINVAL;
    }
    if (o->name && !snic_name_is_valid(o->name, SNIC_NAME_MAX - 1)) {
        SNIC_WHY("name '%.80s': 1 to 63 letters, digits, dots, dashes, underscores; no leading dot",
                 o->name);
        return -EINVAL;
    }
    snprintf(nic->job, sizeof nic->job, "%s", o->job);
    if (o->name)
        snprintf(nic->name, sizeof nic->name, "%s", o->name);
    else
        snprintf(nic->name, sizeof nic->name, "p%u-%08x", nic->pid,
                 (uint32_t)(nic->incarnation ^ (nic->incarnation >> 32)));
    return 0;
}

int snic_open(const snic_options_t *options, snic_t **out, char *why, size_t why_size)
{
    struct snic_header header;
    snic_t *nic = calloc(1, sizeof *nic);
    if (!nic)
        return -ENOMEM;
    nic->job_fd = -1;
    nic->foreign_probe = 1;
    nic->personality = options->personality;
    nic->incarnation = snic_random64();
    nic->fences = (uint32_t)snic_barrier_works();
    memcpy(nic->identity, options->identity, sizeof nic->identity);
    pthread_mutex_init(&nic->control, NULL);
    int rc = snic_process_self(&nic->pid, &nic->start_time, &nic->pid_namespace);
    if (rc != 0)
        SNIC_WHY("/proc is not mounted or cannot be read: it is needed to tell live from dead");
    if (rc == 0)
        rc = set_names(nic, options, why, why_size);
    if (rc == 0 && (rc = fill_header(nic, options, &header)) != 0)
        SNIC_WHY(
            "initiators_max %u, registrations_max %u, area_bytes %llu or foreign %u is too large",
            options->initiators_max, options->registrations_max,
            (unsigned long long)options->area_bytes, options->foreign);
    if (rc == 0 && ((rc = alive_page(&nic->alive)) != 0 ||
                    (rc = prepare_tables(nic, header.registrations_max)) != 0))
        SNIC_WHY("no memory for the tables of a NIC");
    if (rc == 0)
        rc = snic_folder_open(options->directory, nic->job, nic->path, sizeof nic->path,
                              &nic->job_fd, why, why_size);
    if (rc == 0) {
        snic_folder_sweep(nic->job_fd, nic->name);
        snic_folder_sweep_jobs(nic->job_fd);
        uint64_t reserved = header.segment_bytes;
        if (options->area_reserved != 0 && options->area_reserved < options->area_bytes)
            reserved = header.area_offset + options->area_reserved;
        rc = create_segment(nic, &header, reserved, why, why_size);
        snic_folder_unlock(nic->job_fd);
    }
    if (rc == 0 && options->foreign == SNIC_FOREIGN_BOUNCE &&
        (rc = snic_bounce_start(nic, why, why_size)) != 0) {
        unlinkat(nic->job_fd, nic->name, 0);
        snic_unmap_file(nic->segment.base, nic->segment.bytes, &nic->damage);
    }
    if (rc != 0) {
        free_nic(nic);
        return rc;
    }
    *out = nic;
    return 0;
}

int snic_publish(snic_t *nic)
{
    if (snic_is_forked(nic))
        return -ECHILD;
    SNIC_STEP("publish.before");
    /* Partner: the acquire load of state in snic_attach. */
    nic->segment.header->owner_fences = nic->fences;
    atomic_store_explicit(&nic->segment.header->state, SNIC_STATE_OPEN, memory_order_release);
    SNIC_STEP("publish.after");
    return 0;
}

/* ---- close ---- */

static void unlink_own(snic_t *nic)
{
    struct stat st;
    if (fstatat(nic->job_fd, nic->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == nic->inode &&
        st.st_dev == nic->device)
        unlinkat(nic->job_fd, nic->name, 0);
}

int snic_close(snic_t *nic)
{
    struct snic_header *h = nic->segment.header;
    if (snic_is_forked(nic))
        return -ECHILD;
    pthread_mutex_lock(&nic->control);
    uint32_t peers = nic->peers;
    pthread_mutex_unlock(&nic->control);
    if (peers != 0)
        return -EBUSY;
    /* Seq_cst, as a deregister: partner is the pin's store and the load of state after it. */
    atomic_store_explicit(&h->state, SNIC_STATE_CLOSING, memory_order_seq_cst);
    snic_barrier_everywhere(nic);
    SNIC_STEP("close.closing");
    snic_ring_self(nic);
    snic_pins_drain(nic, 0, snic_now_ns() + CLOSE_WAIT_NS);
    SNIC_STEP("close.drained");
    if (nic->helper_runs)
        snic_bounce_stop(nic);
    atomic_store_explicit(&h->state, SNIC_STATE_CLOSED, memory_order_release);
    snic_ring_self(nic);
    snic_memory_free_all(nic);
    SNIC_STEP("close.closed");
    unlink_own(nic);
    SNIC_STEP("close.unlinked");
    snic_unmap_file(nic->segment.base, nic->segment.bytes, &nic->damage);
    free_nic(nic);
    return 0;
}

int snic_damage(const snic_t *nic, char *why, size_t why_size)
{
    char file[SNIC_FILE_MAX];
    /* Acquire; partner: the release store in the handler of softnic_fault.c. */
    uint32_t damage = atomic_load_explicit(&nic->damage, memory_order_acquire);
    if (damage == 0)
        return 0;
    if (damage == SNIC_DAMAGE_OTHER)
        snprintf(file, sizeof file, "a file that %s maps", nic->name);
    else if (damage == SNIC_DAMAGE_SEGMENT)
        snprintf(file, sizeof file, "%s", nic->name);
    else
        snic_memory_file(file, sizeof file, nic->name, damage - SNIC_DAMAGE_MEMORY(0));
    SNIC_WHY("%s/%s: somebody cut this file while it was in use; what was in it is lost", nic->path,
             file);
    return -EIO;
}

int snic_watch(snic_t *nic, const void *base, uint64_t bytes)
{
    return snic_fault_watch(base, bytes, &nic->damage, SNIC_DAMAGE_OTHER);
}

void snic_unwatch(snic_t *nic, const void *base)
{
    snic_fault_forget(base, &nic->damage);
}

const char *snic_name(const snic_t *nic)
{
    return nic->name;
}

uint64_t snic_incarnation(const snic_t *nic)
{
    return nic->incarnation;
}

void *snic_area(snic_t *nic)
{
    return nic->segment.area;
}

uint64_t snic_area_bytes(const snic_t *nic)
{
    return nic->segment.area_bytes;
}
