#ifndef VERBENA_ALPS_LIBALPSUTIL_H
#define VERBENA_ALPS_LIBALPSUTIL_H

#include <alps/alps_toolAssist.h>
#include <netinet/in.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* 1 on success, as Cray's; else -1. Each pointer may be NULL; what is not, receives an array from
 * malloc that is the caller's: placement and targetNids have one entry for each rank, the others
 * are not known here, and NULL. */
int alps_get_placement_info(uint64_t apid, alpsAppLayout_t *layout, placeNodeList_t **placement,
                            int **targetNids, int **targetPes, int **targetLen,
                            struct in_addr **targetIps, int **startPe, int **totalPes,
                            int **nodePes, int **peCpus);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
