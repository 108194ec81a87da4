/*
 * What a NIC handle shares with its peers: its registrations, its datagrams, and the rings of its
 * destination queues (each in memory of its own that peers map). O is the owner, I an initiator.
 * Everything that is read here by another than its writer is checked.
 */
#ifndef GNI_AREA_H
#define GNI_AREA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "gni_pub.h"
#include "softnic.h"

#define GNI_AREA_MAGIC 0x314d494853494e47ull /* "GNISHIM1" in little-endian memory order */
#define GNI_AREA_VERSION 2u
#define GNI_MDHS 4096u /* 12 bits in a handle */
#define GNI_SEGMENTS 4096u
#define GNI_DATAGRAMS 1024u

struct gni_area {
    uint64_t magic;
    uint32_t version;
    uint32_t pe;
    uint32_t inst;
    uint32_t cookie;
    uint32_t ptag;
    uint32_t pad0;
    uint64_t bytes;
    uint8_t pad1[24];
    snic_lock_t atomics;             /* serialises AMOs on memory that peers do not map */
    snic_lock_t exchange;            /* the datagrams */
    _Atomic uint32_t datagrams_high; /* records at or above this were never used */
    uint8_t pad2[44];
};
_Static_assert(offsetof(struct gni_area, atomics) == 64, "gni_area.atomics");
_Static_assert(sizeof(struct gni_area) == 128, "gni_area");

/* A registration. generation is odd while it lives; O stores it last (release), and everything else
 * while it is even. I copies the record between two loads of it. */
struct gni_mdh {
    _Atomic uint32_t generation;
    uint32_t flags;         /* enum gni_mdh_flag */
    uint64_t address;       /* the first byte that may be named; 0 for segments */
    uint64_t length;        /* bytes that may be named */
    uint64_t base;          /* address of the key's first byte */
    snic_key_t key;         /* unless there are segments */
    uint32_t segment_first; /* in the table of segments */
    uint32_t segment_count; /* 0: one piece */
    snic_location_t ring;   /* of the destination queue; length 0: none */
    uint64_t ring_slots;
    uint8_t pad[40];
};
_Static_assert(sizeof(struct gni_mdh) == 128, "gni_mdh");
/* RESERVED: its segments are named by address, in order, and there may be gaps between them. */
enum gni_mdh_flag { GNI_MDH_READ_ONLY = 1, GNI_MDH_RESERVED = 2 };

struct gni_segment {
    uint64_t offset; /* of its first byte within the registration */
    uint64_t length;
    uint64_t base; /* of its first byte, within the key */
    snic_key_t key;
};
_Static_assert(sizeof(struct gni_segment) == 40, "gni_segment");

/*
 * Ring of a destination queue: this header, then `slots` words (a power of two). The word of
 * position p is gni_ring_empty(p) until an event is stored there by compare-and-swap, which both
 * claims and publishes: a process that dies has stored a whole event or none. Whoever finds the
 * word taken helps the tail on. O puts gni_ring_empty(p + slots) back after reading.
 */
struct gni_ring {
    uint64_t slots;
    uint64_t capacity; /* events that it may hold, at most slots */
    uint8_t pad0[48];
    _Atomic uint64_t tail;    /* position of the next event; I, by compare-and-swap */
    _Atomic uint32_t overrun; /* 1: an event was lost; I, release; O exchanges it for 0 */
    uint8_t pad1[52];
    _Atomic uint64_t head; /* position that O reads next; O, release, after the word */
    uint8_t pad2[120];
};
#define GNI_RING_HEADER 256
_Static_assert(sizeof(struct gni_ring) == GNI_RING_HEADER, "gni_ring");
static inline uint64_t gni_ring_empty(uint64_t position)
{
    return position & 0x00ffffffffffffffull; /* source 0: no event has that */
}
static inline int gni_ring_is_event(uint64_t word)
{
    return (word >> 56) != 0;
}

/* One exchange of datagrams, under the lock `exchange`. Data first, then state (release), so that
 * an initiator who dies leaves what was there before. */
enum gni_exchange {
    GNI_EXCHANGE_FREE = 0,
    GNI_EXCHANGE_LOCAL_READY = 1,    /* directed; O posted, the peer has not */
    GNI_EXCHANGE_OPEN = 2,           /* O posted for anybody */
    GNI_EXCHANGE_REMOTE_WAITING = 3, /* the peer posted, O has not */
    GNI_EXCHANGE_COMPLETED = 4,
    GNI_EXCHANGE_TERMINATED = 5,
    GNI_EXCHANGE_TIMEOUT = 6
};
struct gni_datagram {
    _Atomic uint32_t state;
    uint32_t has_id;
    uint32_t pe; /* of the peer; of an open one: set when matched */
    uint32_t inst;
    uint64_t order; /* of O's posting */
    uint64_t id;    /* of a waiting one: the incarnation whose bytes they are */
    uint32_t local_length;
    uint32_t remote_length;
    uint8_t pad[24];
    uint8_t local[GNI_DATAGRAM_MAXSIZE];
    uint8_t remote[GNI_DATAGRAM_MAXSIZE];
};
_Static_assert(sizeof(struct gni_datagram) == 320, "gni_datagram");

/* An area whose size and head were checked. */
struct gni_view {
    struct gni_area *area;
    struct gni_mdh *mdh;
    struct gni_segment *segment;
    struct gni_datagram *datagram;
};

uint64_t gni_area_bytes(void);
void gni_area_build(void *memory, uint32_t ptag, uint32_t cookie, uint32_t pe, uint32_t inst);
/* 0, or -EPROTO: too small, or of another making. */
int gni_view_open(struct gni_view *view, void *memory, uint64_t bytes);
/* Copies a live registration whose generation is `generation`: 0 or -ESTALE. */
int gni_mdh_copy(const struct gni_view *view, uint32_t index, uint32_t entropy,
                 struct gni_mdh *copy);

/* ---- rings ---- */

uint64_t gni_ring_bytes(uint64_t capacity);
void gni_ring_build(struct gni_ring *ring, uint64_t capacity);
/* Appends an event; a full ring is marked overrun (1). `slots` was checked against the memory. */
int gni_ring_append(struct gni_ring *ring, uint64_t slots, uint64_t event);
/* O: takes the oldest event: 1, or 0 when there is none. */
int gni_ring_take(struct gni_ring *ring, uint64_t slots, uint64_t *event);
int gni_ring_has_event(struct gni_ring *ring, uint64_t slots);
int gni_ring_waits(struct gni_ring *ring, uint64_t slots); /* 1: an event, 2: an overrun, 0 */

/*
 * ---- memory handles: by itself one leads to its registrant at a NIC address ----
 *
 *   qword1   0-43 incarnation of the registrant's NIC handle, its lower bits; 44-63 entropy
 *   qword2   0-31 instance of the registrant; 32-33 zero; 34-41 flags; 42-53 index; 54-55 zero;
 *            56-63 CRC
 *
 * Flags, index and CRC are where Cray's second layout has them. Address and size are not in it:
 * no process needs them that has looked the registration up.
 */

#define GNI_HANDLE_READ_ONLY 0x01u
#define GNI_HANDLE_NEW 0x80u
#define GNI_INCARNATION_MASK 0xfffffffffffull
#define GNI_ENTROPY_BITS 20
#define GNI_ENTROPY_MASK ((1u << GNI_ENTROPY_BITS) - 1)
void gni_handle_make(gni_mem_handle_t *handle, uint32_t inst, uint64_t incarnation, uint32_t index,
                     uint32_t entropy, uint32_t flags);
int gni_handle_is_valid(const gni_mem_handle_t *handle);
static inline uint32_t gni_handle_index(const gni_mem_handle_t *handle)
{
    return (uint32_t)(handle->qword2 >> 42) & 0xfffu;
}
static inline uint32_t gni_handle_entropy(const gni_mem_handle_t *handle)
{
    return (uint32_t)(handle->qword1 >> 44);
}
static inline uint32_t gni_handle_inst(const gni_mem_handle_t *handle)
{
    return (uint32_t)handle->qword2;
}
static inline int gni_handle_is_of(const gni_mem_handle_t *handle, uint64_t incarnation)
{
    return ((handle->qword1 ^ incarnation) & GNI_INCARNATION_MASK) == 0;
}
static inline uint32_t gni_handle_flags(const gni_mem_handle_t *handle)
{
    return (uint32_t)(handle->qword2 >> 34) & 0xffu;
}

#endif
