/* Several programs under one mpirun: each sees its own processes as the world. What the wrappers
 * share. */
#ifndef COMMSPLIT_H
#define COMMSPLIT_H

#include <mpi.h>
#include <stddef.h>

#define COMMSPLIT_EXPORT __attribute__((visibility("default")))

/* The processes of this program; MPI_COMM_NULL before MPI_Init, after MPI_Finalize and while
 * MPI_Pcontrol(0) holds. */
extern MPI_Comm commsplit_own;
extern MPI_Fint commsplit_own_fortran, commsplit_world_fortran;

/* Who holds a process of another kind in the job, and how many do: of those that called
 * commsplit_join with 1. */
struct commsplit_held {
    int rank, size;
    char job[96]; /* told apart from other jobs */
};

/*
 * Splits the world by the name of the program. Collective over all processes of the job: each calls
 * it once behind MPI_Init. Ends the job if two names have the same colour.
 */
void commsplit_join(int is_held, struct commsplit_held *held);

/* Gives the communicator back: before MPI_Finalize. */
void commsplit_leave(void);

/* A function of the library behind this one; ends the process if there is none. */
void *commsplit_next(const char *name);

static inline MPI_Comm commsplit_of(MPI_Comm communicator)
{
    return communicator == MPI_COMM_WORLD && commsplit_own != MPI_COMM_NULL ? commsplit_own
                                                                            : communicator;
}

static inline void *commsplit_of_fortran(void *communicator)
{
    return *(MPI_Fint *)communicator == commsplit_world_fortran && commsplit_own != MPI_COMM_NULL
               ? &commsplit_own_fortran
               : communicator;
}

#endif
