/* What tests of moving data share. */
#ifndef MOVE_H
#define MOVE_H
#include "check.h"

static uint8_t target_bytes[4096];
static uint8_t own_bytes[4096];
static ptl_handle_eq_t eq; /* T's before the fork; I makes its own */

static inline void begin(void)
{
    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
}

static inline void fill(uint8_t first)
{
    for (size_t i = 0; i < sizeof(own_bytes); i++)
        own_bytes[i] = (uint8_t)(first + i);
}

static inline void put_n(uint64_t length, uint64_t remote_offset, uint64_t hdr)
{
    ptl_handle_eq_t own = new_eq(4);
    ptl_handle_md_t md = bind(own_bytes, length, PTL_MD_THRESH_INF, PTL_RETAIN, own);

    OK(put_to(md, PTL_NO_ACK_REQ, BITS, remote_offset, hdr));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    OK(PtlMDUnlink(md));
    OK(PtlEQFree(own));
}

#endif
