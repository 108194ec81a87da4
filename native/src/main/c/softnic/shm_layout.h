/*
 * The area of the shm personality: connections and their receive rings. Native byte order.
 *
 *   area header     geometry, `listening`, the control bell
 *   connections     connections_max records
 *   rings           one ring for each record: credit line(s), then `credits` slots
 *
 * A connection has a record and a ring at each end; what is received lies at the receiver. O =
 * owner of the segment (reader of its rings), W = the writer: the peer's process, working in O's
 * segment.
 *
 * ---- sending: the protocol of one ring ----
 *
 * Positions count messages from 0. Slot of position p: p itself while p < credits, later
 * returned[p % credits]; the slots that O gives back are used again in the order in which it gave
 * them back, which need not be the order in which they came (O may retain some). W: may send
 * position p when p < consumed + credits. It keeps the last value of `consumed` it saw and loads it
 * again (acquire; partner: O's release store of consumed) only when that value forbids sending. It
 * checks that the slot number is below credits. W: writes kind, length, tag and payload with plain
 * stores, then flag = (uint32_t)(p + 1) by a release store (partner: O's acquire load of flag).
 * That one store publishes: a writer killed before it leaves nothing. Then it rings O's doorbell
 * (snic_ring). O: looks at the flag of the slot of its next position (acquire); equal to
 * (uint32_t)(p + 1): there is a message. It reads kind and length once, checks them, and delivers.
 *   O: gives slot s back as release number k: returned[k % credits] = s, then consumed = k + 1 by a
 *      release store (partner: W's acquire load). O remembers the slot numbers itself and never
 *      reads `returned`.
 * A payload of up to 48 bytes shares its cache line with its flag.
 *
 * ---- connecting: the protocol of the control words ----
 *
 * control = generation << 48 | writer token << 16 | done bits | phase; every change is a
 * compare-and-swap (acq_rel), so that a change is done once or not at all, and a record that was
 * freed (generation + 1) refuses any process that still means the former connection.
 *   A claims a record of its own:     A.record FREE -> CLAIMED(SELF), zeroes flags, -> CONNECTING
 *   A claims a record of B:           B.record FREE -> CLAIMED(A), zeroes flags, fills peer_* and
 * the private data, -> REQUESTED; B.control bell + 1; ring B B accepts: A.record CONNECTING ->
 * OPEN(B), then B.record -> OPEN; bell, ring A B rejects:                        A.record
 * CONNECTING -> REJECTED, B.record -> FREE; bell, ring A A gives up:                       A.record
 * CONNECTING -> FREE; B.record REQUESTED -> WITHDRAWN; bell A's word decides between accept, reject
 * and giving up. Ending: a ring is free for another connection when its reader and its writer have
 * both finished. Reader sets LOCAL_DONE, writer sets REMOTE_DONE (after its last message); whoever
 * sets the second one frees the record. O sees REMOTE_DONE, drains the ring, reports the end, sets
 * both its own bits (LOCAL_DONE here, REMOTE_DONE in the peer's record). A dead writer's record is
 * freed by O alone. The bell asks the owner to look at its control words; a process that dies
 * between the change and the bell is found dead by the periodic look.
 */
#ifndef SOFTNIC_SHM_LAYOUT_H
#define SOFTNIC_SHM_LAYOUT_H

#include "softnic_layout.h"

#define SHM_AREA_MAGIC 0x41524541204d4853ull /* "SHM AREA" */
#define SHM_AREA_VERSION 1u
#define SHM_PRIVATE_MAX 256u
#define SHM_MESSAGE_LIMIT (1u << 20)
#define SHM_CREDITS_LIMIT 4096u
#define SHM_CONNECTIONS_LIMIT 16384u

struct shm_area {
    uint64_t magic;              /*   0 O */
    uint32_t version;            /*   8 O */
    uint32_t connections_max;    /*  12 O */
    uint32_t credits;            /*  16 O power of two */
    uint32_t message_max;        /*  20 O longest payload */
    uint32_t slot_bytes;         /*  24 O SHM_SLOT_BYTES(message_max) */
    uint32_t credit_bytes;       /*  28 O SHM_CREDIT_BYTES(credits): where slots begin in a ring */
    uint64_t connections_offset; /*  32 O from the start of the area */
    uint64_t rings_offset;       /*  40 O page aligned */
    uint64_t ring_bytes;         /*  48 O distance of rings */
    uint64_t pad0;               /*  56 */
    _Atomic uint32_t listening;  /*  64 O */
    uint8_t pad1[60];
    /* P: fetch_add (release) after a change of any control word here. O: load (acquire) at each
     * poll. */
    _Atomic uint32_t control_bell; /* 128 P */
    uint8_t pad2[124];
    /* Counters for people, relaxed. */
    _Atomic uint64_t messages_received; /* 256 O */
    _Atomic uint64_t notifies_received; /* 264 O */
    _Atomic uint64_t malformed;         /* 272 O slots whose kind or length made no sense */
    uint8_t pad3[232];
};
#define SHM_AREA_BYTES 512
_Static_assert(sizeof(struct shm_area) == SHM_AREA_BYTES, "shm_area");
SNIC_AT(shm_area, connections_max, 12);
SNIC_AT(shm_area, credits, 16);
SNIC_AT(shm_area, slot_bytes, 24);
SNIC_AT(shm_area, connections_offset, 32);
SNIC_AT(shm_area, rings_offset, 40);
SNIC_AT(shm_area, ring_bytes, 48);
SNIC_AT(shm_area, listening, 64);
SNIC_AT(shm_area, control_bell, 128);
SNIC_AT(shm_area, messages_received, 256);

enum shm_phase {
    SHM_FREE = 0,
    SHM_CLAIMED = 1,
    SHM_CONNECTING = 2, /* O asked a peer and waits */
    SHM_REQUESTED = 3,  /* a peer asks O */
    SHM_OPEN = 4,
    SHM_REJECTED = 5,
    SHM_WITHDRAWN = 6
};
#define SHM_LOCAL_DONE 0x40u
#define SHM_REMOTE_DONE 0x80u
#define SHM_PHASE(control) ((uint32_t)(control)&0x3fu)
#define SHM_TOKEN(control) ((uint32_t)((control) >> 16) & 0x7fffffffu)
#define SHM_GENERATION(control) ((uint32_t)((control) >> 48))
#define SHM_CONTROL(generation, token, bits)                                                       \
    (((uint64_t)((generation)&0xffffu) << 48) | ((uint64_t)(token) << 16) | (uint64_t)(bits))

struct shm_connection {
    _Atomic uint64_t control;  /*   0 see above */
    uint32_t peer_record;      /*   8 W, when REQUESTED: number of its record in its own segment */
    uint32_t peer_generation;  /*  12 W, when REQUESTED: generation of that record */
    uint64_t peer_incarnation; /*  16 W, when REQUESTED */
    uint32_t private_length;   /*  24 W, when REQUESTED */
    uint8_t pad0[36];
    char peer_name[SNIC_NAME_BYTES];       /*  64 W, when REQUESTED */
    uint8_t private_data[SHM_PRIVATE_MAX]; /* 128 W, when REQUESTED */
    uint8_t pad1[128];
};
#define SHM_CONNECTION_BYTES 512
_Static_assert(sizeof(struct shm_connection) == SHM_CONNECTION_BYTES, "shm_connection");
SNIC_AT(shm_connection, peer_record, 8);
SNIC_AT(shm_connection, peer_name, 64);
SNIC_AT(shm_connection, private_data, 128);

/* Start of a ring; uint16_t returned[credits] follows directly, then, at credit_bytes, the slots.
 */
struct shm_credit {
    _Atomic uint64_t consumed; /* 0 O release; W acquire */
    uint16_t returned[];       /* 8 O */
};
SNIC_AT(shm_credit, returned, 8);
#define SHM_CREDIT_BYTES(credits) (((8u + 2u * (credits)) + 63u) & ~63u)

enum shm_kind { SHM_KIND_MESSAGE = 1, SHM_KIND_NOTIFY = 2 };
struct shm_slot {
    _Atomic uint32_t flag; /*  0 W release, last; O acquire */
    uint32_t kind;         /*  4 W enum shm_kind */
    uint32_t length;       /*  8 W bytes of payload */
    uint32_t tag;          /* 12 W of a notify */
    uint8_t payload[];     /* 16 W */
};
#define SHM_SLOT_HEADER 16u
#define SHM_SLOT_BYTES(message_max) (((message_max) + SHM_SLOT_HEADER + 63u) & ~63u)
SNIC_AT(shm_slot, kind, 4);
SNIC_AT(shm_slot, length, 8);
SNIC_AT(shm_slot, tag, 12);
SNIC_AT(shm_slot, payload, 16);

/* Payload of a notify: which bytes of O's memory were written. */
struct shm_notify {
    uint32_t slot;       /*  0 W of the key */
    uint32_t generation; /*  4 W of the key */
    uint64_t offset;     /*  8 W relative to the registration */
    uint64_t length;     /* 16 W */
};
#define SHM_NOTIFY_BYTES 24
_Static_assert(sizeof(struct shm_notify) == SHM_NOTIFY_BYTES, "shm_notify");

#endif
