/*
 * What lies in the shared-memory segment of a NIC, byte for byte. Native byte order, natural
 * alignment, no padding that the compiler chooses. Java reads the same numbers.
 *
 *   page 0        header
 *   initiators    one slot for each peer that attached: who it is, its pins
 *   registrations one entry for each key
 *   memories      one entry for each toolkit memory (its bytes are in a file of their own)
 *   bounce        only with SNIC_FOREIGN_BOUNCE: slots through which the owner's helper copies
 *   area          the personality's
 *
 * Files: <directory>/verbena-<uid>/<job>/<name> and, for toolkit memory number k, <name>+m<k>
 * beside it ('+' cannot occur in a name, so that no NIC can be called like a memory). A file grows
 * to its full size before it gets its name and never shrinks.
 *
 * Every field has one writer, named at the field; O = the owner of the segment, I = the initiator
 * to whom a slot belongs, P = any peer. Nobody trusts a value read from here: geometry is copied
 * and checked at attach, everything else is range-checked at each use.
 */
#ifndef SOFTNIC_LAYOUT_H
#define SOFTNIC_LAYOUT_H

#include "softnic.h"

#define SNIC_MAGIC 0x43494e5354465356ull /* "VSFTSNIC" in little-endian memory order */
#define SNIC_ENDIAN 0x01020304u
#define SNIC_NAME_BYTES 64
#define SNIC_PINS 4
#define SNIC_IDENTITY_WORDS 4
#define SNIC_INITIATORS_DEFAULT 1024u
#define SNIC_INITIATORS_LIMIT 0xfff0u
#define SNIC_REGISTRATIONS_DEFAULT 65536u
#define SNIC_REGISTRATIONS_LIMIT (1u << 24)
#define SNIC_MEMORIES_MAX 4096u
#define SNIC_BOUNCE_SLOTS 8u
#define SNIC_BOUNCE_BYTES (256u << 10)

/* header.state; written by O, release; read by P, acquire. Only ever increases. */
enum snic_segment_state {
    SNIC_STATE_CREATING = 0,
    SNIC_STATE_OPEN = 1,
    SNIC_STATE_CLOSING = 2,
    SNIC_STATE_CLOSED = 3
};

/* Fields up to `incarnation` keep their places in every layout version, so that any version can
 * refuse another by name and can tell whether its owner lives. */
struct snic_header {
    uint64_t magic;          /*   0 O, last at creation */
    uint32_t layout_version; /*   8 O */
    uint32_t endianness;     /*  12 O SNIC_ENDIAN */
    uint32_t page_size;      /*  16 O */
    uint32_t personality;    /*  20 O enum snic_personality */
    uint32_t pid;            /*  24 O */
    uint32_t uid;            /*  28 O */
    uint64_t start_time;     /*  32 O field 22 of /proc/<pid>/stat: distinguishes a reused pid */
    uint64_t pid_namespace;  /*  40 O inode of /proc/self/ns/pid */
    uint64_t incarnation;    /*  48 O random, never 0 */
    uint64_t segment_bytes;  /*  56 O size of the file */

    uint64_t initiators_offset;    /*  64 O all offsets from the start of the segment */
    uint64_t registrations_offset; /*  72 O */
    uint64_t memories_offset;      /*  80 O */
    uint64_t bounce_offset;        /*  88 O 0: none */
    uint64_t area_offset;          /*  96 O page aligned */
    uint64_t area_bytes;           /* 104 O */
    uint32_t initiators_max;       /* 112 O */
    uint32_t registrations_max;    /* 116 O */
    uint32_t memories_max;         /* 120 O */
    uint32_t foreign;              /* 124 O enum snic_foreign */

    char name[SNIC_NAME_BYTES]; /* 128 O zero-terminated */
    char job[SNIC_NAME_BYTES];  /* 192 O */

    /* Line of its own: read at each operation, written three times in a segment's life. */
    _Atomic uint32_t state; /* 256 O enum snic_segment_state */
    uint8_t pad0[124];

    /* Line of its own. P: fetch_add(doorbell) seq_cst, then load waiters seq_cst, then futex wake
     * if not 0. O: fetch_add(waiters) seq_cst, then futex wait on doorbell (which loads it inside
     * the kernel). Each side writes its word before it reads the other's, so no ring is lost. */
    _Atomic uint32_t doorbell; /* 384 P and O */
    _Atomic uint32_t waiters;  /* 388 O */
    uint8_t pad1[120];

    /* Slots with an index at or above this were never used. Only grows. */
    _Atomic uint32_t initiators_high; /* 512 P, before the slot's state says IN_USE */
    _Atomic uint32_t bounce_bell;     /* 516 P, futex on which the helper of O sleeps */
    _Atomic uint32_t bounce_waiters;  /* 520 O */
    uint8_t pad2[116];

    /* Counters for people (status, tests). Relaxed. */
    _Atomic uint64_t attaches;        /* 640 P */
    _Atomic uint64_t bounced;         /* 648 O copies that the helper made */
    _Atomic uint64_t recoveries;      /* 656 P locks taken over from the dead */
    _Atomic uint64_t pins_reclaimed;  /* 664 O pins of dead initiators that deregister ended */
    _Atomic uint64_t slots_reclaimed; /* 672 P slots of dead initiators that were taken over */
    uint8_t pad3[84];

    /* O, before the state says OPEN. 1: O makes a barrier in every process between revoking a key
     * and looking at pins, so those who registered for it may pin without one. */
    uint32_t owner_fences; /* 764 */
};
#define SNIC_HEADER_BYTES 768
#define SNIC_AT(type, field, offset)                                                               \
    _Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
_Static_assert(sizeof(struct snic_header) == SNIC_HEADER_BYTES, "snic_header");
SNIC_AT(snic_header, layout_version, 8);
SNIC_AT(snic_header, endianness, 12);
SNIC_AT(snic_header, page_size, 16);
SNIC_AT(snic_header, pid, 24);
SNIC_AT(snic_header, start_time, 32);
SNIC_AT(snic_header, pid_namespace, 40);
SNIC_AT(snic_header, incarnation, 48);
SNIC_AT(snic_header, segment_bytes, 56);
SNIC_AT(snic_header, area_offset, 96);
SNIC_AT(snic_header, initiators_max, 112);
SNIC_AT(snic_header, name, 128);
SNIC_AT(snic_header, job, 192);
SNIC_AT(snic_header, state, 256);
SNIC_AT(snic_header, doorbell, 384);
SNIC_AT(snic_header, waiters, 388);
SNIC_AT(snic_header, initiators_high, 512);
SNIC_AT(snic_header, attaches, 640);
SNIC_AT(snic_header, owner_fences, 764);

/* initiator.state = pid << 32 | epoch << 2 | state: one word, so that a slot that is not free
 * always names its process, whenever that dies. The epoch counts the occupants. FREE -> CLAIMED ->
 * IN_USE -> FREE by I, compare-and-swap. A dead occupant's slot goes from CLAIMED or IN_USE
 * straight to CLAIMED with the next epoch, by a process that wants a slot and finds none free. */
enum snic_initiator_state { SNIC_SLOT_FREE = 0, SNIC_SLOT_CLAIMED = 1, SNIC_SLOT_IN_USE = 2 };
#define SNIC_SLOT_STATE(word) ((uint32_t)(word)&3u)
#define SNIC_SLOT_EPOCH(word) ((uint32_t)(word) >> 2)
#define SNIC_SLOT_PID(word) ((uint32_t)((word) >> 32))
#define SNIC_SLOT_WORD(pid, epoch, state)                                                          \
    (((uint64_t)(uint32_t)(pid) << 32) | (uint32_t)((uint32_t)(epoch) << 2) | (uint64_t)(state))

/*
 * A pin says: this initiator may be touching that registration. (slot + 1) << 32 | generation; 0:
 * none. I: store seq_cst before it loads registration.generation seq_cst; cleared with release
 * after the last access. O at deregister: store generation seq_cst, then load every pin seq_cst.
 * Whoever comes second sees the other (Dekker), so either the initiator finds the registration
 * stale, or the owner finds the pin and waits. Where header.owner_fences is set and the initiator's
 * process registered for it, O calls membarrier(2) between its store and its loads; that is a full
 * barrier in I at some point between any two of its instructions, and I's store may be a plain one,
 * as long as the compiler keeps it before the load. pins[0]: snic_put and its relatives in C.
 * pins[1]: the Java implementation. Others: spare.
 */
struct snic_initiator {
    _Atomic uint64_t state;                 /*   0 P, see above */
    uint64_t start_time;                    /*   8 I */
    uint64_t pid_namespace;                 /*  16 I */
    uint64_t incarnation;                   /*  24 I of the initiator's own NIC */
    uint64_t identity[SNIC_IDENTITY_WORDS]; /*  32 I the personality's, from its options */
    char name[SNIC_NAME_BYTES];             /*  64 I name of the initiator's NIC */
    _Atomic uint64_t pins[SNIC_PINS];       /* 128 I */
    uint8_t pad[96];
};
#define SNIC_INITIATOR_BYTES 256
_Static_assert(sizeof(struct snic_initiator) == SNIC_INITIATOR_BYTES, "snic_initiator");
SNIC_AT(snic_initiator, identity, 32);
SNIC_AT(snic_initiator, name, 64);
SNIC_AT(snic_initiator, pins, 128);

/* Entry of the registration table. generation is odd while the key is valid. All other fields are
 * written by O while it is even and no pin names the entry. */
struct snic_registration {
    _Atomic uint32_t generation; /*  0 O register: release store of the odd value, last */
    uint32_t rights;             /*  4 O enum snic_right */
    uint64_t secret;             /*  8 O random */
    snic_location_t location;    /* 16 O kind, memory, offset, length */
    uint64_t address;            /* 40 O of the first byte, in the owner's process */
    uint8_t pad[16];
};
#define SNIC_REGISTRATION_BYTES 64
_Static_assert(sizeof(snic_location_t) == 24, "snic_location_t");
_Static_assert(sizeof(struct snic_registration) == SNIC_REGISTRATION_BYTES, "snic_registration");
SNIC_AT(snic_registration, rights, 4);
SNIC_AT(snic_registration, secret, 8);
SNIC_AT(snic_registration, location, 16);
SNIC_AT(snic_registration, address, 40);

/* Entry of the memory table. generation is odd while the memory exists; after 0xffff the entry is
 * not used again. In snic_location_t, memory = generation << 16 | number. */
struct snic_memory {
    _Atomic uint32_t generation; /*  0 O release, last */
    uint32_t flags;              /*  4 O */
    uint64_t length;             /*  8 O bytes asked for */
    uint64_t mapped;             /* 16 O bytes of the file, whole pages, or as it was mapped */
    uint64_t inode;              /* 24 O of the file: a peer refuses any other */
};
#define SNIC_MEMORY_BYTES 32
_Static_assert(sizeof(struct snic_memory) == SNIC_MEMORY_BYTES, "snic_memory");
SNIC_AT(snic_memory, length, 8);
SNIC_AT(snic_memory, inode, 24);

/* A copy that the owner's helper thread makes. An initiator takes a slot by compare-and-swap of
 * `owner` from 0, or from the token of a dead process once `state` is IDLE or DONE, to its own
 * token. state: ASKED by I, release (O: acquire); BUSY by O, compare-and-swap from ASKED; DONE by
 * O, release (I: acquire); back to IDLE by I, by compare-and-swap from ASKED when it gives up. A
 * futex for I. */
enum snic_bounce_state {
    SNIC_BOUNCE_IDLE = 0,
    SNIC_BOUNCE_ASKED = 1,
    SNIC_BOUNCE_DONE = 2,
    SNIC_BOUNCE_BUSY = 3
};
struct snic_bounce {
    _Atomic uint32_t owner; /*  0 I token, see below */
    _Atomic uint32_t state; /*  4 */
    uint32_t write;         /*  8 I 1: into the owner's memory */
    int32_t result;         /* 12 O 0 or -errno */
    uint64_t address;       /* 16 I */
    uint64_t length;        /* 24 I at most SNIC_BOUNCE_BYTES */
    uint8_t pad[32];
    /* SNIC_BOUNCE_BYTES of payload follow the array of these, slot by slot */
};
_Static_assert(sizeof(struct snic_bounce) == 64, "snic_bounce");

/*
 * Word of snic_lock_t: 0 free; SNIC_LOCK_SELF the owner of the segment; else a token that names an
 * initiator of this segment: slot + 1 in the low 16 bits, the low 15 bits of its epoch above. A
 * token with another epoch than the slot has now belongs to a dead process.
 */
#define SNIC_TOKEN(slot, epoch) (((uint32_t)(slot) + 1u) | (((uint32_t)(epoch)&0x7fffu) << 16))
#define SNIC_TOKEN_SLOT(token) (((token)&0xffffu) - 1u)
#define SNIC_TOKEN_EPOCH(token) (((token) >> 16) & 0x7fffu)
_Static_assert(sizeof(snic_lock_t) == 8, "snic_lock_t");

#endif
