/* Who is on which node. gni-run deals the ranks out to nodes in blocks, and says to how many. */
#define _GNU_SOURCE
#include "pmi.h"
#include "pmi_shared.h"
#include <stdlib.h>
#include <string.h>

/* Ranks [first, end) are on the node of `rank`; the node's number is answered, or -1. */
static int node_of(int rank, int *first, int *end)
{
    int size, nodes = pmi_number("VERBENA_PMI_NODES", 1), node;

    if (PMI_Get_size(&size) != PMI_SUCCESS || rank < 0 || rank >= size)
        return -1;
    if (nodes < 1 || nodes > size)
        nodes = 1;
    node = pmi_node_of(rank, nodes, size);
    *first = pmi_first_rank(node, nodes, size);
    *end = pmi_first_rank(node + 1, nodes, size);
    return node;
}

int PMI_Get_clique_size(int *size)
{
    int rank, first, end, code = PMI_Get_rank(&rank);

    if (code != PMI_SUCCESS)
        return code;
    if (size == NULL)
        return PMI_ERR_INVALID_ARG;
    if (node_of(rank, &first, &end) < 0)
        return PMI_FAIL;
    *size = end - first;
    return PMI_SUCCESS;
}

int PMI_Get_numpes_on_smp(int *num)
{
    return PMI_Get_clique_size(num);
}

int PMI_Get_clique_ranks(int ranks[], int length)
{
    int rank, first, end, code = PMI_Get_rank(&rank);

    if (code != PMI_SUCCESS)
        return code;
    if (node_of(rank, &first, &end) < 0)
        return PMI_FAIL;
    if (ranks == NULL || length < end - first)
        return PMI_ERR_INVALID_ARG;
    for (int i = first; i < end; i++)
        ranks[i - first] = i;
    return PMI_SUCCESS;
}

int PMI_Get_pes_on_smp(int pes[], int length)
{
    return PMI_Get_clique_ranks(pes, length);
}

int PMI_Get_nid(int rank, int *nid)
{
    int self, first, end, node, code = PMI_Get_rank(&self);

    if (code != PMI_SUCCESS)
        return code;
    node = node_of(rank, &first, &end);
    if (nid == NULL || node < 0)
        return PMI_ERR_INVALID_ARG;
    *nid = node + 1;
    return PMI_SUCCESS;
}

int PMI_Get_nidlist_ptr(void **nidlist)
{
    static int list[PMI_SIZE_MAX]; /* the same in every call */
    int size, code = PMI_Get_size(&size);

    if (code != PMI_SUCCESS)
        return code;
    if (nidlist == NULL)
        return PMI_ERR_INVALID_ARG;
    for (int i = 0; i < size && code == PMI_SUCCESS; i++)
        code = PMI_Get_nid(i, &list[i]);
    *nidlist = list;
    return code;
}

/* ---- what all together find out ---- */

int PMI_Bcast(void *buf, int len)
{
    int size, code = PMI_Get_size(&size);
    char *all;

    if (code != PMI_SUCCESS)
        return code;
    if (buf == NULL || len < 0)
        return PMI_ERR_INVALID_ARG;
    all = malloc((size_t)size * (size_t)len + 1);
    if (all == NULL)
        return PMI_ERR_NOMEM;
    code = PMI_Allgather(buf, all, len);
    if (code == PMI_SUCCESS)
        memcpy(buf, all, (size_t)len);
    free(all);
    return code;
}

int PMI_Get_app_size(int *size)
{
    int given = pmi_number("VERBENA_PMI_APP_SIZE", 0), all, code = PMI_Get_size(&all);

    if (code != PMI_SUCCESS)
        return code;
    if (size == NULL)
        return PMI_ERR_INVALID_ARG;
    *size = given > 0 && given <= all ? given : all;
    return PMI_SUCCESS;
}
