/*
 * The labelled steps of libportals3: places between two visible effects, where tests kill, stop or
 * yield (SNIC_STEP). "target lock" means that the step runs with the target's lock held.
 */
#ifndef PORTALS3_STEPS_H
#define PORTALS3_STEPS_H

/* Steps that a put takes, in order; a step of unlinking only when the descriptor goes. */
#define PTL_STEPS_PUT                                                                              \
    "ptl.request.locked",        /* target lock: nothing written yet */                            \
        "ptl.accept.planned",    /* target lock: plan written, not declared */                     \
        "ptl.accept.intent",     /* target lock: declared, nothing applied */                      \
        "ptl.accept.threshold",  /* target lock: offset and threshold stored */                    \
        "ptl.accept.busy",       /* target lock: descriptor complete */                            \
        "ptl.event.busy",        /* either lock: slot marked as being written */                   \
        "ptl.event.words",       /* either lock: event written, stamp not yet */                   \
        "ptl.event.stamp",       /* either lock: readable, tail not yet advanced */                \
        "ptl.event.tail",        /* either lock: logged */                                         \
        "ptl.accept.logged",     /* target lock: applied, phase still ACCEPT */                    \
        "ptl.request.unlocked",  /* no lock: MOVING */                                             \
        "ptl.put.copy",          /* no lock: nothing copied yet */                                 \
        "ptl.put.copied",        /* no lock: everything copied */                                  \
        "ptl.put.finish",        /* no lock: copied or dropped, no END logged yet */               \
        "ptl.finish.told",       /* no lock: own events logged, END not; only if there are any */  \
        "ptl.complete.begin",    /* target lock: completion not planned */                         \
        "ptl.complete.planned",  /* target lock: planned, not declared */                          \
        "ptl.complete.intent",   /* target lock: declared, nothing applied */                      \
        "ptl.complete.start",    /* target lock: START of a short put logged */                    \
        "ptl.complete.end",      /* target lock: END logged */                                     \
        "ptl.complete.busy",     /* target lock: busy count lowered */                             \
        "ptl.complete.unlinked", /* target lock: UNLINK logged */                                  \
        "ptl.unlink.md",         /* target lock: descriptor dead, not yet in the free list */      \
        "ptl.unlink.chain",      /* target lock: entry half out of the index */                    \
        "ptl.unlink.index",      /* target lock: out of the index, still in its list */            \
        "ptl.unlink.list",       /* target lock: entry out of its list, not yet free */            \
        "ptl.complete.applied",  /* target lock: phase still COMPLETE */                           \
        "ptl.finish.completed"   /* no lock: target done; own events logged, if there are any */

/* Steps of its own that a get takes. */
#define PTL_STEPS_GET "ptl.get.reply", "ptl.get.copied"

/* Steps of its own that a getput takes, with the target's exchange lock held. */
#define PTL_STEPS_GETPUT                                                                           \
    "ptl.getput.claimed",     /* target lock: puts and gets wait from now on */                    \
        "ptl.getput.read",    /* no target lock: nothing written */                                \
        "ptl.getput.written", /* no target lock: both copies made */                               \
        "ptl.getput.told",    /* no target lock: own events logged, END not */                     \
        "ptl.getput.swapped"  /* no target lock: puts and gets still wait */

/* A getput lets another's copy end: only the exchange lock is held. */
#define PTL_STEPS_GETPUT_WAIT "ptl.getput.wait"

/* A put or get that had to wait for a getput: target lock and exchange lock. */
#define PTL_STEPS_BEHIND "ptl.request.behind"

#endif
