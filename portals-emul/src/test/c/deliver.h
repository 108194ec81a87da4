/* What tests share that let initiators put and look at the target's queue. */
#ifndef DELIVER_H
#define DELIVER_H
#include "check.h"

#include <time.h>

static uint8_t bytes[1 << 20];
static uint8_t own_bytes[1 << 20];
static ptl_handle_eq_t eq;

static inline void begin(void)
{
    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
}

static inline uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* number[0] puts of number[1] bytes, hdr_data counting from 0. */
static inline void i_puts(void)
{
    ptl_handle_md_t md =
        bind(own_bytes, shared->number[1], PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    for (uint64_t i = 0; i < shared->number[0]; i++)
        OK(put_to(md, PTL_NO_ACK_REQ, BITS, 0, i));
}

static inline void puts_of(uint64_t count, uint64_t length)
{
    shared->number[0] = count;
    shared->number[1] = length;
    initiator_run(i_puts);
}

#endif
