/* Files of message queues: made by the first instance of a node, without a name after the last. */
#define _GNU_SOURCE
#include "gni_msgq.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 512
#define LOCK_TRIES 5000 /* of a millisecond each */
#define OPEN_TRIES 100
#define BYTES_MAX (1ull << 31)

static uint64_t stride_of(const gni_msgq_attr_t *attrs)
{
    return (sizeof(struct gni_msgq_slot) + attrs->max_msg_sz + 63) & ~63ull;
}

static uint64_t slots_at(const gni_msgq_attr_t *attrs)
{
    return (sizeof(struct gni_msgq_node) +
            attrs->num_msgq_eps * sizeof(struct gni_msgq_connection) + 63) &
           ~63ull;
}

uint64_t gni_msgq_bytes(const gni_msgq_attr_t *attrs)
{
    uint64_t bytes;

    if (attrs->max_msg_sz == 0 || attrs->max_msg_sz > GNI_MSGQ_MSG_SZ_MAX ||
        attrs->smsg_q_sz == 0 || attrs->smsg_q_sz > GNI_MSGQ_SLOTS_MAX ||
        attrs->num_msgq_eps == 0 || attrs->num_msgq_eps > GNI_MSGQ_CONNECTIONS_MAX ||
        attrs->nloc_insts == 0 || attrs->nloc_insts > GNI_MSGQ_NODE_INSTS_MAX ||
        (attrs->modes & ~GNI_MSGQ_MODE_BLOCKING))
        return 0;
    bytes = slots_at(attrs) + (uint64_t)attrs->num_msgq_eps * attrs->smsg_q_sz * stride_of(attrs);
    return bytes < BYTES_MAX ? bytes : 0;
}

struct gni_msgq_slot *gni_msgq_slot(const struct gni_msgq_node *node, const gni_msgq_attr_t *attrs,
                                    uint32_t connection, uint32_t slot)
{
    uint64_t index = (uint64_t)connection * attrs->smsg_q_sz + slot;

    return (struct gni_msgq_slot *)(void *)((uint8_t *)(uintptr_t)node + slots_at(attrs) +
                                            index * stride_of(attrs));
}

int gni_msgq_is_alive(struct gni_nic *nic, uint32_t pe, uint32_t inst)
{
    struct gni_peer *peer = gni_peer_find(nic, pe, inst);

    return peer != NULL && gni_peer_ready(nic, peer) == GNI_STATUS_OK;
}

/* ---- the file ---- */

static void path_of(const struct gni_nic *nic, uint32_t pe, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/gni-msgq-%u-%u-%08x-%x", snic_directory(getenv("GNI_SHIM_DIR")),
             (unsigned)getuid(), nic->cdm->ptag, nic->cdm->cookie, pe);
}

static int lock_file(int fd)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -errno;
        nanosleep(&pause, NULL);
    }
    return -EBUSY;
}

int gni_msgq_node_lock(const struct gni_msgq *q)
{
    return lock_file(q->fd);
}

void gni_msgq_node_unlock(const struct gni_msgq *q)
{
    flock(q->fd, LOCK_UN);
}

/* NULL: no memory. If the file is cut, the NIC handle is of no use any more. */
static struct gni_msgq_node *map_node(struct gni_nic *nic, int fd, uint64_t bytes)
{
    struct gni_msgq_node *node = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (node == MAP_FAILED)
        return NULL;
    if (snic_watch(nic->snic, node, bytes) == 0)
        return node;
    munmap(node, bytes);
    return NULL;
}

static void unmap_node(struct gni_nic *nic, struct gni_msgq_node *node, uint64_t bytes)
{
    snic_unwatch(nic->snic, node);
    munmap(node, bytes);
}

/* Ours, whole, and of this library's making. */
static struct gni_msgq_node *map_file(struct gni_nic *nic, int fd, uint32_t pe, uint64_t *bytes)
{
    struct gni_msgq_node *node;
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != getuid() ||
        (uint64_t)st.st_size < sizeof(*node))
        return NULL;
    *bytes = (uint64_t)st.st_size;
    node = map_node(nic, fd, *bytes);
    if (node == NULL)
        return NULL;
    if (node->magic != GNI_MSGQ_MAGIC || node->pe != pe || node->bytes != *bytes ||
        gni_msgq_bytes(&node->attrs) != *bytes || node->instances > GNI_MSGQ_NODE_INSTS_MAX) {
        unmap_node(nic, node, *bytes);
        return NULL;
    }
    return node;
}

/* Under the lock: instances that died go. */
static void prune(struct gni_msgq *q)
{
    struct gni_msgq_node *node = q->node;
    uint32_t count = node->instances; /* read once: another process may write nonsense */

    if (count > GNI_MSGQ_NODE_INSTS_MAX)
        count = GNI_MSGQ_NODE_INSTS_MAX;
    for (uint32_t i = 0; i < count;) {
        uint32_t inst = node->instance[i];

        if (inst != q->nic->inst && gni_msgq_is_alive(q->nic, node->pe, inst))
            i++;
        else /* also a predecessor of ours with this instance's number */
            node->instance[i] = node->instance[--count];
    }
    node->instances = count;
}

/* Under the lock of a file without content: space first, so that no access can fault. */
static gni_return_t build(struct gni_msgq *q)
{
    if (posix_fallocate(q->fd, 0, (off_t)q->bytes) != 0) {
        gni_fail("GNI_MsgqInit: no room for %llu bytes", (unsigned long long)q->bytes);
        return GNI_RC_ERROR_RESOURCE;
    }
    q->node = map_node(q->nic, q->fd, q->bytes);
    if (q->node == NULL)
        return GNI_RC_ERROR_NOMEM;
    q->node->bytes = q->bytes;
    q->node->pe = q->nic->pe;
    q->node->attrs = q->attrs;
    q->node->magic = GNI_MSGQ_MAGIC;
    return GNI_RC_SUCCESS;
}

static int is_same(const gni_msgq_attr_t *a, const gni_msgq_attr_t *b)
{
    return a->max_msg_sz == b->max_msg_sz && a->smsg_q_sz == b->smsg_q_sz &&
           a->rcv_pool_sz == b->rcv_pool_sz && a->num_msgq_eps == b->num_msgq_eps &&
           a->nloc_insts == b->nloc_insts && a->modes == b->modes && a->rcv_cq_sz == b->rcv_cq_sz;
}

static void let_go(struct gni_msgq *q)
{
    if (q->node != NULL)
        unmap_node(q->nic, q->node, q->bytes);
    if (q->fd >= 0) {
        flock(q->fd, LOCK_UN); /* a forked child may hold the file, too */
        close(q->fd);
    }
    q->node = NULL;
    q->fd = -1;
}

/* Under the lock: 1, or 0 when the file was left by the dead, and has lost its name. */
static int adopt(struct gni_msgq *q, const char *path)
{
    uint64_t bytes;

    q->node = map_file(q->nic, q->fd, q->nic->pe, &bytes);
    if (q->node != NULL) {
        q->bytes = bytes;
        prune(q);
        if (q->node->instances > 0)
            return 1;
        atomic_store_explicit(&q->node->is_closed, 1, memory_order_release);
    }
    unlink(path);
    return 0;
}

/* The file, locked, with its name still on it: 0 or -errno. */
static int open_file(struct gni_msgq *q, const char *path, struct stat *st)
{
    int error;

    q->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (q->fd < 0)
        return -errno;
    error = lock_file(q->fd);
    if (error == 0 && fstat(q->fd, st) != 0)
        error = -errno;
    return error;
}

/* We read nothing yet: a message that is being read in our name is a dead predecessor's. */
static void free_if_read(struct gni_msgq_slot *slot, uint64_t word)
{
    if (gni_msgq_state(word) == GNI_MSGQ_SLOT_READING)
        gni_msgq_free_slot(slot, word);
}

/* Under the lock. */
static gni_return_t take_part(struct gni_msgq *q)
{
    uint32_t count = q->node->instances; /* read once: another process may write nonsense */

    if (count >= q->attrs.nloc_insts) {
        gni_fail("GNI_MsgqInit: %u instances take part already", count);
        return GNI_RC_ERROR_RESOURCE;
    }
    gni_msgq_for_us(q, free_if_read);
    q->node->instance[count] = q->nic->inst;
    q->node->instances = count + 1;
    return GNI_RC_SUCCESS;
}

gni_return_t gni_msgq_node_join(struct gni_msgq *q)
{
    uint64_t bytes = q->bytes;
    char path[PATH_BYTES];

    path_of(q->nic, q->nic->pe, path);
    for (int tries = 0; tries < OPEN_TRIES; tries++, let_go(q)) {
        gni_return_t code = GNI_RC_SUCCESS;
        struct stat st;
        int error = open_file(q, path, &st);

        q->bytes = bytes;
        if (error != 0) {
            gni_fail("GNI_MsgqInit: %s: %s", path, strerror(-error));
            let_go(q);
            return error == -EACCES || error == -ELOOP ? GNI_RC_PERMISSION_ERROR
                                                       : GNI_RC_ERROR_RESOURCE;
        }
        if (st.st_nlink == 0)
            continue;
        if (st.st_size != 0 && !adopt(q, path))
            continue;
        if (q->node == NULL) {
            code = build(q);
            if (code != GNI_RC_SUCCESS)
                unlink(path);
        } else if (q->bytes != bytes || !is_same(&q->node->attrs, &q->attrs)) {
            /* The size, too: another process may have written the attributes since it was checked
             * by them. */
            gni_fail("GNI_MsgqInit: the node's queue has other attributes");
            code = GNI_RC_INVALID_STATE;
        }
        if (code == GNI_RC_SUCCESS)
            code = take_part(q);
        if (code != GNI_RC_SUCCESS)
            let_go(q);
        else
            gni_msgq_node_unlock(q);
        return code;
    }
    return GNI_RC_ERROR_RESOURCE;
}

void gni_msgq_node_leave(struct gni_msgq *q)
{
    char path[PATH_BYTES];

    if (gni_msgq_node_lock(q) == 0) {
        prune(q); /* ours, too */
        if (q->node->instances == 0) {
            path_of(q->nic, q->nic->pe, path);
            atomic_store_explicit(&q->node->is_closed, 1, memory_order_release);
            unlink(path);
        }
    }
    let_go(q);
    while (q->remotes != NULL) {
        struct gni_msgq_remote *remote = q->remotes;

        q->remotes = remote->next;
        unmap_node(q->nic, remote->node, remote->bytes);
        free(remote);
    }
}

/* ---- other nodes ---- */

static struct gni_msgq_remote *map_remote(struct gni_msgq *q, uint32_t pe)
{
    struct gni_msgq_remote *remote = calloc(1, sizeof(*remote));
    char path[PATH_BYTES];
    int fd;

    path_of(q->nic, pe, path);
    fd = remote ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd >= 0) {
        remote->node = map_file(q->nic, fd, pe, &remote->bytes);
        close(fd);
    }
    if (fd >= 0 && remote->node != NULL) {
        remote->attrs = remote->node->attrs;
        if (gni_msgq_bytes(&remote->attrs) != remote->bytes) { /* changed since it was checked */
            unmap_node(q->nic, remote->node, remote->bytes);
            remote->node = NULL;
        }
    }
    if (fd < 0 || remote->node == NULL) {
        free(remote);
        return NULL;
    }
    remote->pe = pe;
    remote->next = q->remotes;
    q->remotes = remote;
    return remote;
}

struct gni_msgq_remote *gni_msgq_remote(struct gni_msgq *q, uint32_t pe)
{
    struct gni_msgq_remote **at = &q->remotes, *remote;

    while (*at != NULL && (*at)->pe != pe)
        at = &(*at)->next;
    remote = *at;
    if (remote != NULL && atomic_load_explicit(&remote->node->is_closed, memory_order_acquire)) {
        *at = remote->next; /* perhaps there is a new one */
        unmap_node(q->nic, remote->node, remote->bytes);
        free(remote);
        remote = NULL;
    }
    if (remote == NULL)
        remote = map_remote(q, pe);
    /* A sender's slots are the receiver's: both must think of the same ones. */
    if (remote == NULL || remote->attrs.max_msg_sz != q->attrs.max_msg_sz ||
        remote->attrs.smsg_q_sz != q->attrs.smsg_q_sz)
        return NULL;
    return remote;
}
