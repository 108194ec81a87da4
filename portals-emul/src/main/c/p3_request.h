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
    struct p3_who remote; /* the target, for ACK and REPLY */
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

/* ---- filling them in, and the events of an initiator ---- */

/* Field by field: clearing the whole structure first costs more than the rest of the entry. */
static inline void p3_request_init(struct p3_request *r, ptl_handle_md_t md, uint64_t local_offset,
                                   uint64_t length, ptl_process_id_t target, uint32_t pt_index,
                                   uint32_t ac_index, uint64_t match_bits, uint64_t remote_offset,
                                   uint64_t hdr_data)
{
    r->md = md;
    r->get_md = PTL_INVALID_HANDLE;
    r->whole = 0;
    r->local_offset = local_offset;
    r->get_offset = 0;
    r->length = length;
    r->target = target;
    r->message.pt_index = pt_index;
    r->message.ac_index = ac_index;
    r->message.ack = 0;
    r->message.retried = 0;
    r->message.match_bits = match_bits;
    r->message.hdr_data = hdr_data;
    r->message.remote_offset = remote_offset;
}

/* The event of an initiator: identity and echo of the request. */
static inline void p3_event_fill_own(struct p3_ni *ni, const struct p3_request *r,
                                     struct p3_event *event, uint64_t offset)
{
    event->who = ni->self;
    event->pt_index = r->message.pt_index;
    event->match_bits = r->message.match_bits;
    event->hdr_data = r->message.hdr_data;
    event->rlength = r->message.rlength;
    event->mlength = r->message.rlength;
    event->offset = offset;
}

#endif
