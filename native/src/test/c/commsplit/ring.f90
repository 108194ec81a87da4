! The world of a Fortran program, by its own entry points: rank, size, a sum and an attribute that the world has.
program ring
    implicit none
    include 'mpif.h'
    integer :: rank, ranks, total, code, expected
    integer(kind=MPI_ADDRESS_KIND) :: bound
    logical :: found
    character(len=16) :: argument
    call MPI_INIT(code)
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, code)
    call MPI_ALLREDUCE(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, bound, found, code)
    call MPI_BARRIER(MPI_COMM_WORLD, code)
    call GET_COMMAND_ARGUMENT(1, argument)
    read (argument, *) expected
    if (rank == 0) print '(A,I0,A,I0,A,L1)', 'ring: ', ranks, ' ranks, total ', total, ', bound ', found
    call MPI_FINALIZE(code)
    if (ranks /= expected .or. total /= expected .or. .not. found) stop 1
end program ring
