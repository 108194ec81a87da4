/*
 * What nessie bench compares the transfer service with (specification of Nessie, section 3.3): the
 * same bytes by MPI alone. mpi_yardstick METHOD LENGTH REQUESTS TRIALS: METHOD is send, isend, put
 * (to the server), recv, irecv or get (from it), LENGTH the bytes of a request, REQUESTS how many
 * a client has under way together, except with send and recv. Rank 0 serves, all others are
 * clients. A barrier encloses each trial and is not counted. Prints "MB/s V", MB = 2^20.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITES = 3, METHODS = 6 };

static const char *const methods[METHODS] = {"send", "isend", "put", "recv", "irecv", "get"};
static int rank, clients, length, requests;
static char *memory; /* of a client its requests, of the server those of all clients */
static MPI_Request *pending;
static MPI_Win window;

static void stop(const char *why)
{
    fprintf(stderr, "mpi_yardstick: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static char *piece(int of, int request)
{
    int first = rank == 0 ? (of - 1) * requests : 0;
    return memory + (size_t)(first + request) * (size_t)length;
}

/* One process, or one peer of the server, after the other; all requests at once if not waiting. */
static void two_sided(int is_sending, int is_waiting)
{
    int count = 0;
    for (int request = 0; request < requests; request++) {
        for (int of = 1; of <= clients; of++) {
            if (rank != 0 && rank != of) {
                continue;
            }
            int peer = rank == 0 ? of : 0;
            char *bytes = piece(of, request);
            if (is_sending && is_waiting) {
                MPI_Send(bytes, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
            } else if (is_sending) {
                MPI_Isend(bytes, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &pending[count++]);
            } else if (is_waiting) {
                MPI_Recv(bytes, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Irecv(bytes, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &pending[count++]);
            }
        }
    }
    MPI_Waitall(count, pending, MPI_STATUSES_IGNORE);
}

/* The server takes no part but in the barriers. */
static void one_sided(int is_put)
{
    for (int request = 0; rank != 0 && request < requests; request++) {
        MPI_Aint at = (MPI_Aint)((rank - 1) * requests + request) * length;
        char *bytes = piece(rank, request);
        if (is_put) {
            MPI_Put(bytes, length, MPI_BYTE, 0, at, length, MPI_BYTE, window);
        } else {
            MPI_Get(bytes, length, MPI_BYTE, 0, at, length, MPI_BYTE, window);
        }
    }
    if (rank != 0) {
        MPI_Win_flush(0, window);
    }
}

static void trial(const char *method, int is_write)
{
    if (strcmp(method, "put") == 0 || strcmp(method, "get") == 0) {
        one_sided(is_write);
    } else {
        two_sided(is_write == (rank != 0), method[0] != 'i');
    }
}

/* Of a client's requests each byte is its rank, wherever they are. */
static void check(void)
{
    int parts = rank == 0 ? clients * requests : requests;
    for (int i = 0; i < parts; i++) {
        int of = rank == 0 ? 1 + i / requests : rank;
        const char *bytes = memory + (size_t)i * (size_t)length;
        if (bytes[0] != (char)of || bytes[length - 1] != (char)of) {
            stop("damaged bytes");
        }
    }
}

static void fill(int is_write)
{
    int parts = rank == 0 ? clients * requests : requests;
    for (int i = 0; i < parts; i++) {
        int of = rank == 0 ? 1 + i / requests : rank;
        int value = is_write == (rank != 0) ? of : 0;
        memset(memory + (size_t)i * (size_t)length, value, (size_t)length);
    }
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    clients = ranks - 1;
    if (argc != 5 || clients < 1) {
        stop("METHOD LENGTH REQUESTS TRIALS, and at least two ranks");
    }
    const char *method = argv[1];
    int found = 0;
    while (found < METHODS && strcmp(methods[found], method) != 0) {
        found++;
    }
    length = atoi(argv[2]);
    requests = atoi(argv[3]);
    int trials = atoi(argv[4]);
    if (found == METHODS || length < 1 || requests < 1 || trials < 1) {
        stop("no such method, or a number below 1");
    }
    int is_write = found < WRITES;
    int parts = rank == 0 ? clients * requests : requests;
    MPI_Aint bytes = (MPI_Aint)parts * length;
    pending = calloc((size_t)parts, sizeof *pending);
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    fill(is_write);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    double seconds = 0;
    for (int i = 0; i < trials; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        trial(method, is_write);
        seconds += MPI_Wtime() - begin;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_sync(window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    check();
    double slowest;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("MB/s %.6f\n", (double)clients * requests * length * trials / 1048576 / slowest);
    }
    MPI_Win_free(&window);
    free(pending);
    MPI_Finalize();
    return 0;
}
