/* What the files of libugni share among themselves. */
#ifndef GNI_LIBRARY_H
#define GNI_LIBRARY_H

#include <pthread.h>
#include <stdio.h>
#include "gni_area.h"
#include "gni_ext.h"
#include "gni_lock.h"
#include "softnic_reach.h"

#define GNI_DEVICES_MAX 4u
#define GNI_ADDRESS_ANY 0xffffffffu
#define GNI_PEER_BUCKETS 1024u
#define GNI_LIVENESS_NS 50000000ull /* mapped memory of the dead takes puts: look this often */
#define GNI_LIVENESS_POSTS 16u      /* or, where no thread waits, at this many posts */
#define GNI_LOCK_NS 200000000ll
#define GNI_SLICE_NS                                                                               \
    50000000ll /* a process that dies between publishing and ringing wakes no one */
#define GNI_DEREGISTER_MS 5000u

/* Type words of the objects, as in the interface's own library. */
enum gni_kind {
    GNI_KIND_CDM = 0,
    GNI_KIND_NIC = 1,
    GNI_KIND_EP = 2,
    GNI_KIND_CQ = 4,
    GNI_KIND_ERR = 5,
    GNI_KIND_MSGQ = 6,
    GNI_KIND_CE = 7,
    GNI_KIND_CHAN = 8
};

/* Hardware status of a transaction (specification, section 4.3). */
enum gni_status {
    GNI_STATUS_OK = 0,
    GNI_STATUS_TRANSLATION = 5,
    GNI_STATUS_MDD_INVALID = 7,
    GNI_STATUS_PROTECTION = 8,
    GNI_STATUS_BOUNDS = 9,
    GNI_STATUS_READ_ONLY = 10,
    GNI_STATUS_UNREACHABLE = 11,
    GNI_STATUS_BUSY = 13 /* another process sits on what it needs: nothing happened */
};
enum gni_source {
    GNI_SOURCE_SREQ = 1,
    GNI_SOURCE_BTE = 4,
    GNI_SOURCE_REMOTE = 5,
    GNI_SOURCE_CE = 6
};
#define GNI_ENTRY(source, status, type, tid, id)                                                   \
    ((uint64_t)(uint32_t)(id) | (uint64_t)(tid) << 32 | (uint64_t)(type) << 54 |                   \
     (uint64_t)(source) << 56 | (uint64_t)(status) << 59)
#define GNI_ENTRY_OVERRUN (1ull << 63)

/* Takes an item out of the list that begins at `head`. next: the items' field. */
#define GNI_UNLINK(head, item, next)                                                               \
    for (__typeof__(head) *at = &(head); *at != NULL; at = &(*at)->next)                           \
        if (*at == (item)) {                                                                       \
            *at = (item)->next;                                                                    \
            break;                                                                                 \
        }

/* A message to be sent. */
struct gni_message {
    const void *header, *data;
    uint32_t header_length, data_length;
    uint32_t id;
    uint8_t tag;
};

struct gni_cdm {
    void *handle;
    uint32_t inst;
    uint32_t cookie;
    uint32_t modes;
    uint8_t ptag;
    pthread_mutex_t lock;
    struct gni_nic *nics[GNI_DEVICES_MAX];
};

/* Another NIC handle of the domain, also our own. Lives as long as the NIC that looks at it. */
struct gni_peer {
    struct gni_peer *next;
    uint32_t pe;
    uint32_t inst;
    snic_peer_t *snic; /* NULL: not attached */
    struct gni_view view;
    uint32_t drops; /* 1 and more: after letting go of it what was found out before is void */
    uint32_t turn;  /* the NIC's, when we looked at the clock, */
    uint32_t posts; /* and how many posts ago that was */
    uint64_t checked_ns;
    uint64_t pinned; /* incarnation; 0: any */
    uint32_t walk;   /* the NIC's, when a channel of it was mapped */
};

/* What an endpoint found out about a registration at its NIC address. */
struct gni_reach {
    struct gni_peer *peer;             /* the registrant; NULL: nothing yet */
    gni_mem_handle_t handle;           /* as it came, with a good CRC; all zero: nothing yet */
    uint32_t drops;                    /* the registrant's, then */
    uint32_t is_mapped;                /* `snic` can be used, and `at` is where mdh.address lies */
    uint32_t written;                  /* may be: the same; else 0 */
    uint32_t generation;               /* of mdh; */
    const _Atomic uint32_t *published; /* where its owner changes that */
    uint8_t *at;
    struct gni_ring *ring; /* mapped, too, if there is one */
    struct gni_mdh mdh;
    snic_reach_t snic;
};
#define GNI_REACHES 4u

/* O's own record of a registration; nothing of it is read back from the shared one. */
struct gni_own_mdh {
    uint32_t is_live;
    uint32_t generation;
    uint32_t flags;
    uint32_t segment_first;
    uint32_t segment_count;
    uint64_t address;
    uint64_t length;
    snic_key_t key;
    gni_mem_segment_t *segments; /* addresses, of a registration in segments */
    snic_key_t *keys;
    struct gni_cq *cq;
    uint32_t next;
    gni_mem_handle_t handle;       /* that was given out */
    struct gni_reserved *reserved; /* gni_reserve.c; NULL: an ordinary registration */
};

/* What O alone knows of a datagram. */
struct gni_own_datagram {
    struct gni_ep *ep; /* NULL: not posted by us */
    uint32_t is_left;  /* its endpoint went while the table could not be locked: free it later */
    void *out;
    uint32_t out_size;
    int has_id;
    uint64_t id; /* not read back from the table, where another process may write */
    uint64_t next_try_ns;
    uint64_t give_up_ns;
};

struct gni_nic {
    void *handle;
    struct gni_cdm *cdm;
    uint32_t device;
    uint32_t pe;
    uint32_t inst;
    uint32_t modes;
    struct gni_lock lock; /* every call; never held while sleeping */
    snic_t *snic;
    struct gni_view view;
    struct gni_peer *peers[GNI_PEER_BUCKETS];
    struct gni_own_mdh *mdh;
    uint32_t mdh_head, mdh_tail, mdh_used;
    uint32_t mdh_limit;
    uint8_t *segment_used;
    struct gni_own_datagram *datagrams;
    uint32_t datagrams_high; /* at or above it we posted nothing; the shared one is not trusted */
    uint32_t datagrams_left;
    uint64_t datagram_order;
    uint32_t undelivered;
    uint32_t turn; /* grows when a thread found nothing to do: there is time for the clock */
    struct gni_ep *eps;
    struct gni_cq *cqs;
    struct gni_request *deferred, **deferred_end; /* GNI_SHIM_DEFER: posts that wait */
    uint32_t is_deferring;
    uint32_t bounds_pages;
    uint32_t is_strict;
    uint32_t is_aries;
    uint32_t statistics[GNI_NUM_STATS];
    uint8_t *staging; /* a message being sent */
    struct gni_err *errors;
    struct gni_comp_chan *chans;
    struct gni_ce *ces;
    struct gni_msgq *msgq;
    FILE *maps;                /* /proc/self/maps, once it was asked */
    struct gni_ep *ce_waiting; /* leaves whose result has not come */
    uint32_t ce_walk;          /* odd: one of them looks into channels, which stay mapped */
};

enum gni_request_kind { GNI_REQUEST_FREE = 0, GNI_REQUEST_POST = 1, GNI_REQUEST_SMSG = 2 };
struct gni_request {
    uint8_t kind;
    uint8_t events;    /* to be fetched */
    uint8_t completed; /* to be asked for by GNI_GetCompleted after their fetch */
    uint8_t status;    /* enum gni_status */
    uint32_t tid;      /* in entries; 0 is none */
    struct gni_cq *cq;
    struct gni_ep *ep; /* NULL: destroyed meanwhile */
    gni_post_descriptor_t *descriptor;
    uint64_t post_id;
    struct gni_request *next; /* deferred */
};

struct gni_cq {
    void *handle;
    struct gni_nic *nic;
    struct gni_cq *next;
    uint32_t mode;
    uint32_t capacity;
    void (*handler)(gni_cq_entry_t *, void *);
    void *context;
    uint32_t eps;
    uint32_t memories;
    uint32_t ces;  /* channels of the collective engine that write into it */
    uint32_t mask; /* GNI_CqInterruptMask */
    struct gni_comp_chan *chan;
    uint32_t armed;
    uint32_t is_fired;         /* in the channel's list */
    struct gni_cq *next_fired; /* there */
    /* as a source */
    struct gni_request *requests;
    uint32_t *free; /* indices of requests: a stack */
    uint32_t free_count;
    uint32_t request_count;
    uint64_t *events;
    uint32_t event_slots;
    uint32_t event_head, event_tail;
    /* as a destination */
    struct gni_ring *ring;
    snic_location_t ring_location;
    uint64_t ring_slots;
    uint32_t has_told; /* of an overrun, and no event was fetched since */
};

/* What lies where in a mailbox: gni_mailbox.c. */
struct gni_mailbox {
    uint32_t credits;
    uint32_t longest; /* message, in bytes */
    uint32_t released_at, wanted_at, first;
    uint64_t stride;
};

struct gni_smsg {
    uint32_t is_ready;
    uint32_t is_broken;
    struct gni_mailbox in, out; /* ours, the peer's */
    uint8_t *local;             /* ours */
    gni_mem_handle_t handle;    /* of the peer's */
    uint64_t remote;            /* address of the peer's */
    uint64_t sent, returned;
    uint64_t reported; /* of the returned: what the peer has reported, not what was read there */
    uint64_t received, released;
    uint64_t stored;    /* of the released: what the peer can find without looking here, */
    uint64_t announced; /* and what a message or an event has reported to it */
    uint64_t wanted;    /* as stored there */
    uint64_t send_slot, receive_slot; /* offsets in a mailbox */
    uint32_t has_current;
    struct gni_reach reach;
};

/* A channel of the collective engine. */
struct gni_ce_where {
    uint32_t pe, id; /* as its users know it, */
    uint32_t inst, memory;
    uint32_t is_found; /* and what follows from that */
};

/* An endpoint's part in the collective engine. */
struct gni_ep_ce {
    uint32_t type;          /* gni_ce_child_t */
    struct gni_ce_where at; /* the channel at the other end */
    uint32_t child;
    uint32_t mode;
    uint32_t is_waiting; /* for a result; then what follows counts */
    uint64_t round;
    uint64_t looked_ns;
    struct gni_request *request; /* NULL: no event was asked for */
    gni_post_descriptor_t *descriptor;
    gni_ce_result_t *result;
    struct gni_ep *next;
};

struct gni_ep {
    void *handle;
    struct gni_nic *nic;
    struct gni_ep *next;
    struct gni_cq *cq;
    uint32_t is_bound;
    uint32_t pe, inst; /* inst: of the peer for datagrams and MSGQ alone */
    uint32_t local_event, remote_event;
    uint32_t outstanding;
    struct gni_peer *peer; /* that instance */
    struct gni_smsg smsg;
    struct gni_ep_ce ce;
    struct gni_reach *recent;            /* the one of `reach` that was used last */
    struct gni_reach reach[GNI_REACHES]; /* by the index in the handle */
};

/* ---- gni_handles.c: index and generation in place of a pointer ---- */

void *gni_handle_give(enum gni_kind kind, void *object); /* NULL: none left */
void gni_handle_take(void *handle);

#define GNI_HANDLE_CHUNK 1024u
#define GNI_HANDLE_CHUNKS 1024u
struct gni_handle_entry {
    _Atomic uint64_t word; /* generation << 4 | kind, or 0: free */
    void *object;
    uint64_t generation;
    uint32_t next;
};
extern _Atomic(struct gni_handle_entry *) gni_handle_chunk[GNI_HANDLE_CHUNKS];

static inline struct gni_handle_entry *gni_handle_entry_at(uint32_t index)
{
    struct gni_handle_entry *chunk =
        index / GNI_HANDLE_CHUNK < GNI_HANDLE_CHUNKS
            ? atomic_load_explicit(&gni_handle_chunk[index / GNI_HANDLE_CHUNK],
                                   memory_order_acquire)
            : NULL;

    return chunk ? &chunk[index % GNI_HANDLE_CHUNK] : NULL;
}

static inline void *gni_handle_find(const void *handle, enum gni_kind kind)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    struct gni_handle_entry *entry = gni_handle_entry_at((uint32_t)(value >> 4) & 0xfffffu);

    /* Free entries have the word 0, which is that of no kind but the first. */
    if (entry == NULL || (value & 0xf) != (uint64_t)kind || (kind == 0 && value >> 24 == 0))
        return NULL;
    /* Partner: the release store in gni_handle_give. */
    if (atomic_load_explicit(&entry->word, memory_order_acquire) !=
        (value >> 24 << 4 | (uint64_t)kind))
        return NULL;
    return entry->object;
}

/* ---- gni_cdm.c ---- */

/* Texts begin with the call's name, but for what is said of a peer or of damaged memory. */
void gni_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* At the beginning of a call that names itself in texts, and may fail without one. */
void gni_forget_failure(void);
uint32_t gni_device_count(void);
int gni_device_is_aries(void);
uint8_t gni_ptag_of(uint32_t cookie);
void gni_job_of(const struct gni_cdm *cdm, char job[SNIC_NAME_MAX]);

/* ---- gni_peer.c ---- */

struct gni_peer *gni_peer_find(struct gni_nic *nic, uint32_t pe, uint32_t inst);
/* The same, ready; one that was not known and is not there leaves nothing behind. enum gni_status
 */
uint32_t gni_peer_reach(struct gni_nic *nic, uint32_t pe, uint32_t inst, struct gni_peer **peer);
/* enum gni_status: OK when the peer is attached and, as far as we know, alive. */
uint32_t gni_peer_ready(struct gni_nic *nic, struct gni_peer *peer);
void gni_peer_drop(struct gni_peer *peer);
/* GNI_RC_SUCCESS, or INVALID_STATE: a file of the handle's memory was cut. Asked where there is
 * nothing to do. */
gni_return_t gni_nic_whole(const struct gni_nic *nic);
/* It is time to ask for the clock, and perhaps whether it lives: after a call that found nothing to
 * do, and at every GNI_LIVENESS_POSTSth post. */
static inline int gni_peer_is_due(const struct gni_nic *nic, struct gni_peer *peer)
{
    return ++peer->posts >= GNI_LIVENESS_POSTS || peer->turn != nic->turn;
}
void gni_peers_close(struct gni_nic *nic);

/* ---- gni_mem.c ---- */

/* Address of [address, address+length) of our own registration: enum gni_status. A transfer into
 * segments comes in pieces: *piece is how much lies at *at. */
uint32_t gni_local_range(struct gni_nic *nic, const gni_mem_handle_t *handle, uint64_t address,
                         uint64_t length, uint8_t **at, uint64_t *piece);
void gni_mem_close(struct gni_nic *nic);
/* Steps of a registration; the lock is held. */
int gni_mem_key(struct gni_nic *nic, uint64_t address, uint64_t length, uint32_t flags,
                uint64_t *base, snic_key_t *key);
gni_return_t gni_mem_code(int error);
int gni_mem_prepare_ring(struct gni_cq *cq); /* of the destination, or NULL; 0 or -errno */
int gni_mem_take_index(struct gni_nic *nic, uint32_t *index);
/* Ends these keys: 0, or -ETIMEDOUT as snic_deregister. */
int gni_mem_drain(struct gni_nic *nic, const snic_key_t *keys, uint32_t count);
int gni_mem_take_segments(struct gni_nic *nic, uint32_t count, uint32_t *first);
void gni_mem_fill(struct gni_own_mdh *own, uint64_t address, uint64_t length, uint32_t flags,
                  struct gni_cq *cq);
void gni_mem_publish(struct gni_nic *nic, uint32_t index, uint64_t base);
void gni_mem_make_handle(struct gni_nic *nic, uint32_t index, gni_mem_handle_t *handle);

/* ---- gni_reserve.c: regions whose pages come later; the lock is held ---- */

gni_return_t gni_reserve(struct gni_nic *nic, uint64_t address, uint64_t length, struct gni_cq *cq,
                         uint32_t flags, gni_mem_handle_t *mem_hndl);
gni_return_t gni_reserve_update(struct gni_nic *nic, uint64_t address, uint64_t length,
                                const gni_mem_handle_t *mem_hndl);
int gni_reserve_drain(struct gni_nic *nic, const struct gni_own_mdh *own); /* as gni_mem_drain */
void gni_reserve_drop(struct gni_nic *nic, struct gni_own_mdh *own);
uint32_t gni_reserve_range(const struct gni_own_mdh *own, uint64_t address, uint64_t length,
                           uint8_t **at, uint64_t *piece); /* as gni_local_range */
uint32_t gni_reserve_held(const struct gni_own_mdh *own);  /* entries of the table of segments */
/* gni_maps.c: 0, -EFAULT not mapped, -EACCES mapped without the right. */
int gni_maps_check(struct gni_nic *nic, uint64_t address, uint64_t length, int writes);

/* ---- gni_cq.c ---- */

int gni_cq_source_prepare(struct gni_cq *cq); /* request pool; 0 or -ENOMEM */
/* One must be free. */
static inline struct gni_request *gni_cq_request(struct gni_cq *cq, uint8_t kind, uint8_t events)
{
    struct gni_request *request = &cq->requests[cq->free[--cq->free_count]];

    request->kind = kind;
    request->events = events;
    request->completed = 0;
    request->status = GNI_STATUS_OK;
    return request;
}
static inline void gni_cq_request_free(struct gni_request *request)
{
    struct gni_cq *cq = request->cq;

    request->kind = GNI_REQUEST_FREE;
    cq->free[cq->free_count++] = request->tid - 1;
}
static inline void gni_cq_append(struct gni_cq *cq, uint64_t entry)
{
    uint32_t tail = cq->event_tail;

    /* There is room: two events for each request. */
    cq->events[tail] = entry;
    cq->event_tail = ++tail == cq->event_slots ? 0 : tail;
}
static inline void gni_cq_push(struct gni_cq *cq, uint64_t entry)
{
    gni_cq_append(cq, entry);
    if (cq->mode & GNI_CQ_BLOCKING)
        snic_ring_self(cq->nic->snic);
}
int gni_cq_ring_prepare(struct gni_cq *cq, const char *call); /* 0 or -errno */
void gni_cq_free(struct gni_cq *cq);
int gni_cq_waits(struct gni_cq *cq); /* 0 nothing, 1 an event, 2 an overrun; under the lock */
/* Takes a request for the events of a post. */
static inline struct gni_request *gni_post_request(struct gni_ep *ep, struct gni_cq *cq,
                                                   gni_post_descriptor_t *d, uint8_t events)
{
    struct gni_request *request = gni_cq_request(cq, GNI_REQUEST_POST, events);

    request->ep = ep;
    request->descriptor = d;
    request->post_id = d->post_id;
    ep->outstanding += events != 0;
    d->status = GNI_RC_NOT_DONE;
    return request;
}
/* The event of a message, which has no descriptor. type: GNI_CQ_EVENT_TYPE_SMSG or _MSGQ. */
static inline void gni_cq_tell_sender(struct gni_ep *ep, struct gni_cq *cq, uint32_t status,
                                      uint32_t type, uint32_t msg_id)
{
    struct gni_request *request = gni_cq_request(cq, GNI_REQUEST_SMSG, 1);

    request->ep = ep;
    request->status = (uint8_t)status;
    ep->outstanding++;
    gni_cq_push(cq, GNI_ENTRY(GNI_SOURCE_SREQ, status, type, request->tid, msg_id));
}

/* ---- gni_post.c, gni_datagram.c, gni_channel.c, gni_errors.c ---- */

uint32_t gni_post_execute(struct gni_ep *ep, gni_post_descriptor_t *d); /* enum gni_status */
/* A queue with room for this post's events, or NULL with *code set. */
struct gni_cq *gni_post_source(struct gni_ep *ep, gni_cq_handle_t named, gni_return_t *code);
/* gni_post_check.c */
int gni_post_is_unaligned(const gni_post_descriptor_t *d, uint64_t to);
gni_return_t gni_post_check_fma(const gni_post_descriptor_t *d);
/* Tells how a post went: in d when cq is NULL, else by events. */
void gni_post_account(struct gni_ep *ep, struct gni_cq *cq, gni_post_descriptor_t *d,
                      uint32_t status);
void gni_post_progress(struct gni_nic *nic); /* runs what waits; the lock is held */
void gni_post_forget(struct gni_ep *ep);
void gni_datagram_progress(struct gni_nic *nic);
int gni_datagram_pending(struct gni_ep *ep);
void gni_datagram_forget(struct gni_ep *ep);
void gni_channel_forget(struct gni_cq *cq); /* the lock is held */
void gni_channels_close(struct gni_nic *nic);
void gni_errors_close(struct gni_nic *nic);
void gni_errors_note(struct gni_nic *nic, uint32_t status);

/* ---- gni_ce.c; the lock is held ---- */

gni_return_t gni_ce_post(struct gni_ep *ep, gni_post_descriptor_t *d);
void gni_ce_progress(struct gni_nic *nic); /* gets what results there are */
void gni_ce_forget(struct gni_ep *ep);
void gni_ce_close(struct gni_nic *nic);

void gni_msgq_close(struct gni_nic *nic); /* gni_msgq.c */

/* ---- gni_mailbox.c ---- */

#define GNI_SMSG_SLOT_HEADER 16u
static inline uint64_t gni_mailbox_bytes(const struct gni_mailbox *m)
{
    return m->first + m->credits * m->stride;
}

#endif
