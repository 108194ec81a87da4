/* Peers as an initiator sees them: attach, detach, liveness; and initiators as the owner sees them.
 */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- attach ---- */

/* One that lost bytes is dead for good, however whole its segment looks. */
static void remember_cut(snic_t *nic, uint64_t incarnation)
{
    pthread_mutex_lock(&nic->control);
    nic->cut[nic->cut_count++ % SNIC_CUT_MAX] = incarnation;
    pthread_mutex_unlock(&nic->control);
}

static int was_cut(snic_t *nic, uint64_t incarnation)
{
    int found = 0;
    pthread_mutex_lock(&nic->control);
    for (uint32_t i = 0; i < SNIC_CUT_MAX && i < nic->cut_count; i++)
        found |= nic->cut[i] == incarnation;
    pthread_mutex_unlock(&nic->control);
    return found;
}

/* Copies and checks the header of an open file, then maps it. */
static int map_peer(snic_peer_t *peer, int fd, uint64_t incarnation, char *why, size_t why_size)
{
    struct snic_header copy;
    struct stat st;
    char path[SNIC_WHY_MAX];
    snprintf(path, sizeof path, "%s", why && why_size ? why : "segment");
    ssize_t n = pread(fd, &copy, sizeof copy, 0);
    if (n != (ssize_t)sizeof copy || fstat(fd, &st) != 0) {
        SNIC_WHY("%s: %zd bytes are too few for a segment", path, n);
        return -EPROTO;
    }
    int rc = snic_segment_check(&copy, (uint64_t)st.st_size, peer->nic->pid_namespace,
                                &peer->segment, why, why_size);
    if (rc != 0)
        return rc;
    if (copy.personality != peer->nic->personality) {
        SNIC_WHY("%s: personality %u, ours is %u", path, copy.personality, peer->nic->personality);
        return -EPROTOTYPE;
    }
    if (incarnation != 0 && incarnation != copy.incarnation) {
        SNIC_WHY("%s: incarnation %016llx, wanted %016llx: the process was restarted", path,
                 (unsigned long long)copy.incarnation, (unsigned long long)incarnation);
        return -ESTALE;
    }
    if (was_cut(peer->nic, copy.incarnation)) {
        SNIC_WHY("%s: somebody cut its segment or its memory while it was in use", path);
        return -EIO;
    }
    rc = snic_map_file(fd, copy.segment_bytes, 0, &peer->damage, SNIC_DAMAGE_SEGMENT,
                       &peer->segment.base);
    if (rc != 0) {
        SNIC_WHY("%s: mmap of %llu bytes: %s", path, (unsigned long long)copy.segment_bytes,
                 strerror(-rc));
        return rc;
    }
    snic_segment_point(&peer->segment, &copy);
    return 0;
}

static int watch_peer(snic_peer_t *peer, char *why, size_t why_size)
{
    char path[SNIC_WHY_MAX];
    snprintf(path, sizeof path, "%s", why && why_size ? why : "segment");
    peer->pidfd = snic_process_pidfd(peer->segment.pid);
    if (peer->pidfd < 0 && errno == EMFILE) {
        SNIC_WHY("%s: no file descriptor left to watch its process (ulimit -n)", path);
        return -EMFILE;
    }
    /* After the pidfd is open: the start time shows whether it is the owner or a later user of the
     * pid. */
    if (snic_process_liveness(peer->segment.pid, peer->segment.start_time) == SNIC_DEAD) {
        SNIC_WHY("%s: its process %u is dead", path, peer->segment.pid);
        return -ENOENT;
    }
    uint32_t state = atomic_load_explicit(&peer->segment.header->state, memory_order_acquire);
    if (state != SNIC_STATE_OPEN) {
        SNIC_WHY("%s: %s", path, state < SNIC_STATE_OPEN ? "not published yet" : "is closing");
        return state < SNIC_STATE_OPEN ? -ECONNREFUSED : -ENOENT;
    }
    return 0;
}

static int claim_slot(snic_peer_t *peer, uint32_t slot, int from_dead)
{
    struct snic_initiator *i = &peer->segment.initiators[slot];
    uint64_t word = atomic_load_explicit(&i->state, memory_order_acquire);
    int is_free = SNIC_SLOT_STATE(word) == SNIC_SLOT_FREE;
    if (from_dead ? is_free || snic_slot_liveness(&peer->segment, slot, 0) != SNIC_DEAD : !is_free)
        return 0;
    uint32_t epoch = (SNIC_SLOT_EPOCH(word) + 1) & 0x3fffffffu;
    epoch = epoch ? epoch : 1;
    if (!atomic_compare_exchange_strong_explicit(
            &i->state, &word, SNIC_SLOT_WORD(peer->nic->pid, epoch, SNIC_SLOT_CLAIMED),
            memory_order_acq_rel, memory_order_relaxed))
        return 0;
    SNIC_STEP("attach.claimed");
    if (from_dead)
        atomic_fetch_add_explicit(&peer->segment.header->slots_reclaimed, 1, memory_order_relaxed);
    for (int p = 0; p < SNIC_PINS; p++)
        atomic_store_explicit(&i->pins[p], 0, memory_order_relaxed);
    i->start_time = peer->nic->start_time;
    i->pid_namespace = peer->nic->pid_namespace;
    i->incarnation = peer->nic->incarnation;
    memcpy(i->identity, peer->nic->identity, sizeof i->identity);
    memcpy(i->name, peer->nic->name, sizeof i->name);
    SNIC_STEP("attach.filled");
    uint32_t high =
        atomic_load_explicit(&peer->segment.header->initiators_high, memory_order_relaxed);
    while (high < slot + 1 && !atomic_compare_exchange_weak_explicit(
                                  &peer->segment.header->initiators_high, &high, slot + 1,
                                  memory_order_seq_cst, memory_order_relaxed))
        ;
    /* Partner: the acquire load in snic_slot_liveness and wherever a slot's fields are read. */
    atomic_store_explicit(&i->state, SNIC_SLOT_WORD(peer->nic->pid, epoch, SNIC_SLOT_IN_USE),
                          memory_order_release);
    SNIC_STEP("attach.in_use");
    peer->mine = i;
    peer->slot = slot;
    peer->epoch = epoch;
    peer->token = SNIC_TOKEN(slot, epoch);
    return 1;
}

static int take_slot(snic_peer_t *peer, char *why, size_t why_size)
{
    for (int from_dead = 0; from_dead < 2; from_dead++)
        for (uint32_t slot = 0; slot < peer->segment.initiators_max; slot++)
            if (claim_slot(peer, slot, from_dead)) {
                atomic_fetch_add_explicit(&peer->segment.header->attaches, 1, memory_order_relaxed);
                return 0;
            }
    SNIC_WHY("%s: all %u initiator slots are taken by live processes", peer->name,
             peer->segment.initiators_max);
    return -EUSERS;
}

static void free_peer(snic_peer_t *peer)
{
    snic_unmap_file(peer->segment.base, peer->segment.bytes, &peer->damage);
    if (peer->pidfd >= 0)
        close(peer->pidfd);
    pthread_mutex_destroy(&peer->mapping);
    free(peer->memories);
    free(peer);
}

int snic_attach(snic_t *nic, const char *name, uint64_t incarnation, snic_peer_t **out, char *why,
                size_t why_size)
{
    char text[SNIC_WHY_MAX];
    if (snic_is_forked(nic))
        return -ECHILD;
    if (!snic_name_is_valid(name, SNIC_NAME_MAX - 1)) {
        SNIC_WHY("peer '%.80s' is not a name", name ? name : "");
        return -EINVAL;
    }
    snprintf(text, sizeof text, "%.400s/%s", nic->path, name);
    int fd = openat(nic->job_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        int error = errno;
        SNIC_WHY("%s: %s", text, strerror(error));
        return -error;
    }
    snic_peer_t *peer = calloc(1, sizeof *peer);
    if (!peer) {
        close(fd);
        return -ENOMEM;
    }
    pthread_mutex_init(&peer->mapping, NULL);
    peer->pidfd = -1;
    peer->nic = nic;
    peer->alive = nic->alive;
    snprintf(peer->name, sizeof peer->name, "%s", name);
    SNIC_STEP("attach.before");
    int rc = map_peer(peer, fd, incarnation, text, sizeof text);
    close(fd);
    if (rc == 0) {
        snprintf(text, sizeof text, "%.400s/%s", nic->path, name);
        rc = watch_peer(peer, text, sizeof text);
    }
    if (rc == 0 && !(peer->memories = calloc(peer->segment.memories_max, sizeof *peer->memories)))
        rc = -ENOMEM;
    if (rc == 0)
        rc = take_slot(peer, text, sizeof text);
    if (rc != 0) {
        SNIC_WHY("%s", text);
        free_peer(peer);
        return rc;
    }
    peer->owner_fences = nic->fences && peer->segment.header->owner_fences == 1;
    pthread_mutex_lock(&nic->control);
    nic->peers++;
    pthread_mutex_unlock(&nic->control);
    *out = peer;
    return 0;
}

int snic_detach(snic_peer_t *peer)
{
    if (*peer->alive != 1)
        return -ECHILD;
    for (int p = 0; p < SNIC_PINS; p++)
        atomic_store_explicit(&peer->mine->pins[p], 0, memory_order_release);
    SNIC_STEP("detach.before");
    uint64_t word = SNIC_SLOT_WORD(peer->nic->pid, peer->epoch, SNIC_SLOT_IN_USE);
    atomic_compare_exchange_strong_explicit(&peer->mine->state, &word,
                                            SNIC_SLOT_WORD(0, peer->epoch, SNIC_SLOT_FREE),
                                            memory_order_acq_rel, memory_order_relaxed);
    SNIC_STEP("detach.after");
    if (snic_peer_is_damaged(peer))
        remember_cut(peer->nic, peer->segment.incarnation);
    snic_peer_unmap_all(peer);
    pthread_mutex_lock(&peer->nic->control);
    peer->nic->peers--;
    pthread_mutex_unlock(&peer->nic->control);
    free_peer(peer);
    return 0;
}

void *snic_peer_area(snic_peer_t *peer)
{
    return peer->segment.area;
}

uint64_t snic_peer_area_bytes(const snic_peer_t *peer)
{
    return peer->segment.area_bytes;
}

uint32_t snic_peer_slot(const snic_peer_t *peer)
{
    return peer->slot;
}

uint64_t snic_peer_incarnation(const snic_peer_t *peer)
{
    return peer->segment.incarnation;
}

void snic_peer_view(snic_peer_t *peer, snic_view_t *view)
{
    view->header = peer->segment.header;
    view->initiator = peer->mine;
    view->registrations = peer->segment.registrations;
    view->registrations_max = peer->segment.registrations_max;
    view->owner_fences = peer->owner_fences;
    view->damage = &peer->damage;
}

int snic_peer_liveness(snic_peer_t *peer)
{
    char state;
    uint64_t start_time;
    if (snic_peer_is_damaged(peer))
        return SNIC_DEAD;
    if (peer->pidfd < 0)
        return snic_process_liveness(peer->segment.pid, peer->segment.start_time);
    if (snic_pidfd_dead(peer->pidfd))
        return SNIC_DEAD;
    if (snic_process_stat(peer->segment.pid, &state, &start_time) != 0)
        return snic_pidfd_dead(peer->pidfd) ? SNIC_DEAD : SNIC_ALIVE;
    return state == 'T' || state == 't' ? SNIC_STOPPED : SNIC_ALIVE;
}

int snic_peer_is_open(const snic_peer_t *peer)
{
    /* The look at the header may be what finds the damage. */
    return atomic_load_explicit(&peer->segment.header->state, memory_order_acquire) ==
               SNIC_STATE_OPEN &&
           !snic_peer_is_damaged(peer);
}

int snic_initiator_liveness(snic_t *nic, uint32_t slot)
{
    return snic_slot_liveness(&nic->segment, slot, 0);
}

int snic_peer_initiator_liveness(snic_peer_t *peer, uint32_t slot, uint32_t epoch)
{
    return snic_slot_liveness(&peer->segment, slot, epoch);
}
