/* A request at its target: acceptance of puts and gets, and the exchange of a getput, which nothing
 * comes between. */
#ifndef P3_REQUEST_H
#define P3_REQUEST_H

#include "p3_move.h"

/* One call's arguments. */
struct p3_request {
    ptl_handle_md_t md;     /* source of a put, destination of a get */
    ptl_handle_md_t get_md; /* getput: destination of the reply */
    int whole;
    uint64_t local_offset;
    uint64_t get_offset; /* getput */
    uint64_t length;
    ptl_process_id_t target;
    uint32_t remote_uid; /* of the target, for ACK and REPLY */
    uint32_t remote_jid;
    uint64_t remote_incarnation;
    struct p3_message message;
};

/* Step 2 of put and get. PTL_NI_OK with *verdict, or why the target could not be reached. */
uint32_t p3_request_accept(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                           struct p3_place *place, enum p3_verdict *verdict);
/* Steps 2 and 3 of a getput: the target gets `mine`, `theirs` is what was there. PTL_NI_OK with
 * *verdict, or a fail type; PTL_EXT_FAIL_STALLED: nothing was begun. *verdict P3_ACCEPTED: the
 * target's exchange lock is held until p3_request_swapped. */
uint32_t p3_request_swap(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                         struct p3_place *place, enum p3_verdict *verdict, uint8_t *mine,
                         uint8_t *theirs);
/* The last step of an accepted getput. */
void p3_request_swapped(struct p3_ni *ni, struct p3_peer *peer, uint32_t fail);

#endif
