/*
 * What happens to a request at its target: access control, address translation, acceptance,
 * completion (specification, section 4), as changes of the target's area. Executed by the
 * initiator under the target's lock; recovered by the process that finds the initiator dead.
 */
#ifndef P3_TARGET_H
#define P3_TARGET_H

#include "p3_area.h"

/* Where the bytes are; private copies, checked against the tables' sizes. */
struct p3_place {
    snic_location_t location;
    uint32_t iov_first;
    uint32_t iov_count; /* 0: contiguous */
    uint64_t offset;
    uint64_t mlength;
    uint32_t options;
};

enum p3_verdict { P3_ACCEPTED = 0, P3_DROPPED = 1, P3_CORRUPT = 2 };

/* Finds the descriptor for a request. Accepted: the intent holds the accept plan, its phase is
 * still IDLE. Otherwise the drop has been counted. */
enum p3_verdict p3_target_match(const struct p3_view *view, const struct p3_message *message,
                                struct p3_intent *intent, struct p3_place *place);
/* Declares and applies the accept plan; the phase is MOVING afterwards. Returns 1 when an event was
 * logged. */
int p3_target_accept(const struct p3_view *view, struct p3_intent *intent);
/* Plans, declares and applies completion; the phase is IDLE afterwards. Returns 1 when an event was
 * logged. */
int p3_target_complete(const struct p3_view *view, struct p3_intent *intent, uint32_t fail);
/* Finishes an intent in whatever phase its dead owner left it. */
void p3_target_finish_dead(const struct p3_view *view, struct p3_intent *intent);
/* After the lock was taken over from a dead owner who sat in initiator slot dead_slot: finishes his
 * operation, and those that he himself was finishing. */
void p3_target_recover(const struct p3_view *view, uint32_t dead_slot);

#endif
