/* A stand-in for Cray's libalpsutil: answers from what gni-run put into the environment. */
#include <alps/libalpsutil.h>
#include "pmi_shared.h"
#include <string.h>

/* Of each rank the node's number. 0, or -1: no memory; *placement and *nids are then NULL. */
static int fill(placeNodeList_t **placement, int **nids, int nodes, int size)
{
    placeNodeList_t *places = placement ? calloc((size_t)size, sizeof(*places)) : NULL;
    int *list = nids ? calloc((size_t)size, sizeof(*list)) : NULL;
    int is_short = (placement && !places) || (nids && !list);

    for (int i = 0; i < size && !is_short; i++) {
        if (places)
            places[i].nid = pmi_node_of(i, nodes, size) + 1;
        if (list)
            list[i] = pmi_node_of(i, nodes, size) + 1;
    }
    if (is_short) {
        free(places);
        free(list);
    }
    if (placement)
        *placement = is_short ? NULL : places;
    if (nids)
        *nids = is_short ? NULL : list;
    return is_short ? -1 : 0;
}

static void forget(int **pointer)
{
    if (pointer != NULL)
        *pointer = NULL;
}

int alps_get_placement_info(uint64_t apid, alpsAppLayout_t *layout, placeNodeList_t **placement,
                            int **targetNids, int **targetPes, int **targetLen,
                            struct in_addr **targetIps, int **startPe, int **totalPes,
                            int **nodePes, int **peCpus)
{
    const char *ours = getenv("ALPS_APP_ID");
    int size = pmi_number("PMI_SIZE", 0), rank = pmi_number("ALPS_APP_PE", -1);
    int nodes = pmi_number("VERBENA_PMI_NODES", 1), node;

    if (layout == NULL || ours == NULL || strtoull(ours, NULL, 10) != apid || size < 1 ||
        rank < 0 || rank >= size || nodes < 1 || nodes > size)
        return -1;
    node = pmi_node_of(rank, nodes, size);
    memset(layout, 0, sizeof(*layout));
    layout->depth = 1;
    layout->firstPe = pmi_first_rank(node, nodes, size);
    layout->numPesHere = pmi_first_rank(node + 1, nodes, size) - layout->firstPe;
    layout->firstNid = 1;
    layout->lastNid = nodes;
    layout->numNodes = nodes;
    layout->totalPes = size;
    layout->apid = apid;
    forget(targetPes), forget(targetLen), forget(startPe), forget(totalPes), forget(nodePes);
    forget(peCpus);
    if (targetIps != NULL)
        *targetIps = NULL;
    return fill(placement, targetNids, nodes, size) == 0 ? 1 : -1;
}
