/*
 * The purpose of Nessie's CommSplitter (Oldfield, Kordenbrock, Lofstead): programs that are started
 * as one job each find a world of their own, without a change of source. A program's name is
 * VERBENA_APP, else the full path of its executable; its colour is the CRC-32 of the name.
 */
#define _GNU_SOURCE
#include "commsplit.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

MPI_Comm commsplit_own = MPI_COMM_NULL;
MPI_Fint commsplit_own_fortran, commsplit_world_fortran;
static MPI_Comm made = MPI_COMM_NULL; /* kept while MPI_Pcontrol(0) holds */

static uint32_t crc32_of(const char *text)
{
    uint32_t crc = UINT32_MAX;
    for (; *text; text++) {
        crc ^= (unsigned char)*text;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

static void find_name(char name[PATH_MAX])
{
    const char *given = getenv("VERBENA_APP");
    if (given && *given) {
        snprintf(name, PATH_MAX, "%s", given);
        return;
    }
    ssize_t length = readlink("/proc/self/exe", name, PATH_MAX - 1);
    name[length < 0 ? 0 : length] = '\0';
}

/* The names of one colour are all that of rank 0, or the job ends. */
static void require_one_name(const char *own)
{
    char first[PATH_MAX];
    snprintf(first, sizeof(first), "%s", own);
    PMPI_Bcast(first, sizeof(first), MPI_CHAR, 0, made);
    if (strcmp(first, own)) {
        fprintf(stderr,
                "verbena-commsplit: the programs '%s' and '%s' have the same colour: rename one "
                "with VERBENA_APP\n",
                first, own);
        /* MPICH's launcher drops what it has not yet read when a process aborts. */
        const struct timespec pause = {.tv_nsec = 500000000};
        nanosleep(&pause, NULL);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void describe_held(MPI_Comm of_its_kind, struct commsplit_held *held)
{
    char host[HOST_NAME_MAX + 1] = "";
    struct timespec now;
    PMPI_Comm_rank(of_its_kind, &held->rank);
    PMPI_Comm_size(of_its_kind, &held->size);
    gethostname(host, sizeof(host) - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(held->job, sizeof(held->job), "%.40s-%ld-%lld.%09ld", host, (long)getpid(),
             (long long)now.tv_sec, now.tv_nsec);
    PMPI_Bcast(held->job, sizeof(held->job), MPI_CHAR, 0, of_its_kind);
}

void commsplit_join(int is_held, struct commsplit_held *held)
{
    char name[PATH_MAX];
    const char *debug = getenv("VERBENA_COMMSPLIT_DEBUG");
    int rank, own_rank, size;
    MPI_Comm of_its_kind;
    if (made != MPI_COMM_NULL)
        return; /* Fortran's MPI_Init may have called C's. */
    find_name(name);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* A colour of MPI is not negative. */
    PMPI_Comm_split(MPI_COMM_WORLD, (int)(crc32_of(name) & INT_MAX), rank, &made);
    PMPI_Comm_split(MPI_COMM_WORLD, is_held, rank, &of_its_kind);
    require_one_name(name);
    if (held)
        describe_held(of_its_kind, held);
    PMPI_Comm_free(&of_its_kind);
    PMPI_Comm_set_name(made, "MPI_COMM_WORLD");
    if (debug && atoi(debug) > 0) {
        PMPI_Comm_rank(made, &own_rank);
        PMPI_Comm_size(made, &size);
        fprintf(stderr, "verbena-commsplit: rank %d of the job is %d of %d of %s\n", rank, own_rank,
                size, name);
    }
    commsplit_own_fortran = PMPI_Comm_c2f(made);
    commsplit_world_fortran = PMPI_Comm_c2f(MPI_COMM_WORLD);
    commsplit_own = made;
}

void commsplit_leave(void)
{
    commsplit_own = MPI_COMM_NULL;
    if (made != MPI_COMM_NULL)
        PMPI_Comm_free(&made);
}

void *commsplit_next(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found) {
        fprintf(stderr, "verbena-commsplit: this MPI has no %s\n", name);
        abort();
    }
    return found;
}

COMMSPLIT_EXPORT int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    if (result == MPI_SUCCESS)
        commsplit_join(0, NULL);
    return result;
}

COMMSPLIT_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int result = PMPI_Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS)
        commsplit_join(0, NULL);
    return result;
}

COMMSPLIT_EXPORT int MPI_Finalize(void)
{
    commsplit_leave();
    return PMPI_Finalize();
}

COMMSPLIT_EXPORT int MPI_Pcontrol(const int level, ...)
{
    commsplit_own = level == 0 ? MPI_COMM_NULL : made;
    return PMPI_Pcontrol(level);
}

/* The world's own attributes, such as MPI_TAG_UB, are kept with the real one. */
COMMSPLIT_EXPORT int MPI_Comm_get_attr(MPI_Comm communicator, int key, void *value, int *found)
{
    int result = PMPI_Comm_get_attr(commsplit_of(communicator), key, value, found);
    if (result == MPI_SUCCESS && !*found)
        result = PMPI_Comm_get_attr(communicator, key, value, found);
    return result;
}

COMMSPLIT_EXPORT int MPI_Attr_get(MPI_Comm communicator, int key, void *value, int *found)
{
    return MPI_Comm_get_attr(communicator, key, value, found);
}

static void get_fortran_attribute(const char *name, void *communicator, void *key, void *value,
                                  MPI_Fint *found, MPI_Fint *result)
{
    void (*get)(void *, void *, void *, MPI_Fint *, MPI_Fint *);
    *(void **)&get = commsplit_next(name);
    get(commsplit_of_fortran(communicator), key, value, found, result);
    if (*result == MPI_SUCCESS && !*found)
        get(communicator, key, value, found, result);
}

COMMSPLIT_EXPORT void mpi_comm_get_attr_(void *communicator, void *key, void *value,
                                         MPI_Fint *found, MPI_Fint *result)
{
    get_fortran_attribute("pmpi_comm_get_attr_", communicator, key, value, found, result);
}

COMMSPLIT_EXPORT void mpi_attr_get_(void *communicator, void *key, void *value, MPI_Fint *found,
                                    MPI_Fint *result)
{
    get_fortran_attribute("pmpi_attr_get_", communicator, key, value, found, result);
}

COMMSPLIT_EXPORT void mpi_init_(MPI_Fint *result)
{
    void (*next)(MPI_Fint *);
    *(void **)&next = commsplit_next("pmpi_init_");
    next(result);
    if (*result == MPI_SUCCESS)
        commsplit_join(0, NULL);
}

COMMSPLIT_EXPORT void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *result)
{
    void (*next)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
    *(void **)&next = commsplit_next("pmpi_init_thread_");
    next(required, provided, result);
    if (*result == MPI_SUCCESS)
        commsplit_join(0, NULL);
}

COMMSPLIT_EXPORT void mpi_finalize_(MPI_Fint *result)
{
    void (*next)(MPI_Fint *);
    *(void **)&next = commsplit_next("pmpi_finalize_");
    commsplit_leave();
    next(result);
}

COMMSPLIT_EXPORT void mpi_pcontrol_(MPI_Fint *level)
{
    MPI_Pcontrol(*level);
}
