/*
 * Shows: a program of the reference implementation's run-time. A launcher starts its processes and
 * tells them their ranks by the environment; nobody calls PtlSetRank, nobody asks for a pid. Even
 * ranks send a number to the next rank, which sends it back plus one; own events and those of the
 * answer are in one queue of ten. Run, for two ranks (the second may start seconds later):
 *   for r in 0 1; do PTL_MY_RID=$r PTL_NIDMAP=1:1 PTL_PIDMAP=100:101 ./round_trip & done; wait
 */
#define P3_NAL <p3nal_utcp.h>
#include "example.h"

#include <p3rt/p3rt.h>

#define PORTAL 3
#define BITS 0x0f00
#define TURNS 1000

static long number;
static ptl_handle_eq_t eq;

/* The next two events are START and END of this operation, and nothing was lost. */
static void expect(ptl_event_kind_t start)
{
    ptl_event_t event;

    for (unsigned i = 0; i < 2; i++) {
        MUST(PtlEQWait(eq, &event));
        if (event.type == start + i && event.ni_fail_type == PTL_NI_OK)
            continue;
        fprintf(stderr, "%s instead of %s\n", PtlEventKindStr(event.type),
                PtlEventKindStr(start + i));
        exit(1);
    }
}

static void send_to(unsigned rank, ptl_handle_md_t md)
{
    ptl_process_id_t id;

    MUST(PtlGetRankId(PTL_INVALID_HANDLE, rank, &id));
    MUST(PtlPut(md, PTL_NO_ACK_REQ, id, PORTAL, 0, BITS, 0, 0));
    expect(PTL_EVENT_SEND_START);
}

int main(void)
{
    ptl_process_id_t anybody = {PTL_NID_ANY, PTL_PID_ANY};
    ptl_md_t rules = {.start = &number,
                      .length = sizeof(number),
                      .threshold = PTL_MD_THRESH_INF,
                      .options = PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE,
                      .user_ptr = NULL};
    unsigned rank, size;
    int interfaces;
    ptl_handle_ni_t ni;
    ptl_handle_me_t me;
    ptl_handle_md_t md;

    MUST(PtlInit(&interfaces));
    MUST(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    MUST(PtlGetRank(ni, &rank, &size));
    MUST(PtlEQAlloc(ni, 10, PTL_EQ_HANDLER_NONE, &eq));
    rules.eq_handle = eq;
    MUST(PtlMEAttach(ni, PORTAL, anybody, BITS, 0, PTL_RETAIN, PTL_INS_AFTER, &me));
    MUST(PtlMDAttach(me, rules, PTL_RETAIN, &md));
    for (int turn = 0; turn < TURNS && (rank ^ 1) < size; turn++) {
        if (rank % 2 == 0)
            send_to(rank + 1, md);
        expect(PTL_EVENT_PUT_START);
        if (rank % 2 != 0) {
            number++;
            send_to(rank - 1, md);
        }
    }
    printf("rank %u of %u: the number is %ld\n", rank, size, number);
    PtlFini();
    return 0;
}
