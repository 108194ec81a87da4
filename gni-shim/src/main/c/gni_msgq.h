/*
 * Message queues shared by the instances of a node (one address of a NIC). A node's part is a file
 * in shared memory: who takes part, its connections, and for each connection the messages that came
 * from there. A sender claims a free slot at the receiving node, which is its credit, and fills it;
 * the instance that it was for frees it after the callback. All slots of a connection are shared by
 * all instances of the sending node.
 */
#ifndef GNI_MSGQ_H
#define GNI_MSGQ_H

#include "gni_library.h"

#define GNI_MSGQ_MAGIC 0x3151474d494e47ull
#define GNI_MSGQ_CONNECTIONS_MAX 4096u
#define GNI_MSGQ_SLOTS_MAX 65536u
#define GNI_MSGQ_NONE 0xffffffffu

enum gni_msgq_state { GNI_MSGQ_FREE = 0, GNI_MSGQ_ASKED = 1, GNI_MSGQ_ACTIVE = 2 };

struct gni_msgq_connection {
    _Atomic uint32_t state; /* enum gni_msgq_state */
    uint32_t pe;            /* of the other node */
    uint32_t generation;    /* of this record */
    uint32_t remote_index;  /* of the other node's record for us, and its generation */
    uint32_t remote_generation;
    uint32_t pad;
    _Atomic uint64_t order; /* messages that ever came */
};

/* Under the file's lock, but for what is _Atomic. */
struct gni_msgq_node {
    uint64_t magic;
    uint64_t bytes;
    uint32_t pe;
    _Atomic uint32_t is_closed; /* no process attaches any more; the file has no name */
    gni_msgq_attr_t attrs;
    uint32_t instance[GNI_MSGQ_NODE_INSTS_MAX];
    uint32_t instances;
    uint32_t pad[3];
    struct gni_msgq_connection connection[]; /* num_msgq_eps of them, then the slots */
};

/* state (2 bits) | a count (30 bits) | instance (32 bits): of the process that must act next. */
enum gni_msgq_slot_state {
    GNI_MSGQ_SLOT_FREE = 0,
    GNI_MSGQ_SLOT_CLAIMED = 1, /* by the sending instance */
    GNI_MSGQ_SLOT_FULL = 2,    /* for the receiving instance */
    GNI_MSGQ_SLOT_READING = 3  /* by it */
};
struct gni_msgq_slot {
    _Atomic uint64_t word;
    uint64_t order;
    uint32_t from;
    uint32_t tag;
    uint64_t pad;
    uint8_t bytes[];
};
_Static_assert(sizeof(struct gni_msgq_slot) == 32, "gni_msgq_slot");

static inline uint32_t gni_msgq_state(uint64_t word)
{
    return (uint32_t)word & 3u;
}

static inline uint32_t gni_msgq_instance(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

/* Another count, so that no process takes a slot for the one that it saw before. */
static inline uint64_t gni_msgq_word(uint64_t before, uint32_t state, uint32_t instance)
{
    return (((before >> 2) + 1) & 0x3fffffffull) << 2 | state | (uint64_t)instance << 32;
}

/* Another node's file, mapped. */
struct gni_msgq_remote {
    struct gni_msgq_remote *next;
    uint32_t pe;
    struct gni_msgq_node *node;
    uint64_t bytes;
    gni_msgq_attr_t attrs; /* as they were when its bytes were checked by them */
};

struct gni_msgq {
    void *handle;
    struct gni_nic *nic;
    gni_msgq_rcv_cb_func *callback;
    void *data;
    struct gni_cq *cq;
    gni_msgq_attr_t attrs;
    int fd;
    struct gni_msgq_node *node;
    uint64_t bytes;
    struct gni_msgq_remote *remotes;
    uint32_t first; /* connection that is looked at first the next time */
    uint64_t reclaimed_ns;
};

/* ---- gni_msgq_node.c ---- */

uint64_t gni_msgq_bytes(const gni_msgq_attr_t *attrs); /* 0: attributes that cannot be */
struct gni_msgq_slot *gni_msgq_slot(const struct gni_msgq_node *node, const gni_msgq_attr_t *attrs,
                                    uint32_t connection, uint32_t slot);
/* Joins the node's queue, makes it if we are the first; the file stays locked no longer. */
gni_return_t gni_msgq_node_join(struct gni_msgq *q);
void gni_msgq_node_leave(struct gni_msgq *q);
int gni_msgq_node_lock(const struct gni_msgq *q); /* 0 or -errno */
void gni_msgq_node_unlock(const struct gni_msgq *q);
/* The other node, mapped now or before; NULL: it is not there, or of another making. */
struct gni_msgq_remote *gni_msgq_remote(struct gni_msgq *q, uint32_t pe);
int gni_msgq_is_alive(struct gni_nic *nic, uint32_t pe, uint32_t inst);
/* ---- gni_msgq.c, gni_msgq_connect.c ---- */

/* Calls `look` with every slot of ours that holds a message for us; 1 if any. */
int gni_msgq_for_us(struct gni_msgq *q, void (*look)(struct gni_msgq_slot *, uint64_t));
void gni_msgq_free_slot(struct gni_msgq_slot *slot, uint64_t word); /* if that is its word still */
/* The connection to the node with this address, or GNI_MSGQ_NONE. */
uint32_t gni_msgq_find(const struct gni_msgq *q, uint32_t pe);
/* The node that connection `index` leads to, and the number of ours there; NULL: it has gone, or
 * has released the connection. */
struct gni_msgq_remote *gni_msgq_far_side(struct gni_msgq *q, uint32_t index, uint32_t *there);

#endif
