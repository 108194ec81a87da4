/*
 * Operations that do not arrive within their call: all of an interface with a wire's latency
 * (VERBENA_PORTALS_WIRE_US), and the first ones to a rank of the maps that has not started yet
 * (VERBENA_PORTALS_RETRY_MS). The call counts them on their descriptor and returns; a thread of the
 * interface lets them arrive, those to one target in order. Interfaces of PtlNIInit have this,
 * those of PtlExtNIOpen do not: their callers ask for outcomes.
 */
#ifndef P3_WIRE_H
#define P3_WIRE_H

#include "p3_request.h"

void p3_wire_init(struct p3_ni *ni, int is_program);
/* Instead of moving at once. With the peer's mutex held. A Portals code. */
int p3_wire_depart(struct p3_ni *ni, struct p3_peer *peer, const struct p3_request *r);
/* Lets arrive what can; drops what waits for a rank. Nobody is inside the interface any more. */
void p3_wire_close(struct p3_ni *ni);

enum p3_arrival {
    P3_ARRIVED = 0,
    P3_BLOCKED = 1,  /* a stopped process holds the target's lock: nothing was begun there */
    P3_NOT_TAKEN = 2 /* a retried request that nothing takes yet */
};

/* Step 1 of an operation (p3_move.c). A Portals code. */
int p3_move_begin(struct p3_ni *ni, struct p3_request *r, struct p3_under_way *u);
/* The others. fail: PTL_NI_OK, or why the target cannot be reached. With the peer's mutex held. */
enum p3_arrival p3_move_arrive(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                               struct p3_under_way *u, uint32_t fail);

#endif
