/*
 * Shows: PtlGetPut, the atomic swap. Three processes take turns in a critical section; the lock is
 * eight bytes in the memory of a fourth, which does nothing at all meanwhile.
 * Run:   swap   (it forks the others itself)
 */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "example.h"

#define PORTAL 2
#define LOCK 0x10c
#define WORKERS 3
#define TURNS 200

enum { FREE = 0, TAKEN = 1 };

/* Swaps `mine` with the lock word; returns what it was. The reply is an event of the get's MD. */
static uint64_t swap(ptl_handle_md_t get, uint64_t *got, ptl_handle_md_t put, ptl_handle_eq_t eq,
                     ptl_process_id_t owner)
{
    ptl_event_t event;

    MUST(PtlGetPut(get, put, owner, PORTAL, 0, LOCK, 0, 0));
    do
        MUST(PtlEQWait(eq, &event));
    while (event.type != PTL_EVENT_REPLY_END);
    return *got;
}

/* The counter is ordinary shared memory: without the lock, turns would be lost. */
static void work(ptl_process_id_t owner, volatile long *counter)
{
    static uint64_t taken = TAKEN, free_again = FREE, got;
    ptl_process_id_t id;
    ptl_handle_ni_t ni = open_interface(&id);
    ptl_handle_eq_t eq;
    ptl_handle_md_t get, put_taken, put_free;
    ptl_md_t md = {.start = &got, .length = sizeof(got), .threshold = PTL_MD_THRESH_INF};

    MUST(PtlEQAlloc(ni, 16, PTL_EQ_HANDLER_NONE, &eq));
    md.eq_handle = eq;
    MUST(PtlMDBind(ni, md, PTL_RETAIN, &get));
    md.eq_handle = PTL_EQ_NONE;
    md.start = &taken;
    MUST(PtlMDBind(ni, md, PTL_RETAIN, &put_taken));
    md.start = &free_again;
    MUST(PtlMDBind(ni, md, PTL_RETAIN, &put_free));
    for (int turn = 0; turn < TURNS; turn++) {
        while (swap(get, &got, put_taken, eq, owner) != FREE)
            usleep(10);
        *counter = *counter + 1;
        swap(get, &got, put_free, eq, owner);
    }
    PtlFini();
}

int main(void)
{
    static uint64_t lock = FREE;
    volatile long *counter =
        mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ptl_process_id_t id;
    ptl_handle_ni_t ni = open_interface(&id);
    ptl_md_t md = {.start = &lock,
                   .length = sizeof(lock),
                   .threshold = PTL_MD_THRESH_INF,
                   .options = PTL_MD_OP_PUT | PTL_MD_OP_GET | PTL_MD_MANAGE_REMOTE,
                   .eq_handle = PTL_EQ_NONE};

    expose(ni, PORTAL, LOCK, md, PTL_RETAIN); /* a getput needs both operations allowed */
    for (int i = 0; i < WORKERS; i++)
        if (fork() == 0) {
            work(id, counter);
            return 0;
        }
    while (wait(NULL) > 0)
        ;
    printf("%d turns of %d processes: the counter says %ld\n", TURNS, WORKERS, *counter);
    PtlFini();
    return *counter == (long)TURNS * WORKERS ? 0 : 1;
}
