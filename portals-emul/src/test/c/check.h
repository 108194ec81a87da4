/*
 * The harness (harness.h) for Portals. Each case has a job of its own. Its process is the target T;
 * what the initiator I does runs in a further process (initiator_run), forked after T has posted
 * its buffers.
 */
#ifndef CHECK_H
#define CHECK_H

#include "harness.h"
#include "nic.h"

#define OK(call) CHECK_EQ(PTL_OK, call)

/* Forks a process that opens its own interface and runs `body`; waits for it and fails if it
 * failed. */
void initiator_run(void (*body)(void));
/* The two halves of it. A killed process is not a failure: the signal is returned, 0 when it exited
 * with 0. */
pid_t initiator_start(void (*body)(void));
int initiator_join(pid_t pid);
/* What such a process does; it ends there. */
void check_initiator(void (*body)(void)) __attribute__((noreturn));

struct check_shared {
    _Atomic uint32_t flag[64];
    uint64_t number[64];
    ptl_process_id_t id[64];
    uint8_t bytes[65536];
};

/* ---- of the process that runs ---- */

extern ptl_handle_ni_t ni;
extern ptl_process_id_t own_id;
extern ptl_process_id_t target_id; /* T, known to I */
void open_interface(uint32_t flavor);
extern ptl_ni_limits_t own_limits; /* as granted */
extern uint32_t check_flavor;      /* of open_interface in initiators */
/* Of interfaces opened from now on; 0: the library's. Long where a busy machine must not make a
 * wait look like a stopped process. */
extern uint32_t check_lock_timeout_ms;
#define CHECK_PATIENT_MS 60000

#define ANY_ID ((ptl_process_id_t){PTL_NID_ANY, PTL_PID_ANY})
#define PORTAL 4
#define BITS 0x1234u
#define BOTH (PTL_MD_OP_PUT | PTL_MD_OP_GET)

ptl_md_t make_md(void *start, uint64_t length, int threshold, unsigned options, ptl_handle_eq_t eq);
ptl_handle_eq_t new_eq(uint64_t count);
/* ME at the tail of list PORTAL that matches BITS from anybody, with an MD. */
ptl_handle_md_t post(void *start, uint64_t length, int threshold, unsigned options,
                     ptl_handle_eq_t eq);
ptl_handle_md_t post_at(ptl_pt_index_t portal, ptl_match_bits_t bits, ptl_md_t md,
                        ptl_unlink_t unlink, ptl_handle_me_t *me);
ptl_handle_md_t bind(void *start, uint64_t length, int threshold, ptl_unlink_t unlink,
                     ptl_handle_eq_t eq);
/* Put of the whole descriptor to T's PORTAL, BITS. */
int put(ptl_handle_md_t md, ptl_ack_req_t ack);
int put_to(ptl_handle_md_t md, ptl_ack_req_t ack, uint64_t bits, uint64_t offset, uint64_t hdr);
int get(ptl_handle_md_t md);
/* The next event must be of this kind. */
ptl_event_t take(ptl_handle_eq_t eq, ptl_event_kind_t kind);
void expect_empty(ptl_handle_eq_t eq);
uint64_t status(ptl_sr_index_t index);
/* Of a register that an implementation may do without. */
void expect_status(ptl_sr_index_t index, uint64_t expected);
/* The invariant checker finds nothing. */
void expect_sound(void);

#endif
