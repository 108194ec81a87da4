/*
 * softnic: a NIC in software, for processes of one user on one host.
 *
 * Every open NIC owns one shared-memory segment. The initiator of an operation does the NIC's
 * work: it looks up the target's registration, copies straight into the target's memory and appends
 * the event to the target's queue. The target's CPU does nothing. What the segment means beyond
 * registrations, initiators and the doorbell is up to its personality (shm, Portals, uGNI), which
 * owns the segment's area.
 *
 * Conventions: functions return >= 0 or -errno; a text for people goes to `why` where given. No
 * process globals but the handler of softnic_fault.c: several NICs may live in one address space.
 * Everything read from a segment is range-checked. A process that forked and uses its parent's NIC
 * gets -ECHILD everywhere.
 *
 * Threads: memory and registration functions, snic_wait and the rings may be called from any
 * thread. Attach, detach and close: one thread at a time for each NIC. What takes a snic_peer_t:
 * one thread at a time for each peer (snic_write, snic_read and snic_map: any; they use no pin).
 * snic_close: when no thread is in another function.
 */
#ifndef SOFTNIC_H
#define SOFTNIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define _Atomic /* C++ (the generated JNI) passes addresses on and touches no shared word */
extern "C" {
#else
#include <stdatomic.h>
#endif

/* Raised with every change of what lies in a segment. 2: registrations have an address. */
#define SNIC_LAYOUT_VERSION 2u
#define SNIC_NAME_MAX 64
#define SNIC_WHY_MAX 512

enum snic_personality { SNIC_SHM = 1, SNIC_PORTALS = 2, SNIC_UGNI = 3 };
enum snic_right { SNIC_READ = 1, SNIC_WRITE = 2, SNIC_ATOMIC = 4 };
/* How peers reach memory that the toolkit did not allocate. */
enum snic_foreign { SNIC_FOREIGN_ATTACH = 0, SNIC_FOREIGN_BOUNCE = 1 };
/* State of another process, as far as this one can tell. */
enum snic_liveness { SNIC_ALIVE = 0, SNIC_STOPPED = 1, SNIC_DEAD = 2 };

typedef struct snic snic_t;           /* a NIC that this process opened */
typedef struct snic_peer snic_peer_t; /* another NIC (or the same one), as seen by an initiator */

typedef struct snic_options {
    const char *directory;      /* NULL: $VERBENA_SHM_DIR, else /dev/shm; segments live in
                                   <directory>/verbena-<uid>/<job>/ */
    const char *job;            /* isolates jobs; [A-Za-z0-9._-]{1,63} */
    const char *name;           /* unique in the job; NULL: made from the pid and a counter */
    uint32_t personality;       /* enum snic_personality */
    uint32_t initiators_max;    /* 0: 1024 */
    uint32_t registrations_max; /* 0: 65536 */
    uint32_t foreign;           /* enum snic_foreign */
    uint64_t area_bytes;        /* size of the personality's shared area, zeroed at open */
    uint64_t area_reserved;     /* bytes of the area whose space is reserved at open; 0: all. The
                                   rest may be touched only after snic_area_reserve */
    uint64_t identity[4]; /* the personality's own words, shown to peers in the initiator slots that
                             we take */
} snic_options_t;

/* ---- life ---- */

/* Creates the segment (space reserved, so that no later access can fault), removes segments of dead
 * processes of the job. -EEXIST: the name is taken by a live process. */
int snic_open(const snic_options_t *options, snic_t **nic, char *why, size_t why_size);
/* Marks the segment closed, wakes waiters, waits (bounded) for pinned accesses of live peers,
 * unlinks and unmaps. */
int snic_close(snic_t *nic);
/* 0, or -EIO with the path in why: somebody shortened the file of our segment or of memory that we
 * allocated, and we came to what is missing. Zeros are there instead, which peers do not see; the
 * NIC is of no use any more and is to be closed. Any thread. */
int snic_damage(const snic_t *nic, char *why, size_t why_size);
/* The same for another file that a personality has mapped; to be ended before it is unmapped. */
int snic_watch(snic_t *nic, const void *base, uint64_t bytes);
void snic_unwatch(snic_t *nic, const void *base);
const char *snic_name(const snic_t *nic);
uint64_t snic_incarnation(const snic_t *nic);
void *snic_area(snic_t *nic);
uint64_t snic_area_bytes(const snic_t *nic);
/* Reserves space for a part of the area, so that no access to it can fault. Its bytes are zero if
 * it was never reserved before. -ENOSPC with the sizes in why. Makes system calls. */
int snic_area_reserve(snic_t *nic, uint64_t offset, uint64_t length, char *why, size_t why_size);
/* Publishes the NIC: peers may attach from now on. Called after the personality has prepared its
 * area. */
int snic_publish(snic_t *nic);

/* ---- peers (initiator side) ---- */

/* Maps the segment of `name` in the same job and takes an initiator slot in it. incarnation 0: any.
 * -ENOENT no such NIC, -ESTALE other incarnation, -EPROTO magic/layout/endianness/page size differ
 * (named in why), -EXDEV other pid namespace, -EIO one of its files was cut, -EUSERS no slot free,
 * -ECONNREFUSED not published, -EPROTOTYPE other personality. */
int snic_attach(snic_t *nic, const char *name, uint64_t incarnation, snic_peer_t **peer, char *why,
                size_t why_size);
int snic_detach(snic_peer_t *peer);
void *snic_peer_area(snic_peer_t *peer);
uint64_t snic_peer_area_bytes(const snic_peer_t *peer);
/* Index of our initiator slot in the peer's segment, 0 .. initiators_max-1. */
uint32_t snic_peer_slot(const snic_peer_t *peer);
uint64_t snic_peer_incarnation(const snic_peer_t *peer);
/* Cheap enough for each operation on foreign memory: poll on a held pidfd. */
int snic_peer_liveness(snic_peer_t *peer); /* enum snic_liveness; DEAD also if its files were cut */
/* 1 while the peer's segment says OPEN; 0 once it is closing or closed (no system call). */
int snic_peer_is_open(const snic_peer_t *peer);

/* Target side: who sits in an initiator slot of our own segment. */
int snic_initiator_liveness(snic_t *nic,
                            uint32_t slot); /* enum snic_liveness; DEAD also for an empty slot */
/* The same questions asked by another initiator of that segment. */
int snic_peer_initiator_liveness(snic_peer_t *peer, uint32_t slot, uint32_t epoch);

/* Addresses in the peer's segment, for an implementation that does puts itself (layout:
 * softnic_layout.h). Valid until detach. */
typedef struct snic_view {
    void *header;                   /* struct snic_header */
    void *initiator;                /* struct snic_initiator: our slot */
    void *registrations;            /* struct snic_registration[registrations_max] */
    uint64_t registrations_max;     /* checked at attach */
    uint64_t owner_fences;          /* 1: a pin needs no fence, see struct snic_initiator */
    const _Atomic uint32_t *damage; /* not 0 after a copy: its bytes were not there, see
                                       softnic_fault.c */
} snic_view_t;
void snic_peer_view(snic_peer_t *peer, snic_view_t *view);

/* ---- memory ---- */

#define SNIC_HUGE_PAGE (2ull << 20)
/* Memory that peers map: a put becomes stores. Zeroed, page aligned, reserved up front. From 2 MiB
 * the kernel is asked for huge pages; flags 1: round the size up to whole ones. */
int snic_memory_alloc(snic_t *nic, uint64_t length, uint32_t flags, void **address, char *why,
                      size_t why_size);
/* The same of a file that exists, `length` bytes or longer, in the file system of shared memory: it
 * keeps its name and gets a second one while it is mapped. Pages that it does not have are made
 * when they are touched. -EXDEV: it is in another file system. */
int snic_memory_map(snic_t *nic, const char *file, uint64_t length, void **address, char *why,
                    size_t why_size);
/* Gives a part of a file its space, as posix_fallocate does; what of it are whole extents of
 * SNIC_HUGE_PAGE in a file system in memory, in huge pages if the kernel can. 0 or -errno. */
int snic_file_fill(int fd, uint64_t offset, uint64_t length);
/* Maps a part of a file to an address that is a multiple of the alignment, a power of two; 0: to
 * any. It is unmapped by munmap. 0 or -errno. */
int snic_map_shared(int fd, uint64_t offset, uint64_t bytes, uint64_t alignment, uint8_t **base);
/* -EBUSY while registered. */
int snic_memory_free(snic_t *nic, void *address);
/* Bytes that are mapped at the beginning of a memory, whole pages; 0: none begins there. */
uint64_t snic_memory_mapped(snic_t *nic, const void *address);

/* Where bytes of a process are, in a form that peers can use. Plain data: may be stored in shared
 * memory. */
typedef struct snic_location {
    uint32_t kind; /* 1 toolkit memory (memory, offset), 2 foreign (address) */
    uint32_t
        memory; /* number of the toolkit memory within its NIC, with generation in the upper half */
    uint64_t offset; /* toolkit: within the memory; foreign: address */
    uint64_t length;
} snic_location_t;

/* Finds out where [address, address+length) lives. Foreign memory: -EOPNOTSUPP with the remedy in
 * why if the kernel forbids cross-memory attach and bounce was not asked for. With bounce it is
 * remembered until close; -ENOSPC beyond 65536 ranges. */
int snic_locate(snic_t *nic, const void *address, uint64_t length, snic_location_t *location,
                char *why, size_t why_size);

/* Copies to / from a place in the peer's process. Pieces of at most 1 MiB, streaming stores above a
 * measured threshold. 0, or -EFAULT (bad location or unmapped), -ESRCH (peer died before or during:
 * contents undefined). `offset` is relative to the location and is range-checked. Release fence
 * before return of a write; acquire fence after a read. */
int snic_write(snic_peer_t *peer, const snic_location_t *to, uint64_t offset, const void *from,
               uint64_t length);
int snic_read(snic_peer_t *peer, const snic_location_t *from, uint64_t offset, void *to,
              uint64_t length);
/* Address at which [offset, offset+length) of toolkit memory of the peer is mapped here, or NULL.
 */
void *snic_map(snic_peer_t *peer, const snic_location_t *location, uint64_t offset,
               uint64_t length);

/* Copies within this process as snic_write does into mapped memory: streaming 1 uses non-temporal
 * stores, 0 does not, -1 decides by length. Ends with a release fence. For callers that map and
 * copy piece by piece. */
void snic_copy(void *to, const void *from, uint64_t length, int streaming);

/* ---- registrations (keys that travel in descriptors) ---- */

typedef struct snic_key {
    uint32_t slot;
    uint32_t generation;
    uint64_t secret;
} snic_key_t;

int snic_register(snic_t *nic, const void *address, uint64_t length, uint32_t rights,
                  snic_key_t *key, char *why, size_t why_size);
/* Refuses new pins, waits for old ones (bounded by timeout_ms, -ETIMEDOUT), reclaims those of dead
 * initiators. */
int snic_deregister(snic_t *nic, const snic_key_t *key, uint32_t timeout_ms);

/* Initiator: pins, checks rights and range, copies, unpins. One full fence, no system call where
 * the memory is mapped; whether the peer lives is then not asked: its segment's state is. -EACCES
 * right missing, -ERANGE outside, -ESTALE gone, being deregistered or other secret, -ESRCH peer
 * closed or (foreign memory) dead, -EFAULT not mapped there, -EBUSY only with SNIC_FOREIGN_BOUNCE:
 * the target is stopped, or all that have its slots. */
int snic_put(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, const void *from,
             uint64_t length);
/* Past the caches, whatever the length: for bytes that the peer does not read at once. */
int snic_put_streamed(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, const void *from,
                      uint64_t length);
int snic_get(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, void *to, uint64_t length);
/* The same, with the CRC-32C of what was moved in *sum, undefined on failure; `streamed` as
 * snic_put_streamed. Mapped memory is summed up in the loop that copies it. */
int snic_put_summed(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, const void *from,
                    uint64_t length, int streamed, uint32_t *sum);
int snic_get_summed(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, void *to,
                    uint64_t length, uint32_t *sum);
/* CRC-32C of bytes of this process behind others; before: that of the others, 0 of none. */
uint32_t snic_sum(uint32_t before, const void *bytes, uint64_t length);
/* 1: this processor has instructions for it; 0: a slow loop does it. */
int snic_sums_are_fast(void);
/* 8 aligned bytes. Toolkit memory: a CPU atomic. Foreign memory: -EOPNOTSUPP. */
int snic_fetch_add(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, uint64_t delta,
                   uint64_t *before);
int snic_compare_swap(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, uint64_t expected,
                      uint64_t update, uint64_t *before);

/* ---- doorbell ---- */

/* Number to pass to snic_wait; read it before looking into the queues for the last time. */
uint32_t snic_doorbell(snic_t *nic);
/* Sleeps until the doorbell differs from `seen`, or timeout_ns (relative; negative: no limit). 1
 * rung, 0 timed out. Any thread. */
int snic_wait(snic_t *nic, uint32_t seen, int64_t timeout_ns);
/* Rings the peer's doorbell; no system call when no thread sleeps there. Call after the release
 * store that publishes an event. */
void snic_ring(snic_peer_t *peer);
void snic_ring_self(snic_t *nic);

/* ---- the crash-safe lock of a personality (lives in its area) ---- */

/* Word: 0 free, else owner (initiator slot + 1; SNIC_LOCK_OWNER_SELF for the owning process) and a
 * futex. */
typedef struct snic_lock {
    _Atomic uint32_t word;
    _Atomic uint32_t waiters;
} snic_lock_t;
#define SNIC_LOCK_SELF 0x7fffffffu

/* Called with the lock held on behalf of a dead owner: finishes what the intent record says. It may
 * be called a second time, for the same intent and with another slot, if its caller dies in it: it
 * must be idempotent and must not use dead_slot to find the record. */
typedef void (*snic_recover_fn)(void *context, uint32_t dead_slot);

/* Locks a lock in the peer's area / in our own. 0, or -EBUSY after timeout_ns when a stopped owner
 * sits on it, after 25 times that when a live one does (the caller reports back pressure, later
 * PEER_STALLED), -ESRCH when the segment is closed. Dead owners are recovered. */
int snic_lock_peer(snic_peer_t *peer, snic_lock_t *lock, int64_t timeout_ns,
                   snic_recover_fn recover, void *context);
void snic_unlock_peer(snic_peer_t *peer, snic_lock_t *lock);
int snic_lock_own(snic_t *nic, snic_lock_t *lock, int64_t timeout_ns, snic_recover_fn recover,
                  void *context);
void snic_unlock_own(snic_t *nic, snic_lock_t *lock);

/* ---- checking ---- */

/* Walks every segment of a job, of living owners and of dead ones, and checks what must hold
 * between any two steps of any process, also of one that was killed. Best with nothing running: a
 * change under its eyes may look like a violation. One line per violation goes to text. Answers
 * their number, or -errno (-ENOENT: no such job). directory as in snic_options_t. */
int snic_check(const char *directory, const char *job, char *text, size_t text_size);

/* ---- test hooks: compiled only with -DSNIC_TEST ---- */
#ifdef SNIC_TEST
/* Called at every labelled step; the labels are listed in softnic_steps.h. Tests kill, stop or
 * yield there. */
extern _Thread_local void (*snic_step_hook)(const char *label);
/* The same for threads that have no hook of their own, also softnic's own ones. */
extern void (*snic_step_hook_all)(const char *label);
#define SNIC_STEP(label)                                                                           \
    do {                                                                                           \
        if (snic_step_hook)                                                                        \
            snic_step_hook(label);                                                                 \
        else if (snic_step_hook_all)                                                               \
            snic_step_hook_all(label);                                                             \
    } while (0)
#else
#define SNIC_STEP(label) ((void)0)
#endif

#ifdef __cplusplus
}
#endif
#endif
