/* A stand-in for Cray's libalpsutil: answers from what gni-run put into the environment. */
#include <alps/libalpsutil.h>
#include <stdlib.h>
#include <string.h>

static int number_of(const char *variable, int otherwise)
{
    const char *text = getenv(variable);

    return text != NULL && *text != '\0' ? atoi(text) : otherwise;
}

/* Ranks are dealt out in blocks: rank * nodes / size, as gni-run does it. */
static int node_of(int rank, int nodes, int size)
{
    return (int)((int64_t)rank * nodes / size);
}

static int fill_placement(placeNodeList_t **placement, int nodes, int size)
{
    if (placement == NULL)
        return 0;
    *placement = calloc((size_t)size, sizeof(**placement));
    for (int i = 0; *placement != NULL && i < size; i++)
        (*placement)[i].nid = node_of(i, nodes, size) + 1;
    return *placement != NULL ? 0 : -1;
}

static int fill_nids(int **nids, int nodes, int size)
{
    if (nids == NULL)
        return 0;
    *nids = calloc((size_t)size, sizeof(**nids));
    for (int i = 0; *nids != NULL && i < size; i++)
        (*nids)[i] = node_of(i, nodes, size) + 1;
    return *nids != NULL ? 0 : -1;
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
    int size = number_of("PMI_SIZE", 0), rank = number_of("ALPS_APP_PE", -1);
    int nodes = number_of("VERBENA_PMI_NODES", 1), node;

    if (layout == NULL || ours == NULL || strtoull(ours, NULL, 10) != apid || size < 1 ||
        rank < 0 || rank >= size || nodes < 1 || nodes > size)
        return -1;
    node = node_of(rank, nodes, size);
    memset(layout, 0, sizeof(*layout));
    layout->depth = 1;
    layout->firstPe = (int)(((int64_t)node * size + nodes - 1) / nodes);
    layout->numPesHere = (int)(((int64_t)(node + 1) * size + nodes - 1) / nodes) - layout->firstPe;
    layout->firstNid = 1;
    layout->lastNid = nodes;
    layout->numNodes = nodes;
    layout->totalPes = size;
    layout->apid = apid;
    forget(targetPes), forget(targetLen), forget(startPe), forget(totalPes), forget(nodePes);
    forget(peCpus);
    if (targetIps != NULL)
        *targetIps = NULL;
    if (fill_placement(placement, nodes, size) != 0)
        return -1;
    if (fill_nids(targetNids, nodes, size) == 0)
        return 1;
    if (placement != NULL) {
        free(*placement);
        *placement = NULL;
    }
    return -1;
}
