/* Dumps for people, to standard error. The reference implementation has them in this header. */
#ifndef P3API_DEBUG_H
#define P3API_DEBUG_H

#include "../portals3.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* The match list of a portal index, one line for each entry and descriptor, in list order. PTL_OK,
 * PTL_NI_INVALID, PTL_PT_INDEX_INVALID. */
int PtlTblDump(ptl_handle_ni_t ni_handle, int pt_index);
/* One match entry with its descriptor. PTL_OK, PTL_ME_INVALID. */
int PtlMEDump(ptl_handle_me_t me_handle);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
