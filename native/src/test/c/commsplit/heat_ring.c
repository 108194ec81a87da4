/*
 * An MPI program that knows of no other: heat on a ring, its values checked by collective
 * operations over the world. heat_ring RANKS ADDRESS_FILE: with a file each rank reports its sum to
 * the service whose host and port stand there. Prints "heat_ring: RANKS ranks, sum S" and ends with
 * 0 if the heat was kept and the world has that many ranks.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <math.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CELLS = 64, STEPS = 200 };

static double cells[CELLS + 2];

static void step(int left, int right)
{
    double next[CELLS + 2];
    MPI_Sendrecv(&cells[1], 1, MPI_DOUBLE, left, 1, &cells[CELLS + 1], 1, MPI_DOUBLE, right, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&cells[CELLS], 1, MPI_DOUBLE, right, 2, &cells[0], 1, MPI_DOUBLE, left, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= CELLS; i++)
        next[i] = cells[i] + 0.25 * (cells[i - 1] - 2 * cells[i] + cells[i + 1]);
    memcpy(cells + 1, next + 1, CELLS * sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
}

static double sum(void)
{
    double own = 0, all;
    for (int i = 1; i <= CELLS; i++)
        own += cells[i];
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Tells the service this rank and the sum, and waits for its answer. */
static int report(const char *file, int rank, double all)
{
    char host[256], port[16], text[64], answer[8] = "";
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    FILE *address = NULL;
    for (int i = 0; i < 3000 && !(address = fopen(file, "r")); i++)
        usleep(20000);
    if (!address || fscanf(address, "%255s %15s", host, port) != 2 ||
        getaddrinfo(host, port, &hints, &found))
        return 1;
    fclose(address);
    int s = socket(found->ai_family, found->ai_socktype, 0);
    int length = snprintf(text, sizeof(text), "%d %.6f\n", rank, all);
    int failed = connect(s, found->ai_addr, found->ai_addrlen) ||
                 write(s, text, (size_t)length) != length || read(s, answer, 3) != 3;
    freeaddrinfo(found);
    close(s);
    return failed || strncmp(answer, "ok\n", 3);
}

int main(int argc, char **argv)
{
    int rank, size, found = 0, failed, any, *bound = NULL;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &any);
    failed = argc < 2 || size != atoi(argv[1]) || !found || *bound < 32767 ||
             strcmp(name, "MPI_COMM_WORLD");
    cells[1] = rank == 0 ? 1000 : 0;
    for (int i = 0; i < STEPS; i++)
        step((rank + size - 1) % size, (rank + 1) % size);
    double all = sum();
    failed |= fabs(all - 1000) > 1e-6 || (argc > 2 && report(argv[2], rank, all));
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("heat_ring: %d ranks, sum %.6f%s\n", size, all, any ? ", WRONG" : "");
    MPI_Finalize();
    return any;
}
