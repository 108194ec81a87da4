/* What these programs share: a call that must succeed, an interface, memory that others reach. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <portals3.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        int code_ = (call);                                                                        \
        if (code_ != PTL_OK) {                                                                     \
            fprintf(stderr, "%s: %s\n", #call, PtlErrorStr((unsigned)code_));                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Of any process id; *id becomes the one that it got. */
static inline ptl_handle_ni_t open_interface(ptl_process_id_t *id)
{
    ptl_handle_ni_t ni;
    int interfaces;

    MUST(PtlInit(&interfaces));
    MUST(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    MUST(PtlGetId(ni, id));
    return ni;
}

/* A match entry for these bits of any process, and its descriptor. */
static inline void expose(ptl_handle_ni_t ni, ptl_pt_index_t index, ptl_match_bits_t bits,
                          ptl_md_t md, ptl_unlink_t unlink)
{
    const ptl_process_id_t anybody = {PTL_NID_ANY, PTL_PID_ANY};
    ptl_handle_me_t me;

    MUST(PtlMEAttach(ni, index, anybody, bits, 0, unlink, PTL_INS_AFTER, &me));
    MUST(PtlMDAttach(me, md, unlink, NULL));
}

#endif
