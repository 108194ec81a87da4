/* What the files of softnic share among themselves. */
#ifndef SOFTNIC_PRIVATE_H
#define SOFTNIC_PRIVATE_H

#include <pthread.h>
#include <sys/types.h>
#include "softnic_host.h"
#include "softnic_layout.h"

/* Of foreign memory in one call: as many pages as the kernel pins at a time.
 * Between pieces we look whether the peer is alive. */
#define SNIC_PIECE (4u << 20)
#define SNIC_STREAM_THRESHOLD (8u << 20)
#define SNIC_PATH_MAX 512
#define SNIC_FILE_MAX (SNIC_NAME_BYTES + 32)

/* A mapped segment with the geometry that was checked when it was mapped. Nobody reads geometry
 * from the shared header after that. */
struct snic_segment {
    uint8_t *base;
    uint64_t bytes;
    struct snic_header *header;
    struct snic_initiator *initiators;
    struct snic_registration *registrations;
    struct snic_memory *memories;
    struct snic_bounce *bounce; /* NULL: none */
    uint8_t *bounce_payload;
    uint8_t *area;
    uint64_t area_bytes;
    uint32_t initiators_max;
    uint32_t registrations_max;
    uint32_t memories_max;
    uint32_t foreign;
    uint32_t pid;
    uint64_t start_time;
    uint64_t incarnation;
};

/* Private mirror of a registration, so that the owner never depends on what peers can overwrite. */
enum snic_registration_phase { SNIC_REG_FREE = 0, SNIC_REG_LIVE = 1, SNIC_REG_DRAINING = 2 };
struct snic_own_registration {
    uint32_t phase;
    uint32_t generation;
    uint64_t secret;
    snic_location_t location;
};

struct snic_own_memory {
    uint8_t *base; /* NULL: free */
    uint64_t length;
    uint64_t mapped;
    uint32_t generation;
    uint32_t registered; /* how many live registrations point here */
};

/* Which file of a NIC was cut: `damage` of it and of its peers' view. */
#define SNIC_DAMAGE_SEGMENT 1u
#define SNIC_DAMAGE_MEMORY(number) (2u + (number))
#define SNIC_DAMAGE_OTHER UINT32_MAX
#define SNIC_CUT_MAX 64

struct snic_range {
    uint64_t address;
    uint64_t length;
};

static inline int snic_range_covers(uint64_t base, uint64_t bytes, uint64_t address,
                                    uint64_t length)
{
    return address >= base && length <= bytes && address - base <= bytes - length;
}

struct snic {
    struct snic_segment segment;
    const volatile uint32_t *alive; /* 1; reads 0 in a forked child */
    int job_fd;
    uint32_t pid;
    uint64_t start_time;
    uint64_t pid_namespace;
    uint64_t incarnation;
    uint64_t identity[SNIC_IDENTITY_WORDS];
    uint32_t personality;
    uint32_t fences; /* snic_barrier_works */
    char name[SNIC_NAME_BYTES];
    char job[SNIC_NAME_BYTES];
    char path[SNIC_PATH_MAX]; /* of the job's folder */
    ino_t inode;
    dev_t device;
    pthread_mutex_t control; /* guards what follows; never taken on a data path */
    struct snic_own_memory *memories;
    uint32_t memories_high;
    struct snic_own_registration *registrations;
    uint32_t *free_slots;
    uint32_t free_count;
    uint32_t registrations_high;
    uint32_t peers;
    _Atomic uint32_t damage; /* of our own files; 0: none */
    uint64_t
        cut[SNIC_CUT_MAX]; /* incarnations of peers whose files were cut: never attached again */
    uint32_t cut_count;
    int foreign_probe; /* 1 not yet tried, else 0 or -errno */
    struct snic_range *located;
    uint32_t located_count;
    uint32_t located_capacity;
    pthread_t helper;
    int helper_runs;
    _Atomic uint32_t helper_stop;
};

/* Written with peer->mapping held, looked at without. */
struct snic_peer_memory {
    _Atomic(uint8_t *) base;
    _Atomic uint64_t mapped;
    _Atomic uint32_t generation; /* odd; 0: nothing is mapped, or it is just changing */
    _Atomic uint64_t populated;  /* streamed puts have made our page tables up to here */
};

struct snic_peer {
    struct snic_segment segment;
    const volatile uint32_t *alive;
    struct snic_initiator *mine;
    uint32_t slot;
    uint32_t epoch;
    uint32_t token;
    uint32_t owner_fences;   /* 1: pins need no fence here */
    _Atomic uint32_t damage; /* of its files, as far as we met it; 0: none */
    int pidfd;               /* -1: this kernel has none, /proc is asked instead */
    snic_t *nic;
    char name[SNIC_NAME_BYTES];
    pthread_mutex_t mapping;
    struct snic_peer_memory *memories; /* [memories_max] */
};

/* A text for people, cut off if it does not fit. */
void snic_why(char *why, size_t why_size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define SNIC_WHY(...) snic_why(why, why_size, __VA_ARGS__)

/* softnic_barrier.c */
int snic_barrier_works(void); /* 1: barriers reach others from here, and theirs us */
void snic_barrier_everywhere(snic_t *nic);

/* softnic_process.c */
uint64_t snic_random64(void);
/* 0, or -ESRCH. state is the letter of /proc/<pid>/stat. */
int snic_process_stat(uint32_t pid, char *state, uint64_t *start_time);
int snic_process_self(uint32_t *pid, uint64_t *start_time, uint64_t *pid_namespace);
/* enum snic_liveness of a process named by pid and start time; start_time 0: any. */
int snic_process_liveness(uint32_t pid, uint64_t start_time);
int snic_process_pidfd(uint32_t pid);
int snic_pidfd_dead(int pidfd); /* 1 dead, 0 alive */
void snic_pause(void);
void snic_sleep_us(uint32_t us);
int snic_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns); /* 0 or -errno */
void snic_futex_wake(_Atomic uint32_t *word);

/* softnic_folder.c */
int snic_name_is_valid(const char *name, size_t max);
int snic_folder_open(const char *directory, const char *job, char *path, size_t path_size, int *fd,
                     char *why, size_t why_size);
int snic_folder_lock(int fd, char *why, size_t why_size); /* exclusive; ends with the process */
void snic_folder_unlock(int fd);
/* Locked: removes what dead processes left: the file of this name (NULL: none), and some others. */
void snic_folder_sweep(int job_fd, const char *name);
void snic_folder_sweep_jobs(int job_fd); /* the other jobs of this user */
void snic_memory_file(char *file, size_t size, const char *name, uint32_t number);

/* softnic_segment.c */
int snic_file_create(int job_fd, const char *path, const char *file, uint64_t bytes,
                     uint64_t reserved, int *fd, char *why, size_t why_size);
/* Should the file turn out to be cut, *damage becomes `file`, not 0; see softnic_fault.c. */
int snic_map_file(int fd, uint64_t bytes, uint64_t alignment, _Atomic uint32_t *damage,
                  uint32_t file, uint8_t **base);
void snic_unmap_file(uint8_t *base, uint64_t bytes, const _Atomic uint32_t *damage);
/* Checks a header that was copied out of a file of `file_bytes`; fills the geometry, no pointers.
 */
int snic_segment_check(const struct snic_header *header, uint64_t file_bytes,
                       uint64_t pid_namespace, struct snic_segment *segment, char *why,
                       size_t why_size);
void snic_segment_point(struct snic_segment *segment, const struct snic_header *copy);
int snic_slot_liveness(const struct snic_segment *segment, uint32_t slot, uint32_t epoch);
int snic_token_is_dead(const struct snic_segment *segment, uint32_t token);
int snic_token_is_stopped(const struct snic_segment *segment, uint32_t token);

/* softnic_fault.c */
int snic_fault_watch(const void *base, uint64_t bytes, _Atomic uint32_t *damage, uint32_t file);
void snic_fault_forget(const void *base, const _Atomic uint32_t *damage); /* before munmap */

/* softnic_memory.c */
int snic_locate_as(snic_t *nic, const void *address, uint64_t length, int remember,
                   snic_location_t *location, char *why, size_t why_size);
void snic_memory_free_all(snic_t *nic);
void snic_peer_unmap_all(snic_peer_t *peer);

/* softnic_location.c; sum: NULL, or where the CRC-32C of what was moved goes */
int snic_location_write(snic_peer_t *peer, const snic_location_t *to, uint64_t offset,
                        const void *from, uint64_t length, int streaming, uint32_t *sum);
int snic_location_read(snic_peer_t *peer, const snic_location_t *from, uint64_t offset, void *to,
                       uint64_t length, uint32_t *sum);

/* softnic_sum.c; before: the CRC-32C of the bytes before these, 0 of none */
uint32_t snic_copy_summed(uint32_t before, void *to, const void *from, uint64_t length,
                          int streaming); /* as snic_copy */

/* softnic_foreign.c */
int snic_foreign_allowed(snic_t *nic, char *why, size_t why_size);
int snic_foreign_copy(snic_peer_t *peer, uint64_t remote, void *local, uint64_t length, int write);
int snic_bounce_start(snic_t *nic, char *why, size_t why_size);
void snic_bounce_stop(snic_t *nic);

/* softnic_registration.c */
int snic_pins_drain(snic_t *nic, uint64_t pin, uint64_t deadline_ns); /* pin 0: every pin */

/* Around a copy. Before: what the caller did earlier is done when the bytes appear, as with a NIC,
 * which is notified of a transfer only after it. After: release for a write, acquire for a read.
 * x86-64 needs no instruction for either. */
static inline void snic_fence(void)
{
#ifndef SNIC_TSAN /* which knows no fences; the other side is notified by a release store anyway   \
                   */
    atomic_thread_fence(memory_order_acq_rel);
#endif
}

/* After a copy: whether the bytes were there. */
static inline int snic_peer_is_damaged(const snic_peer_t *peer)
{
    /* Acquire; partner: the release store in the handler, which runs on this thread or on one that
     * uses this peer, too. */
    return atomic_load_explicit(&peer->damage, memory_order_acquire) != 0;
}

static inline int snic_is_forked(const snic_t *nic)
{
    return *nic->alive != 1;
}

#ifdef SNIC_TEST /* src/test/c/hooks */
int snic_map_once(int fd, uint64_t bytes, uint64_t alignment, uint8_t **base);
void snic_unmap_once(uint8_t *base, uint64_t bytes);
#endif

#endif
