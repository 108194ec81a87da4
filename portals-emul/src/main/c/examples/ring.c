/*
 * Shows: a program of several processes that know each other by rank. A token goes round twice;
 * every process adds its rank to it. Run: ring [PROCESSES]   (it starts the others itself, as a
 * launcher would: by the environment variables PTL_MY_RID, PTL_NIDMAP and PTL_PIDMAP)
 */
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <p3rt/p3rt.h>
#include "example.h"

#define PORTAL 3
#define TOKEN 0x70
#define ROUNDS 2
#define MOST 64

/* Puts the token to a rank until it is taken: the other may not have posted its entry yet. */
static void pass_on(ptl_handle_md_t md, ptl_handle_eq_t eq, unsigned rank)
{
    ptl_process_id_t id;
    ptl_event_t event;
    int which, acknowledged = 0;

    MUST(PtlGetRankId(PTL_INVALID_HANDLE, rank, &id));
    while (!acknowledged) {
        MUST(PtlPut(md, PTL_ACK_REQ, id, PORTAL, 0, TOKEN, 0, 0));
        while (PtlEQPoll(&eq, 1, 20, &event, &which) == PTL_OK)
            acknowledged |= event.type == PTL_EVENT_ACK;
    }
}

static void process(void)
{
    static long received, sent;
    unsigned rank, size;
    int interfaces;
    ptl_process_id_t self;
    ptl_handle_ni_t ni;
    ptl_handle_eq_t in, out;
    ptl_handle_md_t md;
    ptl_event_t event;
    ptl_md_t to = {.start = &received,
                   .length = sizeof(received),
                   .threshold = PTL_MD_THRESH_INF,
                   .options = PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE | PTL_MD_EVENT_START_DISABLE};
    ptl_md_t from = {.start = &sent, .length = sizeof(sent), .threshold = PTL_MD_THRESH_INF};

    MUST(PtlSetRank(PTL_INVALID_HANDLE, -1, -1));
    MUST(PtlGetRank(PTL_INVALID_HANDLE, &rank, &size));
    MUST(PtlGetRankId(PTL_INVALID_HANDLE, rank, &self));
    MUST(PtlInit(&interfaces));
    MUST(PtlNIInit(PTL_IFACE_DEFAULT, self.pid, NULL, NULL, &ni));
    MUST(PtlEQAlloc(ni, 16, PTL_EQ_HANDLER_NONE, &in));
    MUST(PtlEQAlloc(ni, 16, PTL_EQ_HANDLER_NONE, &out));
    to.eq_handle = in;
    from.eq_handle = out;
    expose(ni, PORTAL, TOKEN, to, PTL_RETAIN);
    MUST(PtlMDBind(ni, from, PTL_RETAIN, &md));
    if (rank == 0)
        pass_on(md, out, 1 % size);
    for (int round = 0; round < ROUNDS; round++) {
        MUST(PtlEQWait(in, &event));
        sent = received + rank;
        if (rank == 0)
            printf("round %d: the token says %ld\n", round + 1, received);
        if (rank != 0 || round + 1 < ROUNDS)
            pass_on(md, out, (rank + 1) % size);
    }
    PtlFini();
}

/* Starts this program again, as rank `rank` of `size`. */
static pid_t launch(char **argv, unsigned rank, unsigned size)
{
    char nids[MOST * 8] = "", pids[MOST * 8] = "", number[16];
    pid_t child = fork();

    if (child != 0)
        return child;
    for (unsigned i = 0; i < size; i++) {
        snprintf(nids + strlen(nids), 8, "%s1", i ? ":" : "");
        snprintf(pids + strlen(pids), 8, "%s%u", i ? ":" : "", 100 + i);
    }
    snprintf(number, sizeof(number), "%u", rank);
    setenv("PTL_MY_RID", number, 1);
    setenv("PTL_NIDMAP", nids, 1);
    setenv("PTL_PIDMAP", pids, 1);
    execv("/proc/self/exe", argv);
    _exit(127);
}

int main(int argc, char **argv)
{
    unsigned size = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
    int state, failed = 0;

    if (getenv("PTL_MY_RID") != NULL) {
        process();
        return 0;
    }
    if (size < 2 || size > MOST)
        return fprintf(stderr, "2 to %d processes\n", MOST), 2;
    for (unsigned i = 0; i < size; i++)
        if (launch(argv, i, size) < 0)
            return 1;
    while (wait(&state) > 0)
        failed |= !WIFEXITED(state) || WEXITSTATUS(state) != 0;
    return failed;
}
