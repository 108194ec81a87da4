/*
 * The collective engine. A channel is memory of its owner that peers map, found by its number;
 * there is no engine beside the processes. Whoever joins a reduction, or waits for one, does what
 * can be done: folds a channel whose children have all joined, hands the fold to the parent, and
 * takes the result down again. Rounds are counted for each channel alone. A round cannot pass
 * anybody by, for the next one needs his join; therefore one place for a result is enough.
 */
#ifndef GNI_CE_H
#define GNI_CE_H

#include "gni_library.h"

#define GNI_CE_MAGIC 0x3130304543494e47ull
#define GNI_CE_DEPTH 64u
#define GNI_CE_LEAF (1ull << 32)

/* Aries' status of a reduction (specification, section 4.3). */
enum gni_ce_status {
    GNI_CE_STATUS_UNEXPECTED = 0x32,
    GNI_CE_STATUS_DUPLICATE = 0x33,
    GNI_CE_STATUS_CHILD_INVALID = 0x34,
    GNI_CE_STATUS_INCONSISTENT = 0x35,
    GNI_CE_STATUS_RED_ID = 0x37,
    GNI_CE_STATUS_UNREACHABLE = 0x3d
};

/* What a leaf gives, what a channel hands up, what comes down. */
struct gni_ce_part {
    uint64_t operand[2];
    uint64_t red_id;
    uint32_t command; /* gni_ce_cmd_type_t */
    uint32_t mode;    /* GNI_CEMODE_* */
    uint32_t fpe;     /* GNI_CE_FPE_* raised below */
    uint32_t status;  /* enum gni_ce_status, or 0 */
};

struct gni_ce_member {
    uint32_t type;           /* gni_ce_child_t */
    struct gni_ce_where at;  /* the child's channel; of a leaf the address alone */
    _Atomic uint64_t leaf;   /* GNI_CE_LEAF and the instance, written by the leaf; 0: not known */
    _Atomic uint64_t joined; /* round that `given` belongs to; release, after it */
    struct gni_ce_part given;
};

struct gni_ce_channel {
    uint64_t magic;
    uint32_t id;
    snic_lock_t lock; /* the process that folds or takes a result */
    _Atomic uint32_t is_configured;
    uint32_t modes; /* GNI_CE_MODE_* */
    uint32_t has_parent;
    struct gni_ce_where parent;
    uint32_t parent_child;
    uint64_t ring_slots;
    snic_location_t ring;   /* of the queue that gets results */
    _Atomic uint64_t round; /* reductions that are over; release, after `result` */
    uint64_t up_round;      /* the last reduction that was handed up ... */
    uint64_t up_target;     /* ... and its round there; written before the parent's `joined` */
    struct gni_ce_part result;
    struct gni_ce_member child[GNI_CE_MAX_CHILDREN];
};

/* A channel of whatever process, mapped. */
struct gni_ce_place {
    struct gni_peer *peer;
    struct gni_ce_channel *channel;
};

struct gni_ce {
    snic_t *named; /* gni_ce_number.c */
    void *handle;
    struct gni_nic *nic;
    struct gni_ce *next;
    struct gni_cq *cq;
    struct gni_ce_channel *channel;
    uint32_t id;
};

/* ---- gni_ce_fold.c ---- */

int gni_ce_is_command(uint32_t command);
/* into := into (command) next; modes: GNI_CE_MODE_ROUND_*. */
void gni_ce_fold(struct gni_ce_part *into, const struct gni_ce_part *next, uint32_t modes);

/* ---- gni_ce_number.c ---- */

/* Gives the channel in that memory of ours a number: 0 or -errno. */
int gni_ce_take_number(struct gni_ce *ce, uint32_t memory, char *why);
void gni_ce_find(struct gni_nic *nic, uint32_t pe, uint32_t id, struct gni_ce_where *where);

/* ---- gni_ce_tree.c ---- */

/* enum gni_status */
uint32_t gni_ce_open(struct gni_nic *nic, const struct gni_ce_where *where,
                     struct gni_ce_place *place);
/* Does what can be done from this channel up to the root, and takes down what has come. */
uint32_t gni_ce_climb(struct gni_nic *nic, const struct gni_ce_place *place, uint32_t depth);
/* 1: a process whose join is missing is gone. */
int gni_ce_is_lost(struct gni_nic *nic, const struct gni_ce_place *place);

#endif
