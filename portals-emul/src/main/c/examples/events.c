/*
 * Shows: event queues. Two queues polled in one call, a handler, START and END events that belong
 * together, and a queue that was too short.
 * Run:   events
 */
#include "example.h"

#define BIG_PORTAL 0
#define SMALL_PORTAL 1
#define BITS 7
#define PUTS 10

static int handled;

/* Runs in the thread that takes the event, before the call that takes it returns. */
static void on_event(ptl_event_t *event)
{
    handled++;
    printf("  %s, %llu bytes at %llu, sequence %u, link %u\n", PtlEventKindStr(event->type),
           (unsigned long long)event->mlength, (unsigned long long)event->offset, event->sequence,
           event->link);
}

/* An entry for BITS with a queue of its own. */
static void post(ptl_handle_ni_t ni, ptl_pt_index_t index, char *memory, unsigned options,
                 ptl_handle_eq_t eq)
{
    ptl_md_t md = {.start = memory,
                   .length = 4096,
                   .threshold = PTL_MD_THRESH_INF,
                   .options = PTL_MD_OP_PUT | options,
                   .eq_handle = eq};

    expose(ni, index, BITS, md, PTL_RETAIN);
}

int main(void)
{
    static char memory[2][4096], text[16] = "fifteen letters";
    ptl_process_id_t self;
    ptl_handle_ni_t ni = open_interface(&self);
    ptl_handle_eq_t queues[2];
    ptl_handle_md_t source;
    ptl_event_t event;
    int which, code, lost = 0, taken = 0;
    ptl_md_t md = {.start = text,
                   .length = sizeof(text),
                   .threshold = PTL_MD_THRESH_INF,
                   .eq_handle = PTL_EQ_NONE};

    MUST(PtlEQAlloc(ni, 64, on_event, &queues[0]));
    MUST(PtlEQAlloc(ni, 4, PTL_EQ_HANDLER_NONE, &queues[1]));
    post(ni, BIG_PORTAL, memory[0], 0, queues[0]);
    post(ni, SMALL_PORTAL, memory[1], PTL_MD_EVENT_START_DISABLE, queues[1]);
    MUST(PtlMDBind(ni, md, PTL_RETAIN, &source));

    printf("two puts, each with START and END (their link is the same):\n");
    MUST(PtlPut(source, PTL_NO_ACK_REQ, self, BIG_PORTAL, 0, BITS, 0, 0));
    MUST(PtlPut(source, PTL_NO_ACK_REQ, self, BIG_PORTAL, 0, BITS, 0, 0));
    while (PtlEQPoll(queues, 2, 10, &event, &which) == PTL_OK)
        ;
    printf("%d puts into a queue of 4 events:\n", PUTS);
    for (int i = 0; i < PUTS; i++)
        MUST(PtlPut(source, PTL_NO_ACK_REQ, self, SMALL_PORTAL, 0, BITS, 0, (ptl_hdr_data_t)i));
    while ((code = PtlEQGet(queues[1], &event)) != PTL_EQ_EMPTY) {
        lost += code == PTL_EQ_DROPPED;
        taken++;
        printf("  hdr_data %llu%s\n", (unsigned long long)event.hdr_data,
               code == PTL_EQ_DROPPED ? " (PTL_EQ_DROPPED: events before it are lost)" : "");
    }
    printf("%d of %d events were there; the messages themselves all arrived\n", taken, PUTS);
    PtlFini();
    return handled == 4 && lost == 1 && taken == 4 ? 0 : 1;
}
