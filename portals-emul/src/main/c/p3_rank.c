/* Ranks of a parallel program: maps from rank to (nid, pid), set by the program or the environment.
 */
#include "p3_library.h"

#include "include/p3rt/p3rt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define P3_RANKS_MAX 1000000u

/* Of the process, as its ranks are. */
static struct {
    pthread_mutex_t mutex;
    unsigned known; /* rank and size are */
    unsigned rank;
    unsigned size;
    uint32_t *nids;
    unsigned nid_count;
    uint32_t *pids;
    unsigned pid_count;
} ranks = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Numbers separated by colons. NULL when the variable is no such list. */
static uint32_t *list_of(const char *variable, unsigned *count)
{
    const char *text = getenv(variable);
    uint32_t *list = NULL;
    unsigned n = 0;

    while (text != NULL && *text >= '0' && *text <= '9' && n < P3_RANKS_MAX) {
        char *end;
        unsigned long value;
        uint32_t *more = realloc(list, (n + 1) * sizeof(*list));

        errno = 0;
        value = strtoul(text, &end, 10);
        if (more == NULL || errno != 0 || value > 0xffffffffu || (*end != ':' && *end != '\0')) {
            free(more == NULL ? list : more);
            p3_fail(PTL_FAIL, "%s: '%.40s' is no list of numbers with colons between", variable,
                    text);
            return NULL;
        }
        list = more;
        list[n++] = (uint32_t)value;
        text = *end == ':' ? end + 1 : NULL;
    }
    if (list == NULL || text != NULL) {
        p3_fail(PTL_FAIL, "%s is not set to a list of numbers with colons between", variable);
        free(list);
        return NULL;
    }
    *count = n;
    return list;
}

/* Under the mutex. */
static void keep(uint32_t **map, unsigned *map_count, uint32_t *list, unsigned count)
{
    free(*map);
    *map = list;
    *map_count = count;
}

/* overwrite 0: only what the program has not set. */
static int set_from_environment(int overwrite)
{
    unsigned nid_count = 0, pid_count = 0, own_count = 0;
    uint32_t *own = list_of("PTL_MY_RID", &own_count);
    uint32_t *nids = own ? list_of("PTL_NIDMAP", &nid_count) : NULL;
    uint32_t *pids = nids ? list_of("PTL_PIDMAP", &pid_count) : NULL;
    int code = PTL_FAIL;

    if (pids == NULL) {
        free(nids);
    } else if (nid_count != pid_count || own_count != 1 || own[0] >= nid_count) {
        p3_fail(PTL_FAIL, "PTL_MY_RID is rank %u, PTL_NIDMAP has %u entries, PTL_PIDMAP %u", own[0],
                nid_count, pid_count);
        free(nids);
        free(pids);
    } else {
        pthread_mutex_lock(&ranks.mutex);
        if (overwrite || ranks.nids == NULL)
            keep(&ranks.nids, &ranks.nid_count, nids, nid_count);
        else
            free(nids);
        if (overwrite || ranks.pids == NULL)
            keep(&ranks.pids, &ranks.pid_count, pids, pid_count);
        else
            free(pids);
        if (overwrite || !ranks.known) {
            ranks.rank = own[0];
            ranks.size = nid_count;
        }
        ranks.known = 1;
        pthread_mutex_unlock(&ranks.mutex);
        code = PTL_OK;
    }
    free(own);
    return code;
}

/* Before every question: programs of the reference implementation's run-time never call PtlSetRank.
 * PTL_FAIL: the environment says nothing, or nonsense (PtlExtError). */
static int look_into_environment(void)
{
    int is_missing;

    pthread_mutex_lock(&ranks.mutex);
    is_missing = !ranks.known || ranks.nids == NULL || ranks.pids == NULL;
    pthread_mutex_unlock(&ranks.mutex);
    return is_missing && getenv("PTL_MY_RID") != NULL ? set_from_environment(0) : PTL_OK;
}

int p3_rank_own(uint32_t *nid, uint32_t *pid)
{
    int is_there;

    look_into_environment();
    pthread_mutex_lock(&ranks.mutex);
    is_there = ranks.known && ranks.rank < ranks.nid_count && ranks.rank < ranks.pid_count;
    if (is_there) {
        *nid = ranks.nids[ranks.rank];
        *pid = ranks.pids[ranks.rank];
    }
    pthread_mutex_unlock(&ranks.mutex);
    return is_there;
}

int p3_rank_is(uint32_t nid, uint32_t pid)
{
    int is_there = 0;

    look_into_environment();
    pthread_mutex_lock(&ranks.mutex);
    for (unsigned i = 0; i < ranks.nid_count && i < ranks.pid_count && !is_there; i++)
        is_there = ranks.nids[i] == nid && ranks.pids[i] == pid;
    pthread_mutex_unlock(&ranks.mutex);
    return is_there;
}

int PtlSetRank(ptl_handle_ni_t ni, unsigned rank, unsigned size)
{
    (void)ni;
    if (rank == (unsigned)-1 && size == (unsigned)-1)
        return set_from_environment(1);
    if (rank >= size)
        return p3_fail(PTL_FAIL, "PtlSetRank: rank %u is not below the size, %u", rank, size);
    pthread_mutex_lock(&ranks.mutex);
    ranks.rank = rank;
    ranks.size = size;
    ranks.known = 1;
    pthread_mutex_unlock(&ranks.mutex);
    return PTL_OK;
}

int PtlGetRank(ptl_handle_ni_t ni, unsigned *rank, unsigned *size)
{
    int code = PTL_OK;

    (void)ni;
    if (rank == NULL || size == NULL)
        return p3_fail(PTL_SEGV, "PtlGetRank: rank or size is NULL");
    code = look_into_environment();
    pthread_mutex_lock(&ranks.mutex);
    if (ranks.known)
        code = PTL_OK;
    else if (code == PTL_OK)
        code = p3_fail(PTL_FAIL, "PtlGetRank: neither PtlSetRank nor $PTL_MY_RID said it");
    *rank = ranks.rank;
    *size = ranks.size;
    pthread_mutex_unlock(&ranks.mutex);
    return code;
}

int PtlGetRankId(ptl_handle_ni_t ni, unsigned rank, ptl_process_id_t *id)
{
    int code = PTL_OK;

    (void)ni;
    if (id == NULL)
        return p3_fail(PTL_SEGV, "PtlGetRankId: id is NULL");
    look_into_environment();
    pthread_mutex_lock(&ranks.mutex);
    if (rank >= ranks.nid_count || rank >= ranks.pid_count)
        code = p3_fail(PTL_PROCESS_INVALID, "PtlGetRankId: no rank %u among %u nids and %u pids",
                       rank, ranks.nid_count, ranks.pid_count);
    else
        *id = (ptl_process_id_t){.nid = ranks.nids[rank], .pid = ranks.pids[rank]};
    pthread_mutex_unlock(&ranks.mutex);
    return code;
}

/* ---- maps ---- */

static int set_map(uint32_t **map, unsigned *count, const void *from, unsigned size, int wide)
{
    uint32_t *list;

    if (from == NULL || size == 0 || size > P3_RANKS_MAX)
        return p3_fail(PTL_SEGV, "the map is NULL, or has %u entries", size);
    list = malloc(size * sizeof(*list));
    if (list == NULL)
        return p3_fail(PTL_NO_SPACE, "out of memory");
    for (unsigned i = 0; i < size; i++)
        list[i] = wide ? ((const uint32_t *)from)[i] : ((const uint16_t *)from)[i];
    pthread_mutex_lock(&ranks.mutex);
    keep(map, count, list, size);
    pthread_mutex_unlock(&ranks.mutex);
    return PTL_OK;
}

static int get_map(uint32_t *const *map, const unsigned *count, void *to, unsigned size, int wide)
{
    int code = PTL_OK;

    if (to == NULL)
        return p3_fail(PTL_SEGV, "the map is NULL");
    look_into_environment();
    pthread_mutex_lock(&ranks.mutex);
    if (size > *count)
        code = p3_fail(PTL_FAIL, "the map has %u entries, not %u", *count, size);
    for (unsigned i = 0; code == PTL_OK && i < size; i++) {
        if (wide)
            ((uint32_t *)to)[i] = (*map)[i];
        else
            ((uint16_t *)to)[i] = (uint16_t)(*map)[i];
    }
    pthread_mutex_unlock(&ranks.mutex);
    return code;
}

int PtlSetNIDMap(ptl_handle_ni_t ni, const ptl_nid_t *map, unsigned size)
{
    (void)ni;
    return set_map(&ranks.nids, &ranks.nid_count, map, size, 1);
}

int PtlGetNIDMap(ptl_handle_ni_t ni, ptl_nid_t *map, unsigned size)
{
    (void)ni;
    return get_map(&ranks.nids, &ranks.nid_count, map, size, 1);
}

int PtlSetPIDMap(ptl_handle_ni_t ni, const ptl_pid_t *map, unsigned size)
{
    (void)ni;
    return set_map(&ranks.pids, &ranks.pid_count, map, size, 1);
}

int PtlGetPIDMap(ptl_handle_ni_t ni, ptl_pid_t *map, unsigned size)
{
    (void)ni;
    return get_map(&ranks.pids, &ranks.pid_count, map, size, 1);
}

/* What the two are called in the object files of CRAY programs. */
#pragma GCC visibility push(default)
int PtlSetPIDMap_cray(ptl_handle_ni_t ni, const uint16_t *map, unsigned size);
int PtlGetPIDMap_cray(ptl_handle_ni_t ni, uint16_t *map, unsigned size);
#pragma GCC visibility pop

int PtlSetPIDMap_cray(ptl_handle_ni_t ni, const uint16_t *map, unsigned size)
{
    (void)ni;
    return set_map(&ranks.pids, &ranks.pid_count, map, size, 0);
}

int PtlGetPIDMap_cray(ptl_handle_ni_t ni, uint16_t *map, unsigned size)
{
    (void)ni;
    return get_map(&ranks.pids, &ranks.pid_count, map, size, 0);
}
