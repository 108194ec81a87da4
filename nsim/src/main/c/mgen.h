/*
 * Programs for the interconnect simulator in C: the interface of NSIM-ACE (Susukita, Morie, Nanri,
 * Shibamura, 2016). A program includes this file and has MGEN_Main instead of main. It is run once
 * for each rank; no call waits, and nothing is transported: what each rank calls is recorded, and
 * written as a scenario that "verbena sim FILE" runs.
 *
 *     cc -I nsim/src/main/c -o ring ring.c
 *     MGEN_SIZE=64 MGEN_FILE=ring.scenario ./ring
 *     ./verbena sim ring.scenario -n 64
 *
 * What a program does must not depend on times or on data that it receives.
 * MGEN_Comp takes seconds; -DMGEN_COMP_SECONDS=1e-6: microseconds.
 */
#ifndef MGEN_H
#define MGEN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __cplusplus
#error "mgen.h is for programs in C"
#endif

#ifndef MGEN_COMP_SECONDS
#define MGEN_COMP_SECONDS 1.0
#endif

typedef int MGEN_Comm;
typedef int MGEN_Op;
typedef int MGEN_Datatype; /* its size in bytes */
typedef long MGEN_acp_handle;
typedef long MGEN_Request;
typedef struct {
    int MGEN_SOURCE;
    int MGEN_TAG;
    int MGEN_ERROR;
} MGEN_Status;

#define MGEN_SUCCESS 0
#define MGEN_COMM_WORLD 0
#define MGEN_ANY_SOURCE (-1)
#define MGEN_ANY_TAG (-1)
#define MGEN_REQUEST_NULL (-1L)
#define MGEN_STATUS_IGNORE ((MGEN_Status *)0)
#define MGEN_STATUSES_IGNORE ((MGEN_Status *)0)
#define MGEN_CHAR ((int)sizeof(char))
#define MGEN_BYTE 1
#define MGEN_SHORT ((int)sizeof(short))
#define MGEN_INT ((int)sizeof(int))
#define MGEN_LONG ((int)sizeof(long))
#define MGEN_FLOAT ((int)sizeof(float))
#define MGEN_DOUBLE ((int)sizeof(double))
#define MGEN_SUM 0
#define MGEN_PROD 1
#define MGEN_MAX 2
#define MGEN_MIN 3

/* The program; in C before C23 a declaration without parameters fits those with and without. */
int MGEN_Main();

/* A statement of a scenario, with up to three numbers; handle: which earlier call it is about, or
 * what number of its own it has, -1 for none. */
struct mgen_call {
    const char *word;
    long long numbers[3];
    int count;
    long handle;
    int is_opener; /* it has a handle of its own */
    int is_needed; /* which a later call uses */
};

struct mgen_state {
    FILE *out;
    int rank;
    int size;
    pid_t owner;
    struct mgen_call *calls;
    long count;
    long capacity;
};

__attribute__((weak)) struct mgen_state mgen_state;

static inline void mgen_stop(const char *why)
{
    fprintf(stderr, "mgen: rank %d: %s\n", mgen_state.rank, why);
    fflush(stderr);
    _exit(1);
}

static inline struct mgen_call *mgen_add(const char *word, int count, long long a, long long b,
                                         long long c)
{
    struct mgen_state *s = &mgen_state;
    struct mgen_call *call;
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 1024;
        s->calls = realloc(s->calls, (size_t)s->capacity * sizeof *s->calls);
        if (!s->calls)
            mgen_stop("no memory for so many calls");
    }
    call = &s->calls[s->count++];
    memset(call, 0, sizeof *call);
    call->word = word;
    call->count = count;
    call->numbers[0] = a;
    call->numbers[1] = b;
    call->numbers[2] = c;
    call->handle = -1;
    return call;
}

/* One whose handle is its place among the calls. */
static inline long mgen_open(const char *word, int count, long long a, long long b, long long c)
{
    mgen_add(word, count, a, b, c)->is_opener = 1;
    return mgen_state.count - 1;
}

static inline void mgen_close(const char *word, long handle)
{
    if (handle < 0 || handle >= mgen_state.count || !mgen_state.calls[handle].is_opener)
        mgen_stop("a handle that no call has returned");
    /* Its number may be another's by now. */
    if (mgen_state.calls[handle].is_needed)
        return;
    mgen_state.calls[handle].is_needed = 1;
    mgen_add(word, 0, 0, 0, 0)->handle = handle;
}

/* Gives handles small numbers, each again when it is free: rounds of a loop become equal. */
static inline void mgen_number(void)
{
    struct mgen_state *s = &mgen_state;
    char *used = calloc((size_t)s->count + 1, 1);
    if (!used)
        mgen_stop("no memory for its handles");
    for (long i = 0; i < s->count; i++) {
        struct mgen_call *call = &s->calls[i];
        long number = 0;
        if (call->is_opener && call->is_needed) {
            while (used[number])
                number++;
            used[number] = 1;
            call->handle = number;
        } else if (call->handle >= 0) {
            call->handle = s->calls[call->handle].handle;
            used[call->handle] = 0;
        }
    }
    free(used);
}

static inline int mgen_equal(const struct mgen_call *a, const struct mgen_call *b)
{
    return !strcmp(a->word, b->word) && !memcmp(a->numbers, b->numbers, sizeof a->numbers) &&
           a->handle == b->handle && a->is_needed == b->is_needed;
}

/* Whether every handle of these calls begins and ends among them. */
static inline int mgen_is_whole(const struct mgen_call *calls, long length)
{
    for (long i = 0; i < length; i++) {
        long step = calls[i].is_opener ? 1 : -1;
        long j = i + step;
        if (calls[i].handle < 0)
            continue;
        while (j >= 0 && j < length &&
               (calls[j].handle != calls[i].handle || calls[j].is_opener == calls[i].is_opener))
            j += step;
        if (j < 0 || j >= length)
            return 0;
    }
    return 1;
}

static inline void mgen_print(const struct mgen_call *call, int indent)
{
    FILE *out = mgen_state.out;
    fprintf(out, "%*s", indent, "");
    if (call->is_opener && call->is_needed)
        fprintf(out, "let h[%ld] = ", call->handle);
    fprintf(out, "%s", call->word);
    if (!call->is_opener && call->handle >= 0)
        fprintf(out, " h[%ld]", call->handle);
    for (int i = 0; i < call->count; i++) {
        int is_any = call->numbers[i] == -1 && (i == 0 || i == 2);
        if (is_any && strstr(call->word, "recv"))
            fprintf(out, "%s any", i ? "," : "");
        else
            fprintf(out, "%s %lld", i ? "," : "", call->numbers[i]);
    }
    fprintf(out, strcmp(call->word, "compute") ? "\n" : "ps\n");
}

/* Writes what was recorded; what is repeated without a pause becomes a loop. */
static inline void mgen_write(void)
{
    struct mgen_state *s = &mgen_state;
    if (getpid() != s->owner)
        return;
    mgen_number();
    fprintf(s->out, "if rank = %d\n", s->rank);
    for (long at = 0; at < s->count;) {
        long length = 1, rounds = 1;
        for (long l = 1; l <= 64 && rounds == 1 && at + 2 * l <= s->count; l++) {
            long same = 0;
            /* What is not whole is not looked at to its end: it may be long. */
            while (at + l + same < s->count && (same != l || mgen_is_whole(&s->calls[at], l)) &&
                   mgen_equal(&s->calls[at + same], &s->calls[at + l + same]))
                same++;
            if (same >= l && same / l * l > 2 && mgen_is_whole(&s->calls[at], l)) {
                length = l;
                rounds = same / l + 1;
            }
        }
        if (rounds > 1)
            fprintf(s->out, "  loop %ld\n", rounds);
        for (long i = 0; i < length; i++)
            mgen_print(&s->calls[at + i], rounds > 1 ? 4 : 2);
        if (rounds > 1)
            fprintf(s->out, "  end\n");
        at += length * rounds;
    }
    fprintf(s->out, "end\n");
    if (fflush(s->out) || ferror(s->out))
        mgen_stop("cannot write what was recorded; is there room for MGEN_FILE?");
}

static inline int mgen_rank(FILE *out, int rank, int size, int argc, char **argv)
{
    int status;
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        mgen_state.out = out;
        mgen_state.rank = rank;
        mgen_state.size = size;
        mgen_state.owner = getpid();
        atexit(mgen_write);
        exit(MGEN_Main(argc, argv));
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        perror("mgen");
        return 1;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "mgen: rank %d has failed\n", rank);
        return 1;
    }
    return 0;
}

__attribute__((weak)) int main(int argc, char **argv)
{
    const char *file = getenv("MGEN_FILE");
    const char *text = getenv("MGEN_SIZE");
    int size = text ? atoi(text) : 0;
    int failed = 0;
    struct stat about;
    FILE *out;
    if (!file || size < 1) {
        fprintf(stderr, "MGEN_SIZE=PROCESSES MGEN_FILE=SCENARIO %s [ARGUMENTS]\n", argv[0]);
        return 2;
    }
    out = fopen(file, "w");
    if (!out) {
        perror(file);
        return 1;
    }
    fprintf(out, "says     recorded from %s\nneeds    p = %d\nprogram\n", argv[0], size);
    for (int rank = 0; rank < size && !failed; rank++)
        failed = mgen_rank(out, rank, size, argc, argv);
    if (fclose(out)) {
        perror(file);
        failed = 1;
    }
    if (failed && !stat(file, &about) && S_ISREG(about.st_mode))
        remove(file);
    return failed;
}

/* ---- the paper's interface */

static inline int MGEN_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return MGEN_SUCCESS;
}

static inline int MGEN_Finalize(void)
{
    return MGEN_SUCCESS;
}

static inline int MGEN_Comm_rank(MGEN_Comm comm, int *rank)
{
    (void)comm;
    *rank = mgen_state.rank;
    return MGEN_SUCCESS;
}

static inline int MGEN_Comm_size(MGEN_Comm comm, int *size)
{
    (void)comm;
    *size = mgen_state.size;
    return MGEN_SUCCESS;
}

static inline void MGEN_Comp(double t)
{
    mgen_add("compute", 1, (long long)(t * MGEN_COMP_SECONDS * 1e12 + 0.5), 0, 0);
}

static inline MGEN_acp_handle MGEN_rdma_put(int dest, int size, int tag)
{
    return mgen_open("put", 3, dest, size, tag);
}

/* The paper models it and prints no signature. */
static inline MGEN_acp_handle MGEN_rdma_get(int source, int size)
{
    return mgen_open("get", 2, source, size, 0);
}

static inline void MGEN_rdma_poll(int tag)
{
    mgen_add("poll", 1, tag, 0, 0);
}

static inline void MGEN_acp_complete(MGEN_acp_handle handle)
{
    mgen_close("complete", handle);
}

/* ---- messages and collectives, with MPI's parameters */

static inline void mgen_status(MGEN_Status *status, int source, int tag)
{
    if (status) {
        status->MGEN_SOURCE = source;
        status->MGEN_TAG = tag;
        status->MGEN_ERROR = MGEN_SUCCESS;
    }
}

static inline int MGEN_Isend(const void *data, int count, MGEN_Datatype type, int dest, int tag,
                             MGEN_Comm comm, MGEN_Request *request)
{
    (void)data;
    (void)comm;
    *request = mgen_open("isend", 3, dest, (long long)count * type, tag);
    return MGEN_SUCCESS;
}

static inline int MGEN_Irecv(void *data, int count, MGEN_Datatype type, int source, int tag,
                             MGEN_Comm comm, MGEN_Request *request)
{
    (void)data;
    (void)comm;
    *request = mgen_open("irecv", 3, source, (long long)count * type, tag);
    return MGEN_SUCCESS;
}

static inline int MGEN_Wait(MGEN_Request *request, MGEN_Status *status)
{
    if (*request != MGEN_REQUEST_NULL) {
        const struct mgen_call *call = &mgen_state.calls[*request];
        mgen_status(status, (int)call->numbers[0], (int)call->numbers[2]);
        mgen_close("await", *request);
        *request = MGEN_REQUEST_NULL;
    }
    return MGEN_SUCCESS;
}

static inline int MGEN_Waitall(int count, MGEN_Request *requests, MGEN_Status *statuses)
{
    for (int i = 0; i < count; i++)
        MGEN_Wait(&requests[i], statuses ? &statuses[i] : MGEN_STATUS_IGNORE);
    return MGEN_SUCCESS;
}

static inline int MGEN_Send(const void *data, int count, MGEN_Datatype type, int dest, int tag,
                            MGEN_Comm comm)
{
    (void)data;
    (void)comm;
    mgen_add("send", 3, dest, (long long)count * type, tag);
    return MGEN_SUCCESS;
}

static inline int MGEN_Recv(void *data, int count, MGEN_Datatype type, int source, int tag,
                            MGEN_Comm comm, MGEN_Status *status)
{
    (void)data;
    (void)comm;
    mgen_add("recv", 3, source, (long long)count * type, tag);
    mgen_status(status, source, tag);
    return MGEN_SUCCESS;
}

static inline int MGEN_Barrier(MGEN_Comm comm)
{
    (void)comm;
    mgen_add("barrier", 0, 0, 0, 0);
    return MGEN_SUCCESS;
}

static inline int MGEN_Bcast(void *data, int count, MGEN_Datatype type, int root, MGEN_Comm comm)
{
    (void)data;
    (void)comm;
    mgen_add("bcast", 2, root, (long long)count * type, 0);
    return MGEN_SUCCESS;
}

static inline int MGEN_Reduce(const void *from, void *to, int count, MGEN_Datatype type, MGEN_Op op,
                              int root, MGEN_Comm comm)
{
    (void)from;
    (void)to;
    (void)op;
    (void)comm;
    mgen_add("reduce", 2, root, (long long)count * type, 0);
    return MGEN_SUCCESS;
}

static inline int MGEN_Allreduce(const void *from, void *to, int count, MGEN_Datatype type,
                                 MGEN_Op op, MGEN_Comm comm)
{
    (void)from;
    (void)to;
    (void)op;
    (void)comm;
    mgen_add("allreduce", 1, (long long)count * type, 0, 0);
    return MGEN_SUCCESS;
}

static inline int MGEN_Alltoall(const void *from, int count, MGEN_Datatype type, void *to,
                                int to_count, MGEN_Datatype to_type, MGEN_Comm comm)
{
    (void)from;
    (void)to;
    (void)to_count;
    (void)to_type;
    (void)comm;
    mgen_add("alltoall", 1, (long long)count * type, 0, 0);
    return MGEN_SUCCESS;
}

#endif
