/* Memory that the toolkit did not allocate: cross-memory attach, or the owner's helper thread. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROBE_STACK 65536
#define HELPER_SLICE_NS 100000000
#define BOUNCE_SLICE_NS 20000000
#define BOUNCE_STOPPED_NS 1000000000ull /* who is waited for is stopped this long: -EBUSY */

/* ---- may peers reach us? ---- */

struct probe {
    volatile uint64_t word;
    pid_t pid;
    int error;
};

/* Runs in a process of its own that shares our memory (the parent sleeps): only bare system calls.
 * It is to us what a peer is: the same user, not an ancestor. */
#if defined(__clang__)
__attribute__((no_sanitize("address", "thread", "undefined")))
#else
__attribute__((no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif
static int
probe_child(void *argument)
{
    struct probe *p = argument;
    uint64_t value = 0;
    struct iovec local = {&value, sizeof value};
    struct iovec remote = {(void *)(uintptr_t)&p->word, sizeof value};
    if (syscall(SYS_process_vm_readv, p->pid, &local, 1ul, &remote, 1ul, 0ul) == (long)sizeof value)
        p->error = 0;
    else
        p->error = errno;
    syscall(SYS_exit_group, p->error);
    return 0;
}

static int probe(void)
{
    struct probe p = {.word = 42, .pid = getpid(), .error = EIO};
    uint8_t *stack =
        mmap(NULL, PROBE_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return -errno;
#ifdef SNIC_TSAN /* which takes a child in our memory for our fork and stops watching */
    int pid = fork();
    if (pid == 0)
        probe_child(&p);
#else
    /* No exit signal: the program's own SIGCHLD handling must not notice. */
    int pid = clone(probe_child, stack + PROBE_STACK, CLONE_VM | CLONE_VFORK, &p);
#endif
    int rc = pid < 0 ? -errno : 0;
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        ;
#ifdef SNIC_TSAN
    p.error = WEXITSTATUS(status);
#endif
    munmap(stack, PROBE_STACK);
    return rc ? rc : -p.error;
}

/* nic->control is held. */
int snic_foreign_allowed(snic_t *nic, char *why, size_t why_size)
{
    if (nic->foreign_probe == 1)
        nic->foreign_probe = probe();
    if (nic->foreign_probe == 0)
        return 0;
    SNIC_WHY(
        "this kernel forbids cross-memory attach (process_vm_readv: %s), so peers cannot reach "
        "memory that the toolkit did not allocate. Remedies: allocate it through the toolkit; or "
        "set kernel.yama.ptrace_scope to 0; or, in a container, allow process_vm_readv and "
        "process_vm_writev in its seccomp profile (SYS_PTRACE capability); or open the NIC with "
        "foreignMemory=bounce, which copies with a helper thread",
        strerror(-nic->foreign_probe));
    return -EOPNOTSUPP;
}

/* ---- cross-memory attach ---- */

static int peer_dead(snic_peer_t *peer)
{
    if (peer->pidfd >= 0)
        return snic_pidfd_dead(peer->pidfd);
    return snic_process_liveness(peer->segment.pid, peer->segment.start_time) == SNIC_DEAD;
}

static int attach_copy(snic_peer_t *peer, uint64_t remote, uint8_t *local, uint64_t length,
                       int write)
{
    /* Alive before: the pid is the peer's when the call starts. Alive after: it was so throughout.
     * Between two pieces one look serves as both. */
    if (peer_dead(peer))
        return -ESRCH;
    for (uint64_t done = 0; done < length;) {
        uint64_t piece = length - done < SNIC_PIECE ? length - done : SNIC_PIECE;
        struct iovec l = {local + done, piece};
        struct iovec r = {(void *)(uintptr_t)(remote + done), piece};
        pid_t pid = (pid_t)peer->segment.pid;
        SNIC_STEP("foreign.before");
        ssize_t n = write ? process_vm_writev(pid, &l, 1, &r, 1, 0)
                          : process_vm_readv(pid, &l, 1, &r, 1, 0);
        int error = errno;
        SNIC_STEP("foreign.after");
        if (peer_dead(peer))
            return -ESRCH;
        if (n <= 0)
            return error == EPERM || error == ENOSYS ? -EOPNOTSUPP
                   : error == ESRCH                  ? -ESRCH
                                                     : -EFAULT;
        done += (uint64_t)n;
    }
    return 0;
}

/* ---- bounce, initiator's side ---- */

static int bounce_is_pending(struct snic_bounce *b)
{
    uint32_t state = atomic_load_explicit(&b->state, memory_order_acquire);
    return state == SNIC_BOUNCE_ASKED || state == SNIC_BOUNCE_BUSY;
}

static struct snic_bounce *bounce_claim(snic_peer_t *peer, uint32_t *index)
{
    for (uint32_t i = 0; i < SNIC_BOUNCE_SLOTS; i++) {
        struct snic_bounce *b = &peer->segment.bounce[i];
        uint32_t owner = 0;
        *index = i;
        if (atomic_compare_exchange_strong_explicit(&b->owner, &owner, peer->token,
                                                    memory_order_acq_rel, memory_order_acquire))
            return b;
        /* A request of a dead process, or one that we gave up, may still be copied: take the slot
         * only after that. */
        if (bounce_is_pending(b))
            continue;
        if (owner == peer->token)
            return b;
        if (snic_token_is_dead(&peer->segment, owner) &&
            atomic_compare_exchange_strong_explicit(&b->owner, &owner, peer->token,
                                                    memory_order_acq_rel, memory_order_acquire))
            return b;
    }
    return NULL;
}

/* 0, or -EBUSY: who is waited for has been stopped since *stopped_ns, longer than we wait. */
static int stopped_too_long(int is_stopped, uint64_t *stopped_ns)
{
    uint64_t now = is_stopped ? snic_now_ns() : 0;
    *stopped_ns = is_stopped && *stopped_ns ? *stopped_ns : now;
    return now - *stopped_ns > BOUNCE_STOPPED_NS ? -EBUSY : 0;
}

/* 0, -ESRCH, or -EBUSY: the target is stopped. */
static int bounce_target(snic_peer_t *peer, uint64_t *stopped_ns)
{
    int liveness = snic_peer_liveness(peer);
    uint32_t state = atomic_load_explicit(&peer->segment.header->state, memory_order_acquire);
    if (liveness == SNIC_DEAD || state == SNIC_STATE_CLOSED)
        return -ESRCH;
    return stopped_too_long(liveness == SNIC_STOPPED, stopped_ns);
}

static int bounce_owners_are_stopped(const snic_peer_t *peer)
{
    for (uint32_t i = 0; i < SNIC_BOUNCE_SLOTS; i++) {
        uint32_t owner = atomic_load_explicit(&peer->segment.bounce[i].owner, memory_order_acquire);
        if (owner == 0 || !snic_token_is_stopped(&peer->segment, owner))
            return 0;
    }
    return 1;
}

static void bounce_ask(snic_peer_t *peer, struct snic_bounce *b)
{
    struct snic_header *h = peer->segment.header;
    /* Release; partner: the helper's acquire load. */
    atomic_store_explicit(&b->state, SNIC_BOUNCE_ASKED, memory_order_release);
    SNIC_STEP("bounce.asked");
    atomic_fetch_add_explicit(&h->bounce_bell, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&h->bounce_waiters, memory_order_seq_cst) != 0)
        snic_futex_wake(&h->bounce_bell);
}

/* One piece. On -EBUSY the request is withdrawn, unless the helper was stopped in the middle of it:
 * then it keeps the slot and ends it later; the caller gets an error that says that the bytes may
 * or may not arrive.
 */
static int bounce_piece(snic_peer_t *peer, struct snic_bounce *b, uint64_t *stopped_ns)
{
    bounce_ask(peer, b);
    for (;;) {
        uint32_t state = atomic_load_explicit(&b->state, memory_order_acquire);
        if (state != SNIC_BOUNCE_ASKED && state != SNIC_BOUNCE_BUSY)
            return b->result != 0 ? -EFAULT : 0;
        snic_futex_wait(&b->state, state, BOUNCE_SLICE_NS);
        if (!bounce_is_pending(b))
            continue;
        int rc = bounce_target(peer, stopped_ns);
        uint32_t asked = SNIC_BOUNCE_ASKED;
        if (rc != 0) {
            atomic_compare_exchange_strong_explicit(&b->state, &asked, SNIC_BOUNCE_IDLE,
                                                    memory_order_acq_rel, memory_order_relaxed);
            return rc;
        }
    }
}

static int bounce_copy(snic_peer_t *peer, uint64_t remote, uint8_t *local, uint64_t length,
                       int write)
{
    uint32_t index;
    uint64_t stopped_ns = 0, owners_stopped_ns = 0;
    struct snic_bounce *b;
    int rc = 0;
    if (!peer->segment.bounce)
        return -EOPNOTSUPP;
    while (!(b = bounce_claim(peer, &index))) {
        rc = bounce_target(peer, &stopped_ns);
        if (rc == 0)
            rc = stopped_too_long(bounce_owners_are_stopped(peer), &owners_stopped_ns);
        if (rc != 0)
            return rc;
        snic_sleep_us(50);
    }
    SNIC_STEP("bounce.claimed");
    uint8_t *payload = peer->segment.bounce_payload + (uint64_t)index * SNIC_BOUNCE_BYTES;
    for (uint64_t done = 0; rc == 0 && done < length;) {
        uint64_t piece = length - done < SNIC_BOUNCE_BYTES ? length - done : SNIC_BOUNCE_BYTES;
        b->write = (uint32_t)write;
        b->address = remote + done;
        b->length = piece;
        if (write)
            memcpy(payload, local + done, piece);
        rc = bounce_piece(peer, b, &stopped_ns);
        if (rc == 0 && !write)
            memcpy(local + done, payload, piece);
        done += piece;
    }
    SNIC_STEP("bounce.done");
    if (!bounce_is_pending(b)) {
        atomic_store_explicit(&b->state, SNIC_BOUNCE_IDLE, memory_order_relaxed);
        atomic_store_explicit(&b->owner, 0, memory_order_release);
    }
    return rc;
}

int snic_foreign_copy(snic_peer_t *peer, uint64_t remote, void *local, uint64_t length, int write)
{
    if (length == 0)
        return 0;
    if (peer->segment.foreign == SNIC_FOREIGN_BOUNCE)
        return bounce_copy(peer, remote, local, length, write);
    return attach_copy(peer, remote, local, length, write);
}

/* ---- bounce, the owner's helper ---- */

/* Only memory that was located, or whose registration is not yet drained. nic->control is held. */
static int range_is_known(const snic_t *nic, uint64_t address, uint64_t length)
{
    for (uint32_t i = 0; i < nic->located_count; i++)
        if (snic_range_covers(nic->located[i].address, nic->located[i].length, address, length))
            return 1;
    for (uint32_t i = 0; i < nic->registrations_high; i++) {
        const struct snic_own_registration *r = &nic->registrations[i];
        if (r->phase != SNIC_REG_FREE && r->location.kind == 2 &&
            snic_range_covers(r->location.offset, r->location.length, address, length))
            return 1;
    }
    return 0;
}

/* Without cross-memory attach a pipe does the same: unlike the file of our own memory, it heeds the
 * protection of pages. */
static int copy_by_pipe(uint8_t *to, const uint8_t *from, uint64_t length)
{
    int ends[2], rc = 0;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    while (length && rc == 0) {
        ssize_t n = write(ends[1], from, length);
        if (n > 0 && read(ends[0], to, (size_t)n) == n) {
            from += n;
            to += n;
            length -= (uint64_t)n;
        } else if (n >= 0 || errno != EINTR) {
            rc = -EFAULT;
        }
    }
    close(ends[0]);
    close(ends[1]);
    return rc;
}

/* Through the kernel also within our own process: memory that the program has unmapped meanwhile
 * gives an error instead of a signal. */
static int copy_own(uint64_t address, uint8_t *payload, uint64_t length, int write)
{
    uint8_t *own = (uint8_t *)(uintptr_t)address;
    struct iovec l = {payload, length};
    struct iovec r = {own, length};
    ssize_t n = write ? process_vm_writev(getpid(), &l, 1, &r, 1, 0)
                      : process_vm_readv(getpid(), &l, 1, &r, 1, 0);
    if (n >= 0 || (errno != EPERM && errno != ENOSYS))
        return n == (ssize_t)length ? 0 : -EFAULT;
    return write ? copy_by_pipe(own, payload, length) : copy_by_pipe(payload, own, length);
}

static void serve(snic_t *nic, uint32_t index)
{
    struct snic_bounce *b = &nic->segment.bounce[index];
    uint8_t *payload = nic->segment.bounce_payload + (uint64_t)index * SNIC_BOUNCE_BYTES;
    uint64_t address = b->address, length = b->length;
    int write = b->write == 1, rc = -EFAULT;
    pthread_mutex_lock(&nic->control);
    if (length <= SNIC_BOUNCE_BYTES && range_is_known(nic, address, length))
        rc = copy_own(address, payload, length, write);
    pthread_mutex_unlock(&nic->control);
    b->result = rc;
    atomic_fetch_add_explicit(&nic->segment.header->bounced, 1, memory_order_relaxed);
    SNIC_STEP("bounce.served");
    atomic_store_explicit(&b->state, SNIC_BOUNCE_DONE, memory_order_release);
    snic_futex_wake(&b->state);
}

static void *helper_main(void *argument)
{
    snic_t *nic = argument;
    struct snic_header *h = nic->segment.header;
    while (!atomic_load_explicit(&nic->helper_stop, memory_order_acquire)) {
        uint32_t seen = atomic_load_explicit(&h->bounce_bell, memory_order_acquire);
        int served = 0;
        for (uint32_t i = 0; i < SNIC_BOUNCE_SLOTS; i++) {
            uint32_t asked = SNIC_BOUNCE_ASKED;
            /* Acquire; partner: the release store in bounce_ask. */
            if (!atomic_compare_exchange_strong_explicit(&nic->segment.bounce[i].state, &asked,
                                                         SNIC_BOUNCE_BUSY, memory_order_acq_rel,
                                                         memory_order_relaxed))
                continue;
            serve(nic, i);
            served = 1;
        }
        if (served)
            continue;
        atomic_fetch_add_explicit(&h->bounce_waiters, 1, memory_order_seq_cst);
        snic_futex_wait(&h->bounce_bell, seen, HELPER_SLICE_NS);
        atomic_fetch_sub_explicit(&h->bounce_waiters, 1, memory_order_relaxed);
    }
    return NULL;
}

int snic_bounce_start(snic_t *nic, char *why, size_t why_size)
{
    int rc = pthread_create(&nic->helper, NULL, helper_main, nic);
    if (rc != 0)
        SNIC_WHY("thread for foreignMemory=bounce: %s", strerror(rc));
    nic->helper_runs = rc == 0;
    return -rc;
}

void snic_bounce_stop(snic_t *nic)
{
    atomic_store_explicit(&nic->helper_stop, 1, memory_order_release);
    atomic_fetch_add_explicit(&nic->segment.header->bounce_bell, 1, memory_order_seq_cst);
    snic_futex_wake(&nic->segment.header->bounce_bell);
    pthread_join(nic->helper, NULL);
    nic->helper_runs = 0;
}
