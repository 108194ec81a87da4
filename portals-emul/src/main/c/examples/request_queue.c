/*
 * Shows: the buffered request queue of Cray XT programs (CRAY flavour). Two buffers with equal
 * match bits take requests one after the other; a full one says so by UNLINK and is posted again at
 * the tail. Run:   make examples, then ../../../target/c/examples/request_queue   (it forks its
 * clients itself)
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <portals/portals3.h>

#define PORTAL 0
#define BITS 4
#define CLIENTS 3
#define REQUESTS 10
#define BUFFERS 4 /* together they hold every request: nothing can be dropped */
#define PER_BUFFER 8

struct request {
    uint32_t client;
    uint32_t number;
};

#define MUST(call)                                                                                 \
    do {                                                                                           \
        int code_ = (call);                                                                        \
        if (code_ != PTL_OK) {                                                                     \
            fprintf(stderr, "%s: %s\n", #call, ptl_err_str[code_]);                                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static struct request buffers[BUFFERS][PER_BUFFER];

static ptl_handle_ni_t open_interface(ptl_process_id_t *id)
{
    ptl_handle_ni_t ni;
    int interfaces;

    MUST(PtlInit(&interfaces));
    MUST(PtlNIInit(IFACE_FROM_BRIDGE_AND_NALID(PTL_BRIDGE_UK, PTL_IFACE_SS), PTL_PID_ANY, NULL,
                   NULL, &ni));
    MUST(PtlGetId(ni, id));
    return ni;
}

static void post_buffer(ptl_handle_ni_t ni, ptl_handle_eq_t eq, struct request *buffer)
{
    const ptl_process_id_t anybody = {PTL_NID_ANY, PTL_PID_ANY};
    ptl_handle_me_t me;
    ptl_md_t md = {.start = buffer,
                   .length = sizeof(buffers[0]),
                   .threshold = PER_BUFFER,
                   .options =
                       PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE | PTL_MD_EVENT_AUTO_UNLINK_ENABLE,
                   .user_ptr = buffer,
                   .eq_handle = eq};

    MUST(PtlMEAttach(ni, PORTAL, anybody, BITS, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    MUST(PtlMDAttach(me, md, PTL_UNLINK, NULL));
}

static void client(uint32_t number, ptl_process_id_t server)
{
    ptl_process_id_t id;
    ptl_handle_ni_t ni = open_interface(&id);
    ptl_handle_md_t md;
    struct request request = {.client = number};
    ptl_md_t description = {.start = &request,
                            .length = sizeof(request),
                            .threshold = PTL_MD_THRESH_INF,
                            .eq_handle = PTL_EQ_NONE};

    MUST(PtlMDBind(ni, description, PTL_UNLINK, &md));
    for (; request.number < REQUESTS; request.number++)
        MUST(PtlPut(md, PTL_NOACK_REQ, server, PORTAL, 0, BITS, 0, 0));
    PtlFini();
}

int main(void)
{
    ptl_process_id_t id;
    ptl_handle_ni_t ni = open_interface(&id);
    ptl_handle_eq_t eq;
    ptl_event_t event;
    int which, served = 0, rotations = 0;

    MUST(PtlEQAlloc(ni, 64, NULL, &eq));
    for (int i = 0; i < BUFFERS; i++)
        post_buffer(ni, eq, buffers[i]);
    for (uint32_t i = 0; i < CLIENTS; i++)
        if (fork() == 0) {
            client(i, id);
            return 0;
        }
    while (PtlEQPoll(&eq, 1, 1000, &event, &which) == PTL_OK && served < CLIENTS * REQUESTS) {
        if (event.type == PTL_EVENT_UNLINK) {
            post_buffer(ni, eq, event.md.user_ptr);
            rotations++;
            continue;
        }
        {
            const struct request *r = (const void *)((const char *)event.md.start + event.offset);

            printf("request %u of client %u at offset %llu\n", r->number, r->client,
                   (unsigned long long)event.offset);
            served++;
        }
    }
    while (wait(NULL) > 0)
        ;
    printf("%d requests, buffers posted again %d times\n", served, rotations);
    PtlFini();
    return served == CLIENTS * REQUESTS ? 0 : 1;
}
