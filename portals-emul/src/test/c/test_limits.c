/*
 * Every limit is reached, and one more is refused by name. An interface opened without wishes, as
 * programs do: what it does not use takes no shared memory.
 */
#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* What programs were promised. */
#define ENTRIES_LEAST 16384
#define DESCRIPTORS_LEAST 65536
#define QUEUES_LEAST 1024
#define INDICES_LEAST 64

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PROCESSES 100 /* a sanitizer's shadow of a thousand processes takes more than there is */
#else
#define PROCESSES 1000
#endif

static uint8_t bytes[64], own_bytes[64];
static ptl_ni_limits_t limits;

static void open_at_maximum(void)
{
    int interfaces;

    unsetenv("PTL_EVENT_SLOTS"); /* which the harness keeps small */
    OK(PtlInit(&interfaces));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, &limits, &ni));
    OK(PtlGetId(ni, &own_id));
    target_id = own_id;
}

/* Whether shared memory has that many MiB left; says so if not. */
static int has_room(const char *name, uint64_t mebibytes)
{
    struct statvfs vfs;

    if (statvfs(getenv("VERBENA_SHM_DIR"), &vfs) == 0 &&
        (uint64_t)vfs.f_bavail * vfs.f_frsize >> 20 >= mebibytes)
        return 1;
    printf("# %s: less than %llu MiB of shared memory are free\n", name,
           (unsigned long long)mebibytes);
    return 0;
}

static void put_and_expect(ptl_pt_index_t index, ptl_match_bits_t bits, int outcome)
{
    static ptl_handle_md_t md = PTL_INVALID_HANDLE;

    if (md == PTL_INVALID_HANDLE)
        md = bind(own_bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    OK(PtlPut(md, PTL_NO_ACK_REQ, own_id, index, 0, bits, 0, 0));
    CHECK_EQ(outcome, PtlExtLastOutcome());
}

static void refused_by_name(int code, const char *word)
{
    CHECK_EQ(PTL_NO_SPACE, code);
    if (strstr(PtlExtError(), word) == NULL)
        check_fail(__FILE__, __LINE__, "\"%s\" does not say %s", PtlExtError(), word);
}

static void match_entries(void)
{
    ptl_handle_me_t me, first = PTL_INVALID_HANDLE, last = PTL_INVALID_HANDLE;
    ptl_handle_me_t *all;

    open_at_maximum();
    CHECK(limits.max_mes >= ENTRIES_LEAST && limits.max_me_list >= ENTRIES_LEAST);
    CHECK(limits.max_pt_index + 1 >= INDICES_LEAST);
    all = calloc((size_t)limits.max_mes, sizeof(*all));
    CHECK(all != NULL);
    for (int i = 0; i < limits.max_mes; i++) {
        ptl_pt_index_t index = (ptl_pt_index_t)(i % (limits.max_pt_index + 1));

        OK(PtlMEAttach(ni, index, ANY_ID, (uint64_t)i, 0, PTL_UNLINK, PTL_INS_AFTER, &all[i]));
        if (i == 0)
            first = all[i];
        last = all[i];
    }
    CHECK_EQ(limits.max_mes, status(PTL_SR_MES_CUR));
    refused_by_name(PtlMEAttach(ni, 0, ANY_ID, 0, 0, PTL_UNLINK, PTL_INS_AFTER, &me),
                    "match entries");
    refused_by_name(PtlMEInsert(first, ANY_ID, 0, 0, PTL_UNLINK, PTL_INS_AFTER, &me),
                    "match entries");
    OK(PtlMDAttach(last, make_md(bytes, 8, -1, BOTH, PTL_EQ_NONE), PTL_RETAIN, NULL));
    put_and_expect((ptl_pt_index_t)limits.max_pt_index, (uint64_t)limits.max_mes - 1,
                   PTL_EXT_DELIVERED);
    put_and_expect(0, 0, PTL_EXT_DROPPED);
    expect_sound();
    /* Room again as soon as one is gone. */
    OK(PtlMEUnlink(all[77]));
    OK(PtlMEAttach(ni, 1, ANY_ID, 1, 0, PTL_UNLINK, PTL_INS_BEFORE, &all[77]));
    for (int i = 0; i < limits.max_mes; i++)
        OK(PtlMEUnlink(all[i]));
    CHECK_EQ(0, status(PTL_SR_MES_CUR));
    expect_sound();
    free(all);
}

/* All of them in one list. */
static void longest_list(void)
{
    ptl_handle_me_t me;

    open_at_maximum();
    for (int i = 0; i < limits.max_me_list; i++)
        OK(PtlMEAttach(ni, 3, ANY_ID, (uint64_t)i, 0, PTL_UNLINK, PTL_INS_BEFORE, &me));
    CHECK_EQ(limits.max_me_list == limits.max_mes ? PTL_ME_LIST_TOO_LONG : PTL_NO_SPACE,
             PtlMEAttach(ni, 3, ANY_ID, 0, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    CHECK_EQ(PTL_PT_INDEX_INVALID, PtlMEAttach(ni, (ptl_pt_index_t)limits.max_pt_index + 1, ANY_ID,
                                               0, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
}

static void descriptors(void)
{
    ptl_handle_md_t md, *all;
    ptl_handle_me_t me;

    open_at_maximum();
    CHECK(limits.max_mds >= DESCRIPTORS_LEAST);
    all = calloc((size_t)limits.max_mds, sizeof(*all));
    CHECK(all != NULL);
    for (int i = 0; i < limits.max_mds; i++)
        all[i] = bind(bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    refused_by_name(PtlMDBind(ni, make_md(bytes, 8, -1, 0, PTL_EQ_NONE), PTL_RETAIN, &md),
                    "memory descriptors");
    OK(PtlMEAttach(ni, 0, ANY_ID, 1, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    refused_by_name(PtlMDAttach(me, make_md(bytes, 8, -1, BOTH, PTL_EQ_NONE), PTL_RETAIN, &md),
                    "memory descriptors");
    OK(PtlPut(all[limits.max_mds - 1], PTL_NO_ACK_REQ, own_id, 0, 0, 1, 0, 0));
    OK(PtlMDUnlink(all[0]));
    OK(PtlMDAttach(me, make_md(bytes, 8, -1, BOTH, PTL_EQ_NONE), PTL_RETAIN, &md));
    OK(PtlPut(all[limits.max_mds - 1], PTL_NO_ACK_REQ, own_id, 0, 0, 1, 0, 0));
    CHECK_EQ(PTL_EXT_DELIVERED, PtlExtLastOutcome());
    for (int i = 1; i < limits.max_mds; i++)
        OK(PtlMDUnlink(all[i]));
    CHECK_EQ(1, status(PTL_SR_MDS_CUR));
    expect_sound();
    free(all);
}

static void event_queues(void)
{
    ptl_handle_eq_t eq, first = PTL_INVALID_HANDLE, last = PTL_INVALID_HANDLE;

    open_at_maximum();
    CHECK(limits.max_eqs >= QUEUES_LEAST);
    for (int i = 0; i < limits.max_eqs; i++) {
        last = new_eq(2);
        if (i == 0)
            first = last;
    }
    refused_by_name(PtlEQAlloc(ni, 2, PTL_EQ_HANDLER_NONE, &eq), "event queues");
    post(bytes, 8, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, last);
    put_and_expect(PORTAL, BITS, PTL_EXT_DELIVERED);
    take(last, PTL_EVENT_PUT_END);
    expect_empty(first);
    OK(PtlEQFree(first));
    OK(PtlEQAlloc(ni, 2, PTL_EQ_HANDLER_NONE, &eq));
    expect_sound();
}

/* The longest queue that the specification names; and one of more events than there is room for. */
static void longest_queue(void)
{
    ptl_handle_eq_t eq, more;
    ptl_handle_md_t md;
    ptl_event_t event;

    if (!has_room("longest_queue", 200))
        return;
    open_at_maximum();
    eq = new_eq(1 << 20);
    CHECK_EQ(PTL_NO_SPACE, PtlEQAlloc(ni, (1 << 20) + 1, PTL_EQ_HANDLER_NONE, &more));
    new_eq(65535); /* what DART asks for */
    refused_by_name(PtlEQAlloc(ni, 1 << 20, PTL_EQ_HANDLER_NONE, &more), "that all queues share");
    md = post(NULL, 0, -1, PTL_MD_OP_PUT | PTL_MD_TRUNCATE | PTL_MD_EVENT_START_DISABLE, eq);
    for (int i = 0; i < 70000; i++)
        put_and_expect(PORTAL, BITS, PTL_EXT_DELIVERED);
    for (int i = 0; i < 70000; i++)
        OK(PtlEQGet(eq, &event));
    CHECK_EQ(md, event.md_handle);
    CHECK_EQ(PTL_EQ_EMPTY, PtlEQGet(eq, &event));
}

static void segments(void)
{
    static ptl_md_iovec_t iovs[1025];
    ptl_handle_md_t md;
    ptl_md_t many = make_md(iovs, 1024, -1, PTL_MD_OP_PUT | PTL_MD_IOVEC, PTL_EQ_NONE);
    ptl_handle_me_t me;

    open_at_maximum();
    for (int i = 0; i < 1025; i++)
        iovs[i] = (ptl_md_iovec_t){&bytes[i % 64], 1};
    for (int i = 0; i < 16; i++) {
        OK(PtlMEAttach(ni, 0, ANY_ID, 1, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
        OK(PtlMDAttach(me, many, PTL_RETAIN, &md));
    }
    OK(PtlMEAttach(ni, 0, ANY_ID, 1, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    refused_by_name(PtlMDAttach(me, many, PTL_RETAIN, &md), "segment table");
    many.length = 1025;
    CHECK_EQ(PTL_MD_ILLEGAL, PtlMDAttach(me, many, PTL_RETAIN, &md));
    put_and_expect(0, 1, PTL_EXT_DELIVERED);
}

/* Opens one more interface of this process and puts from it to the first. */
static int outcome_of_another(ptl_handle_ni_t *another)
{
    ptl_ext_options_t options = {.event_slots = 64};
    ptl_ni_limits_t small = {8, 8, 4, 3, 3, 4, 8, 64};
    ptl_handle_md_t md;

    OK(PtlExtNIOpen(&options, &small, NULL, another, NULL, 0));
    OK(PtlMDBind(*another, make_md(own_bytes, 8, -1, 0, PTL_EQ_NONE), PTL_RETAIN, &md));
    OK(PtlPut(md, PTL_NO_ACK_REQ, own_id, PORTAL, 0, BITS, 0, 0));
    return PtlExtLastOutcome();
}

/* As many interfaces as it was opened for may send to it; one that goes makes room. */
static void initiators(void)
{
    ptl_ext_options_t options = {.event_slots = 64, .initiators_max = 3};
    ptl_handle_ni_t others[4], again;
    int interfaces;

    OK(PtlInit(&interfaces));
    OK(PtlExtNIOpen(&options, NULL, NULL, &ni, NULL, 0));
    OK(PtlGetId(ni, &own_id));
    post(bytes, 8, -1, PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(PTL_EXT_DELIVERED, outcome_of_another(&others[i]));
    CHECK_EQ(PTL_EXT_FAILED + PTL_EXT_FAIL_UNREACHABLE, outcome_of_another(&others[3]));
    OK(PtlNIFini(others[1]));
    CHECK_EQ(PTL_EXT_DELIVERED, outcome_of_another(&again));
    expect_sound();
}

/* Shared memory that a segment really takes. */
static uint64_t taken(void)
{
    char path[512];
    struct stat st;

    snprintf(path, sizeof(path), "%s/verbena-%u/%s/%u.%u", getenv("VERBENA_SHM_DIR"),
             (unsigned)geteuid(), getenv("PTL_JOB"), own_id.nid, own_id.pid);
    CHECK_EQ(0, stat(path, &st));
    return (uint64_t)st.st_blocks * 512;
}

static void only_what_is_used_takes_memory(void)
{
    uint64_t before;
    ptl_handle_eq_t eq;

    open_at_maximum();
    before = taken();
    if (before > 4 << 20)
        check_fail(__FILE__, __LINE__, "an unused interface takes %llu bytes",
                   (unsigned long long)before);
    eq = new_eq(65536);
    CHECK(taken() >= before + 65536 * 128);
    OK(PtlEQFree(eq));
    for (int i = 0; i < 20000; i++)
        bind(bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    CHECK(taken() >= before + 65536 * 128 + 12000 * 128);
    expect_sound();
}

/* ---- a thousand processes ---- */

static int begin_gate[2], end_gate[2];

/* Ends the case at once when one of them has failed. */
static void await_count(int flag)
{
    while (__atomic_load_n((uint32_t *)&shared->flag[flag], __ATOMIC_ACQUIRE) < PROCESSES) {
        int state;

        CHECK_EQ(0, waitpid(-1, &state, WNOHANG));
        usleep(5000);
    }
}

static void count(int flag)
{
    __atomic_fetch_add((uint32_t *)&shared->flag[flag], 1, __ATOMIC_RELEASE);
}

/* A thousand sleepers that look again and again would leave nothing for the others: a pipe's end
 * wakes them all once. */
static void pass(const int *gate)
{
    char none;

    CHECK_EQ(0, read(gate[0], &none, 1));
}

/* PTL_NO_SPACE is back pressure: with a thousand processes on few processors one may be put off its
 * processor for long while it holds a lock. */
static void put_until_taken(ptl_handle_md_t md, ptl_process_id_t id, uint32_t self)
{
    int code;

    while ((code = PtlPut(md, PTL_NO_ACK_REQ, id, PORTAL, 0, BITS, 0, self)) == PTL_NO_SPACE)
        usleep(10000);
    CHECK_EQ(PTL_OK, code);
    CHECK_EQ(PTL_EXT_DELIVERED, PtlExtLastOutcome());
}

static void one_of_many(uint32_t self, ptl_process_id_t parent)
{
    ptl_process_id_t *everybody = (void *)shared->bytes;
    ptl_handle_md_t md;
    ptl_handle_eq_t eq;
    ptl_event_t event;
    int interfaces;

    alarm(140);
    close(begin_gate[1]);
    close(end_gate[1]);
    OK(PtlInit(&interfaces));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    OK(PtlGetId(ni, &everybody[self]));
    eq = new_eq(16);
    post(bytes, 8, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    md = bind(own_bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    count(0);
    pass(begin_gate);
    put_until_taken(md, parent, self);
    put_until_taken(md, everybody[(self + 1) % PROCESSES], self);
    OK(PtlEQWait(eq, &event));
    CHECK_EQ((self + PROCESSES - 1) % PROCESSES, event.hdr_data);
    count(1);
    pass(end_gate); /* nobody goes before all have met */
    _exit(0);
}

static void thousand_processes(void)
{
    static uint8_t seen[PROCESSES];
    static pid_t children[PROCESSES];
    ptl_handle_eq_t eq;
    ptl_event_t event;
    int state;

    if (!has_room("thousand_processes", 3 * PROCESSES))
        return;
    open_at_maximum();
    eq = new_eq(PROCESSES);
    post(bytes, 8, -1, PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE | PTL_MD_EVENT_START_DISABLE, eq);
    CHECK(pipe(begin_gate) == 0 && pipe(end_gate) == 0);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0)
            one_of_many(i, own_id);
    }
    await_count(0);
    close(begin_gate[1]);
    await_count(1);
    for (int i = 0; i < PROCESSES; i++) {
        OK(PtlEQGet(eq, &event));
        CHECK(event.hdr_data < PROCESSES && !seen[event.hdr_data]);
        seen[event.hdr_data] = 1;
    }
    CHECK_EQ(PTL_EQ_EMPTY, PtlEQGet(eq, &event));
    close(end_gate[1]);
    for (int i = 0; i < PROCESSES; i++) {
        CHECK_EQ(children[i], waitpid(children[i], &state, 0));
        CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    }
    expect_sound();
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"12", "match_entries", match_entries},
        {"16", "longest_list", longest_list},
        {"", "descriptors", descriptors},
        {"", "event_queues", event_queues},
        {"", "longest_queue", longest_queue},
        {"50", "segments", segments},
        {"", "initiators", initiators},
        {"", "only_what_is_used_takes_memory", only_what_is_used_takes_memory},
        {"", "thousand_processes", thousand_processes},
    };

    return check_main(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
