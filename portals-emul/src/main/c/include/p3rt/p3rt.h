/*
 * Ranks: which process of a parallel program is which (nid, pid). Not part of Portals 3.3 itself;
 * the reference implementation's run-time library has these calls, and programs use them to find
 * each other.
 *
 * The maps belong to the process, not to an interface; what the program does not set comes from the
 * environment: `ni` may be any handle, also
 * PTL_INVALID_HANDLE, and every call works before PtlInit. Thread-safe.
 */
#ifndef P3RT_H
#define P3RT_H

#include "../portals3.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Process ids have 16 bits in the CRAY flavour: the same calls under other symbols. */
#ifdef PTL3_FLAVOR_CRAY
#define P3RT_SYMBOL(name) __asm__("Ptl" #name "_cray")
#else
#define P3RT_SYMBOL(name)
#endif

/* Says who we are. Rank and size both -1: take the rank from $PTL_MY_RID and the maps from
 * $PTL_NIDMAP and $PTL_PIDMAP, lists of numbers separated by colons, whose length is the size.
 * PTL_FAIL when one of them is missing or no such list (PtlExtError says which). */
int PtlSetRank(ptl_handle_ni_t ni, unsigned rank, unsigned size);
/* PTL_FAIL: neither PtlSetRank nor the environment has said it; PTL_SEGV. */
int PtlGetRank(ptl_handle_ni_t ni, unsigned *rank, unsigned *size);
/* Where a rank is. PTL_PROCESS_INVALID for a rank that is not in the maps; PTL_SEGV. */
int PtlGetRankId(ptl_handle_ni_t ni, unsigned rank, ptl_process_id_t *id);
/* Node and process ids of ranks 0 to size-1; copied. PTL_NO_SPACE, PTL_SEGV. */
int PtlSetNIDMap(ptl_handle_ni_t ni, const ptl_nid_t *map, unsigned size);
int PtlSetPIDMap(ptl_handle_ni_t ni, const ptl_pid_t *map, unsigned size) P3RT_SYMBOL(SetPIDMap);
/* Copies the first `size` of them; PTL_FAIL when there are fewer. */
int PtlGetNIDMap(ptl_handle_ni_t ni, ptl_nid_t *map, unsigned size);
int PtlGetPIDMap(ptl_handle_ni_t ni, ptl_pid_t *map, unsigned size) P3RT_SYMBOL(GetPIDMap);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
