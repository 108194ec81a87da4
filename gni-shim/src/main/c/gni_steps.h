/*
 * The labelled steps of libugni: places between two visible effects, where tests kill, stop or
 * yield (SNIC_STEP). A test compares this list with the sources. What is done for libugni by the
 * software NIC has steps of its own (softnic_steps.h).
 */
#ifndef GNI_STEPS_H
#define GNI_STEPS_H

/* clang-format off */
/* Of who owns a NIC handle. */
#define GNI_STEPS_OWN(X) \
    X("gni.register.filled")     /* the record is written, and not yet to be found */ \
    X("gni.register.published")  /* it can be found, and its handle was given to no caller */ \
    X("gni.deregister.revoked")  /* it cannot be found; its key still works for who began before */ \
    X("gni.event.taken")         /* an event was read, its place is not empty yet */ \
    X("gni.event.emptied")       /* its place is empty, and not yet given back */ \
    X("gni.smsg.released")       /* a message's place may be written, not reported to the peer */
/* Of who reaches another one. */
#define GNI_STEPS_REACH(X) \
    X("gni.post.moved")          /* the bytes are there, no event reports them */ \
    X("gni.event.place")         /* tail and head of a queue were read */ \
    X("gni.event.stored")        /* an event is there, the tail does not say so */ \
    X("gni.smsg.written")        /* a message's bytes are there, its number is not */ \
    X("gni.smsg.published")      /* it can be fetched; the sender has not counted it */ \
    X("gni.datagram.filled")     /* lock of a table: a record is written, its state is not */ \
    X("gni.datagram.state")      /* lock of a table: its state is */
/* Not passed by everybody. */
#define GNI_STEPS_SELDOM(X) \
    X("gni.amo.read")            /* lock of the atomics: read, not written; memory that is not mapped */ \
    X("gni.event.lost")          /* a queue is full, and does not say so yet */ \
    X("gni.smsg.wanted")         /* a sender without credits has said so, and not looked again */ \
    X("gni.smsg.returned")       /* credits are back, no event reports them */ \
    X("gni.msgq.claimed") X("gni.msgq.full") X("gni.msgq.looked") \
    X("gni.ce.leaf.given") X("gni.ce.leaf.joined") X("gni.ce.target") X("gni.ce.given") \
    X("gni.ce.joined") X("gni.ce.result") X("gni.ce.finished")
/* clang-format on */

#endif
