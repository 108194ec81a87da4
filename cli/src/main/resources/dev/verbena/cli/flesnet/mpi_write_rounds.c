/*
 * What flesnet experiment fig3 to fig5 measure of the transports, by MPI_Put (specification of
 * FLESnet, section 10). mpi_write_rounds BYTES IS_MIXED SIZE...: the first half of the ranks are
 * senders, the others receivers that take no part but in the barriers. A round is a write of SIZE
 * bytes to each receiver, in turn from another one for each sender; mixed: and one of 16 and two of
 * 64 bytes. Writes of 16 rounds are under way together. BYTES: per pair and size. Prints for each
 * sender "point SIZE IS_MIXED ROUNDS NANOSECONDS". A barrier precedes each size and is not counted.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16, BATCHES_MIN = 2, BATCHES_MAX = 1000, DESCRIPTOR = 16, SYNC = 64, SMALL = 256 };

static int rank, senders, receivers, largest;
static char *memory; /* of a receiver 16 slots for each sender */
static char *payload;
static MPI_Win window;

static void stop(const char *why)
{
    fprintf(stderr, "mpi_write_rounds: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void put(int receiver, MPI_Aint at, int bytes)
{
    MPI_Put(payload, bytes, MPI_BYTE, senders + receiver, at, bytes, MPI_BYTE, window);
}

static void batch(int size, int is_mixed)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        MPI_Aint at = ((MPI_Aint)rank * SLOTS + slot) * (largest + SMALL);
        for (int i = 0; i < receivers; i++) {
            int receiver = (rank + i) % receivers;
            put(receiver, at, size);
            if (is_mixed) {
                put(receiver, at + largest, DESCRIPTOR);
                put(receiver, at + largest + DESCRIPTOR, SYNC);
                put(receiver, at + largest + DESCRIPTOR + SYNC, SYNC);
            }
        }
    }
    MPI_Win_flush_all(window);
}

static void measure(int size, int is_mixed, int batches)
{
    double seconds = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < senders) {
        for (int i = 0; i < batches / 4 + 1; i++) {
            batch(size, is_mixed); /* not counted: pages and caches are warm then */
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < senders) {
        double begin = MPI_Wtime();
        for (int i = 0; i < batches; i++) {
            batch(size, is_mixed);
        }
        seconds = MPI_Wtime() - begin;
    }
    double all[senders + receivers];
    MPI_Gather(&seconds, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < senders; i++) {
        printf("point %d %d %d %.0f\n", size, is_mixed, batches * SLOTS, all[i] * 1e9);
    }
}

/* All bytes of a sender are its number and one. */
static void check(void)
{
    for (int sender = 0; rank >= senders && sender < senders; sender++) {
        const char *bytes = memory + (size_t)sender * SLOTS * (size_t)(largest + SMALL);
        if (bytes[0] != (char)(sender + 1) || bytes[largest - 1] != (char)(sender + 1)) {
            stop("damaged bytes");
        }
    }
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    senders = ranks / 2;
    receivers = ranks - senders;
    if (argc < 4 || senders < 1) {
        stop("BYTES IS_MIXED SIZE..., and at least two ranks");
    }
    long bytes = atol(argv[1]);
    int is_mixed = atoi(argv[2]);
    for (int i = 3; i < argc; i++) {
        int size = atoi(argv[i]);
        if (size < 1) {
            stop("a size below 1");
        }
        largest = size > largest ? size : largest;
    }
    payload = malloc((size_t)largest + SMALL);
    memset(payload, rank + 1, (size_t)largest + SMALL);
    MPI_Aint part = (MPI_Aint)SLOTS * (largest + SMALL);
    MPI_Aint length = rank < senders ? 1 : senders * part;
    MPI_Win_allocate(length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, (size_t)length);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int i = 3; i < argc; i++) {
        int size = atoi(argv[i]);
        long wished = bytes / size / SLOTS;
        int batches = wished < BATCHES_MIN   ? BATCHES_MIN
                      : wished > BATCHES_MAX ? BATCHES_MAX
                                             : wished;
        measure(size, 0, batches);
        if (is_mixed) {
            measure(size, 1, batches);
        }
    }
    MPI_Win_sync(window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    check();
    MPI_Win_free(&window);
    free(payload);
    MPI_Finalize();
    return 0;
}
