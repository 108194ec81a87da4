/* What the calls about match entries, descriptors and event queues share. */
#ifndef P3_OBJECTS_H
#define P3_OBJECTS_H

#include "p3_library.h"

struct p3_criteria {
    ptl_process_id_t match_id;
    ptl_match_bits_t match_bits;
    ptl_match_bits_t ignore_bits;
    ptl_unlink_t unlink;
    ptl_ins_pos_t position;
    ptl_pt_index_t pt_index;
};

/* A descriptor that was checked and located, not yet in the table. */
struct p3_md_draft {
    ptl_md_t md;
    uint64_t bytes;
    snic_location_t location;
    struct p3_segments segments; /* owned by the draft until it is placed */
};

int p3_me_create(struct p3_ni *ni, const struct p3_criteria *c, uint32_t base, uint32_t *index);
ptl_handle_me_t p3_me_handle(const struct p3_ni *ni, uint32_t index);

/* Under ni->objects, not under the own lock: system calls and allocations happen here. attached:
 * peers will reach the memory. */
int p3_md_draft(struct p3_ni *ni, const ptl_md_t *md, int attached, struct p3_md_draft *draft);
void p3_md_draft_drop(struct p3_ni *ni, struct p3_md_draft *draft);
/* Under ni->objects and the own lock: takes an index and fills it; me P3_NONE: free floating. The
 * draft is used up. */
int p3_md_place(struct p3_ni *ni, struct p3_md_draft *draft, uint32_t me, ptl_unlink_t unlink,
                uint32_t *index);
ptl_handle_md_t p3_md_handle(const struct p3_ni *ni, uint32_t index);
/* Unlinks what the handle names by `unlink`, under ni->objects and the own lock. One that answers
 * in_use is tried again if only the dead use it. A Portals code. */
int p3_unlink(uint32_t handle, enum p3_kind kind, int invalid, int in_use,
              int (*unlink)(struct p3_ni *ni, uint32_t handle));
/* 1 when testeq holds an event, or one is about to be logged there. Under the own lock. */
int p3_eq_unsettled(struct p3_ni *ni, ptl_handle_eq_t testeq);

#endif
