/*
 * Several interfaces and threads in one address space, no fork: what ThreadSanitizer can watch.
 */
#define _GNU_SOURCE
#include "one_process.h"

#include <pthread.h>
#include <stdatomic.h>

#define INTERFACES 4
#define PUTS 2000

/* ---- everybody puts to everybody, each with a reader ---- */

struct party {
    ptl_handle_ni_t ni;
    ptl_process_id_t id;
    ptl_handle_eq_t eq;
    ptl_handle_md_t source;
    uint8_t *memory;
    pthread_t reader, writer;
    uint64_t seen;
};
static struct party parties[INTERFACES];

static void *reader(void *argument)
{
    struct party *p = argument;
    ptl_event_t event;

    while (p->seen < (INTERFACES - 1) * PUTS) {
        int code = PtlEQWait(p->eq, &event);

        if (code != PTL_OK && code != PTL_EQ_DROPPED) {
            failed = 1;
            why = "PtlEQWait";
            return NULL;
        }
        p->seen += event.type == PTL_EVENT_PUT_END;
    }
    return NULL;
}

static void *writer(void *argument)
{
    struct party *p = argument;

    for (int i = 0; i < PUTS; i++)
        for (int k = 0; k < INTERFACES; k++)
            if (&parties[k] != p && PtlPut(p->source, PTL_ACK_REQ, parties[k].id, PORTAL, 0, 1,
                                           (uint64_t)(p - parties) * 64, (uint64_t)i) != PTL_OK)
                failed = 1;
    return NULL;
}

static void all_to_all(void)
{
    for (int i = 0; i < INTERFACES; i++) {
        struct party *p = &parties[i];
        ptl_handle_me_t me;
        ptl_md_t md = {.threshold = -1, .eq_handle = PTL_EQ_NONE};

        open_one(&p->ni, &p->id);
        if (failed)
            return;
        MUST(PtlEQAlloc(p->ni, 8192, PTL_EQ_HANDLER_NONE, &p->eq) == PTL_OK);
        MUST(PtlExtMemoryAlloc(p->ni, 4096, 0, (void **)&p->memory) == PTL_OK);
        md.start = p->memory;
        md.length = INTERFACES * 64;
        md.options = PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE | PTL_MD_EVENT_START_DISABLE;
        md.eq_handle = p->eq;
        MUST(PtlMEAttach(p->ni, PORTAL, anybody, 1, 0, PTL_RETAIN, PTL_INS_AFTER, &me) == PTL_OK);
        MUST(PtlMDAttach(me, md, PTL_RETAIN, NULL) == PTL_OK);
        md.start = p->memory + 2048;
        md.length = 64;
        md.options = 0;
        md.eq_handle = PTL_EQ_NONE;
        MUST(PtlMDBind(p->ni, md, PTL_RETAIN, &p->source) == PTL_OK);
    }
    for (int i = 0; i < INTERFACES; i++) {
        pthread_create(&parties[i].reader, NULL, reader, &parties[i]);
        pthread_create(&parties[i].writer, NULL, writer, &parties[i]);
    }
    for (int i = 0; i < INTERFACES; i++) {
        pthread_join(parties[i].writer, NULL);
        pthread_join(parties[i].reader, NULL);
    }
    for (int i = 0; i < INTERFACES; i++) {
        char text[256];

        MUST(PtlExtCheck(parties[i].ni, text, sizeof(text)) == 0);
        MUST(PtlNIFini(parties[i].ni) == PTL_OK);
    }
}

/* ---- objects come and go while puts arrive; two threads share an interface ---- */

static _Atomic int stop;
static ptl_handle_ni_t shared_ni, source_ni;
static ptl_process_id_t shared_id;

static void *churn(void *unused)
{
    uint8_t bytes[64];

    (void)unused;
    for (int i = 0; i < 3000; i++) {
        ptl_handle_me_t me;
        ptl_handle_md_t handle;
        ptl_md_t md = {.start = bytes,
                       .length = sizeof(bytes),
                       .threshold = i % 3 ? 2 : -1,
                       .options = PTL_MD_OP_PUT | PTL_MD_TRUNCATE,
                       .eq_handle = PTL_EQ_NONE};

        if (PtlMEAttach(shared_ni, PORTAL, anybody, 2, 0, PTL_UNLINK, PTL_INS_BEFORE, &me) != 0)
            continue; /* the other thread's entries fill the table for a moment */
        if (PtlMDAttach(me, md, PTL_UNLINK, &handle) == PTL_OK)
            PtlMDUpdate(handle, &md, NULL, PTL_EQ_NONE);
        /* In use while a put is landing: then it must be tried again, the memory is on our stack.
         */
        while (PtlMEUnlink(me) == PTL_ME_IN_USE)
            ;
    }
    return NULL;
}

static void *bombard(void *unused)
{
    static uint8_t bytes[64];
    ptl_md_t md = {.start = bytes, .length = 32, .threshold = -1, .eq_handle = PTL_EQ_NONE};
    ptl_handle_md_t handle;

    (void)unused;
    if (PtlMDBind(source_ni, md, PTL_RETAIN, &handle) != PTL_OK)
        failed = 1;
    while (!stop)
        if (PtlPut(handle, PTL_NO_ACK_REQ, shared_id, PORTAL, 0, 2, 0, 0) != PTL_OK)
            failed = 1;
    return NULL;
}

static void churn_under_fire(void)
{
    pthread_t threads[4];
    ptl_process_id_t id;
    char text[256];

    open_one(&shared_ni, &shared_id);
    open_one(&source_ni, &id);
    if (failed)
        return;
    pthread_create(&threads[2], NULL, bombard, NULL);
    pthread_create(&threads[3], NULL, bombard, NULL);
    pthread_create(&threads[0], NULL, churn, NULL);
    pthread_create(&threads[1], NULL, churn, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    stop = 1;
    pthread_join(threads[2], NULL);
    pthread_join(threads[3], NULL);
    MUST(PtlExtCheck(shared_ni, text, sizeof(text)) == 0);
    MUST(PtlExtCheck(source_ni, text, sizeof(text)) == 0);
    MUST(PtlNIFini(shared_ni) == PTL_OK);
    MUST(PtlNIFini(source_ni) == PTL_OK);
}

/* ---- swaps, a put and a get of the same bytes: no two of them at once ---- */

#define WORDS 8
#define SWAPS 3000

static ptl_handle_ni_t swap_ni[4];
static ptl_process_id_t swap_target;
static uint64_t swap_bytes[4][2][WORDS];
static ptl_handle_md_t swap_md[4][2];

static int same_words(const uint64_t *words)
{
    for (int i = 1; i < WORDS; i++)
        if (words[i] != words[0])
            return 0;
    return 1;
}

static void fill_words(uint64_t *words, uint64_t value)
{
    for (int i = 0; i < WORDS; i++)
        words[i] = value;
}

static void *swapper(void *argument)
{
    int who = (int)(intptr_t)argument;

    for (uint64_t i = 0; i < SWAPS; i++) {
        fill_words(swap_bytes[who][0], (uint64_t)who << 32 | i);
        if (PtlGetPut(swap_md[who][1], swap_md[who][0], swap_target, PORTAL, 0, 3, 0, 0) !=
                PTL_OK ||
            !same_words(swap_bytes[who][1])) {
            failed = 1;
            why = "a swap got some of two values";
        }
    }
    return NULL;
}

/* Puts and gets by turns: they are not atomic towards each other. */
static void *putter(void *argument)
{
    int who = (int)(intptr_t)argument;

    for (uint64_t i = 0; i < SWAPS; i++) {
        fill_words(swap_bytes[who][0], (uint64_t)who << 32 | i);
        if (PtlPut(swap_md[who][0], PTL_NO_ACK_REQ, swap_target, PORTAL, 0, 3, 0, 0) != PTL_OK ||
            PtlGet(swap_md[who][1], swap_target, PORTAL, 0, 3, 0) != PTL_OK ||
            !same_words(swap_bytes[who][1])) {
            failed = 1;
            why = "a get got some of two values";
        }
    }
    return NULL;
}

static void swaps_and_puts(void)
{
    pthread_t threads[3];
    ptl_process_id_t id;
    ptl_handle_me_t me;
    uint8_t *memory;
    char text[256];
    ptl_md_t md = {.threshold = -1, .eq_handle = PTL_EQ_NONE};

    open_one(&swap_ni[3], &swap_target);
    if (failed)
        return;
    MUST(PtlExtMemoryAlloc(swap_ni[3], 4096, 0, (void **)&memory) == PTL_OK);
    md.start = memory;
    md.length = WORDS * 8;
    md.options = PTL_MD_OP_PUT | PTL_MD_OP_GET | PTL_MD_MANAGE_REMOTE;
    MUST(PtlMEAttach(swap_ni[3], PORTAL, anybody, 3, 0, PTL_RETAIN, PTL_INS_AFTER, &me) == PTL_OK);
    MUST(PtlMDAttach(me, md, PTL_RETAIN, NULL) == PTL_OK);
    for (int i = 0; i < 3; i++) {
        open_one(&swap_ni[i], &id);
        if (failed)
            return;
        md.options = 0;
        for (int k = 0; k < 2; k++) {
            md.start = swap_bytes[i][k];
            MUST(PtlMDBind(swap_ni[i], md, PTL_RETAIN, &swap_md[i][k]) == PTL_OK);
        }
    }
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, i == 2 ? putter : swapper, (void *)(intptr_t)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        MUST(PtlExtCheck(swap_ni[i], text, sizeof(text)) == 0);
        MUST(PtlNIFini(swap_ni[i]) == PTL_OK);
    }
}

/* ---- a wire's latency, and a rank that is not there yet: four threads put to it ---- */

#define WIRE_THREADS 4
#define WIRE_PUTS 500

static ptl_process_id_t wire_target;
static ptl_handle_md_t wire_source;

static void *put_by_wire(void *unused)
{
    (void)unused;
    for (int i = 0; i < WIRE_PUTS; i++)
        if (PtlPut(wire_source, PTL_ACK_REQ, wire_target, PORTAL, 0, 1, 0, 0) != PTL_OK)
            failed = 1;
    return NULL;
}

static void open_program(ptl_handle_ni_t *ni, ptl_handle_eq_t *eq)
{
    static const ptl_pid_t pids[] = {31000, 31001};
    static const ptl_nid_t nids[] = {1, 1};
    static uint8_t byte[8];
    ptl_md_t md = {.start = byte, .length = 8, .threshold = -1};
    ptl_process_id_t id;

    MUST(setenv("VERBENA_PORTALS_WIRE_US", "200", 1) == 0);
    /* Also on a busy machine the late one has posted its entry in a tenth of this. */
    MUST(setenv("VERBENA_PORTALS_RETRY_MS", "600000", 1) == 0);
    MUST(PtlSetRank(PTL_INVALID_HANDLE, 0, 2) == PTL_OK);
    MUST(PtlSetNIDMap(PTL_INVALID_HANDLE, nids, 2) == PTL_OK);
    MUST(PtlSetPIDMap(PTL_INVALID_HANDLE, pids, 2) == PTL_OK);
    MUST(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, ni) == PTL_OK);
    MUST(PtlGetId(*ni, &id) == PTL_OK && id.pid == 31000);
    MUST(PtlEQAlloc(*ni, 8192, PTL_EQ_HANDLER_NONE, eq) == PTL_OK);
    md.eq_handle = *eq;
    MUST(PtlMDBind(*ni, md, PTL_RETAIN, &wire_source) == PTL_OK);
    MUST(PtlGetRankId(*ni, 1, &wire_target) == PTL_OK);
}

static void open_late(ptl_handle_ni_t *ni)
{
    ptl_ext_options_t options = {.nid = 1, .pid = 31001, .event_slots = 64};
    static uint8_t bytes[8];
    ptl_md_t md = {
        .start = bytes,
        .length = 8,
        .threshold = -1,
        .options = PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE,
        .eq_handle = PTL_EQ_NONE,
    };
    ptl_handle_me_t me;

    usleep(20000);
    MUST(PtlExtNIOpen(&options, NULL, NULL, ni, NULL, 0) == PTL_OK);
    usleep(1100000); /* held up longer than everybody is granted */
    MUST(PtlMEAttach(*ni, PORTAL, anybody, 1, 0, PTL_RETAIN, PTL_INS_AFTER, &me) == PTL_OK);
    MUST(PtlMDAttach(me, md, PTL_RETAIN, NULL) == PTL_OK);
}

/* Every put's SEND_START, SEND_END and ACK, in this order. */
static void take_all(ptl_handle_eq_t eq)
{
    static const ptl_event_kind_t kinds[] = {PTL_EVENT_SEND_START, PTL_EVENT_SEND_END,
                                             PTL_EVENT_ACK};
    ptl_event_t event;

    for (int i = 0; i < 3 * WIRE_THREADS * WIRE_PUTS; i++) {
        MUST(PtlEQWait(eq, &event) == PTL_OK);
        MUST(event.type == kinds[i % 3] && event.ni_fail_type == PTL_NI_OK);
    }
    MUST(PtlEQGet(eq, &event) == PTL_EQ_EMPTY);
}

static void wire(void)
{
    pthread_t threads[WIRE_THREADS];
    ptl_handle_ni_t ni, late;
    ptl_handle_eq_t eq;
    ptl_sr_value_t count;

    open_program(&ni, &eq);
    if (failed)
        return;
    for (int i = 0; i < WIRE_THREADS; i++)
        pthread_create(&threads[i], NULL, put_by_wire, NULL);
    open_late(&late);
    if (!failed)
        take_all(eq);
    for (int i = 0; i < WIRE_THREADS; i++)
        pthread_join(threads[i], NULL);
    if (failed)
        return;
    MUST(PtlNIStatus(late, PTL_SR_RECV_COUNT, &count) == PTL_OK);
    MUST(count == WIRE_THREADS * WIRE_PUTS);
    MUST(PtlNIStatus(late, PTL_SR_DROP_COUNT, &count) == PTL_OK && count == 0);
    MUST(PtlNIFini(ni) == PTL_OK);
    MUST(PtlNIFini(late) == PTL_OK);
}

int main(void)
{
    static const struct threads_case cases[] = {{"all_to_all", all_to_all},
                                                {"churn_under_fire", churn_under_fire},
                                                {"swaps_and_puts", swaps_and_puts},
                                                {"wire", wire}};

    return run_cases(cases, sizeof(cases) / sizeof(cases[0]));
}
