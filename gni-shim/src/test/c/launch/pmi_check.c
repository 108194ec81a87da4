/* What libpmi answers, in both its versions; each process prints one line. */
#include <pmi.h>
#include <pmi2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            PMI_Abort(3, #condition);                                                              \
    } while (0)

static void nodes(int rank, int size)
{
    int ranks[64], count, nid, other, *list, total = 0, *counts = calloc((size_t)size, sizeof(int));
    void *pointer;

    EXPECT(PMI_Get_clique_size(&count) == PMI_SUCCESS && count >= 1 && count <= 64);
    EXPECT(PMI_Get_clique_ranks(ranks, count - 1) == PMI_ERR_INVALID_ARG);
    EXPECT(PMI_Get_clique_ranks(ranks, count) == PMI_SUCCESS);
    EXPECT(PMI_Get_nid(rank, &nid) == PMI_SUCCESS);
    EXPECT(PMI_Get_nid(size, &other) != PMI_SUCCESS);
    EXPECT(PMI_Get_nidlist_ptr(&pointer) == PMI_SUCCESS);
    list = pointer;
    for (int i = 0; i < size; i++) {
        int is_here = 0;

        for (int k = 0; k < count; k++)
            is_here |= ranks[k] == i;
        EXPECT(PMI_Get_nid(i, &other) == PMI_SUCCESS && list[i] == other);
        EXPECT((other == nid) == is_here);
        total += is_here;
    }
    EXPECT(total == count);
    /* Those of a node say the same of it. */
    EXPECT(PMI_Allgather(&count, counts, sizeof(count)) == PMI_SUCCESS);
    for (int k = 0; k < count; k++)
        EXPECT(counts[ranks[k]] == count);
    free(counts);
    printf("rank %d of %d, node %d with %d\n", rank, size, nid, count);
}

int main(void)
{
    int spawned, size, rank, appnum, length, found, other;
    char text[64], key[32];

    EXPECT(PMI2_Initialized() == 0);
    EXPECT(PMI2_Init(&spawned, &size, &rank, &appnum) == PMI2_SUCCESS);
    EXPECT(PMI2_Initialized() == 1);
    EXPECT(PMI_Get_rank(&other) == PMI_SUCCESS && other == rank);
    EXPECT(PMI2_Job_GetRank(&other) == PMI2_SUCCESS && other == rank);
    EXPECT(PMI2_Job_GetId(text, sizeof(text)) == PMI2_SUCCESS && text[0] != '\0');
    EXPECT(PMI2_Info_GetJobAttr("universeSize", text, sizeof(text), &found) == PMI2_SUCCESS);
    EXPECT(found && atoi(text) == size);
    EXPECT(PMI2_Info_GetJobAttr("nothing", text, sizeof(text), &found) == PMI2_SUCCESS && !found);
    snprintf(key, sizeof(key), "of-%d", rank);
    snprintf(text, sizeof(text), "value %d", rank * 11);
    EXPECT(PMI2_KVS_Put(key, text) == PMI2_SUCCESS);
    EXPECT(PMI2_KVS_Fence() == PMI2_SUCCESS);
    for (int i = 0; i < size; i++) {
        snprintf(key, sizeof(key), "of-%d", i);
        EXPECT(PMI2_KVS_Get(NULL, i, key, text, sizeof(text), &length) == PMI2_SUCCESS);
        EXPECT(length == (int)strlen(text) && atoi(text + 6) == i * 11);
        EXPECT(PMI2_KVS_Get(NULL, i, key, text, 3, &length) == PMI2_SUCCESS && length < 0);
    }
    EXPECT(PMI2_KVS_Get(NULL, 0, "absent", text, sizeof(text), &length) != PMI2_SUCCESS);
    other = rank + 5;
    EXPECT(PMI_Bcast(&other, sizeof(other)) == PMI_SUCCESS && other == 5);
    nodes(rank, size);
    EXPECT(PMI2_Finalize() == PMI2_SUCCESS);
    EXPECT(PMI_Get_rank(&rank) == PMI_ERR_INIT);
    return 0;
}
