/* Where the processes of a job are. Source-compatible with Cray's; the layout is ours. */
#ifndef VERBENA_ALPS_TOOLASSIST_H
#define VERBENA_ALPS_TOOLASSIST_H

#include <alps/alps.h>

typedef struct alpsAppLayout {
    int depth;
    int firstPe; /* the first rank of this node */
    int firstNid;
    int lastNid;
    int numPesHere;
    int numNodes;
    int totalPes;
    uint64_t apid;
} alpsAppLayout_t;

typedef struct placeNodeList {
    int cmdIx;
    int nid;
    short X, Y, Z;
} placeNodeList_t;

#endif
