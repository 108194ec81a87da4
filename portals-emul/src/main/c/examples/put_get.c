/*
 * Shows: a target that exposes memory, an initiator that puts into it and gets it back.
 * Run:   make examples, then ../../../target/c/examples/put_get   (it forks the target itself)
 */
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "example.h"

#define PORTAL 5
#define BITS 0xbeef

/* Exposes a line of text, tells its address through the pipe, and waits for a put and a get. */
static void target(int out)
{
    static char text[64] = "nothing yet";
    ptl_process_id_t id;
    ptl_handle_ni_t ni = open_interface(&id);
    ptl_handle_eq_t eq;
    ptl_event_t event;
    ptl_md_t md = {.start = text,
                   .length = sizeof(text),
                   .threshold = 2,
                   .options = PTL_MD_OP_PUT | PTL_MD_OP_GET | PTL_MD_MANAGE_REMOTE};

    MUST(PtlEQAlloc(ni, 16, PTL_EQ_HANDLER_NONE, &eq));
    md.eq_handle = eq;
    expose(ni, PORTAL, BITS, md, PTL_UNLINK);
    if (write(out, &id, sizeof(id)) != (ssize_t)sizeof(id))
        _exit(1);
    do {
        MUST(PtlEQWait(eq, &event));
        printf("target:    %s\n", PtlEventKindStr(event.type));
    } while (event.type != PTL_EVENT_UNLINK);
    printf("target:    memory now says \"%s\"\n", text);
    PtlFini();
}

static void initiator(ptl_process_id_t peer)
{
    char line[64] = "hello from the other process";
    ptl_process_id_t id;
    ptl_handle_ni_t ni = open_interface(&id);
    ptl_handle_eq_t eq;
    ptl_handle_md_t md;
    ptl_event_t event;
    ptl_md_t description = {.start = line, .length = sizeof(line), .threshold = PTL_MD_THRESH_INF};

    MUST(PtlEQAlloc(ni, 16, PTL_EQ_HANDLER_NONE, &eq));
    description.eq_handle = eq;
    MUST(PtlMDBind(ni, description, PTL_RETAIN, &md));
    MUST(PtlPut(md, PTL_ACK_REQ, peer, PORTAL, 0, BITS, 0, 0));
    do {
        MUST(PtlEQWait(eq, &event));
        printf("initiator: %s\n", PtlEventKindStr(event.type));
    } while (event.type != PTL_EVENT_ACK);
    memset(line, 0, sizeof(line));
    MUST(PtlGet(md, peer, PORTAL, 0, BITS, 0));
    do {
        MUST(PtlEQWait(eq, &event));
        printf("initiator: %s\n", PtlEventKindStr(event.type));
    } while (event.type != PTL_EVENT_REPLY_END);
    printf("initiator: got \"%s\"\n", line);
    PtlFini();
}

int main(void)
{
    ptl_process_id_t peer;
    int ends[2], state;
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        return 1;
    if (child == 0) {
        target(ends[1]);
        return 0;
    }
    if (read(ends[0], &peer, sizeof(peer)) != (ssize_t)sizeof(peer))
        return 1;
    initiator(peer);
    waitpid(child, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}
