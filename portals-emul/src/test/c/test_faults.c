/* Bad surroundings: corrupted segments, no room, forks, restarted peers; and the calls of
 * portals3_ext.h. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "p3_library.h"
#include "portals3_layout.h"

static uint8_t own_bytes[4096];
static ptl_handle_eq_t eq;

/* ---- corruption ---- */

static uint64_t seed;

static uint32_t chance(uint32_t limit)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % limit;
}

/* Every call that there is, on objects of a segment that is being overwritten. Answers do not
 * matter; returning does. */
static void use_everything(void *memory)
{
    ptl_event_t event;
    ptl_handle_me_t me = PTL_INVALID_HANDLE, second;
    ptl_handle_md_t md = PTL_INVALID_HANDLE;
    ptl_handle_eq_t queue = PTL_EQ_NONE;
    ptl_md_t update = make_md(memory, 64, 2, BOTH, PTL_EQ_NONE);
    int which;

    (void)PtlEQAlloc(ni, 8, PTL_EQ_HANDLER_NONE, &queue);
    update.eq_handle = queue;
    (void)PtlMEAttach(ni, chance(4), ANY_ID, chance(2), 0, PTL_UNLINK, PTL_INS_AFTER, &me);
    (void)PtlMDAttach(me, update, PTL_UNLINK, NULL);
    (void)PtlMEInsert(me, ANY_ID, 1, 0, PTL_UNLINK, PTL_INS_BEFORE, &second);
    update.options = 0;
    (void)PtlMDBind(ni, update, PTL_UNLINK, &md);
    for (unsigned i = 0; i < 4; i++) {
        (void)PtlPut(md, PTL_ACK_REQ, own_id, i, 0, i % 2, 0, 0);
        (void)PtlGet(md, own_id, i, 0, i % 2, 0);
        (void)PtlGetPut(md, md, own_id, i, 0, i % 2, 0, 0);
        (void)PtlEQGet(queue, &event);
    }
    (void)PtlEQPoll(&queue, 1, 0, &event, &which);
    (void)PtlMDUpdate(md, NULL, &update, queue);
    (void)PtlMDUnlink(md);
    (void)PtlMEUnlink(second);
    (void)PtlMEUnlink(me);
    (void)PtlEQFree(queue);
    (void)PtlExtReap(ni);
}

static void corrupt_and_use(void)
{
    struct p3_ni *inner;
    uint8_t *area;
    uint64_t length;
    void *memory = NULL;

    /* Small tables: then most of what is overwritten is in use. */
    ptl_ni_limits_t limits = {8, 8, 4, 3, 3, 4, 8, 64};
    ptl_ext_options_t options = {.event_slots = 64, .initiators_max = 8, .lock_timeout_ms = 5};

    OK(PtlExtNIOpen(&options, &limits, NULL, &ni, NULL, 0));
    OK(PtlGetId(ni, &own_id));
    OK(PtlExtMemoryAlloc(ni, 4096, 0, &memory));
    OK(p3_ni_enter(ni, P3_KIND_NI, PTL_NI_INVALID, &inner));
    area = (uint8_t *)inner->view.area;
    length = (uint64_t)((uint8_t *)inner->view.iov - area);
    p3_ni_leave(inner);
    for (int i = 0; i < 60; i++) {
        use_everything(memory);
        for (uint32_t k = 1 + chance(6); k > 0; k--) {
            uint64_t at = chance(4) ? chance(1024) : chance((uint32_t)length);

            /* The lock's word only now and then: each time costs a time-out. */
            if (at < 128 || at >= 144 || chance(50) == 0)
                area[at] = chance(3) ? (uint8_t)chance(256) : 0xff;
        }
    }
    (void)PtlExtCheck(ni, NULL, 0);
}

static void corrupted_segment(void)
{
    const char *text = getenv("PORTALS_TEST_SEED");
    uint64_t first = text ? strtoull(text, NULL, 0) : 4711;

    open_interface(PTL_EXT_REF);
    for (uint64_t round = 0; round < 40; round++) {
        seed = first + round;
        /* A process of its own each: a corrupted interface is not closed, but left by exiting. */
        fflush(stdout);
        pid_t pid = fork();
        int state;

        if (pid == 0) {
            int interfaces;

            alarm(20);
            OK(PtlInit(&interfaces));
            corrupt_and_use();
            _exit(0);
        }
        waitpid(pid, &state, 0);
        if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
            check_fail(__FILE__, __LINE__, "seed %llu: signal %d, code %d",
                       (unsigned long long)seed, WIFSIGNALED(state) ? WTERMSIG(state) : 0,
                       WIFEXITED(state) ? WEXITSTATUS(state) : 0);
    }
}

/* A target whose header is nonsense is refused, not believed. */
static void i_meets_nonsense(void)
{
    ptl_handle_eq_t own = new_eq(8);

    OK(put(bind(own_bytes, 8, -1, PTL_RETAIN, own), PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    CHECK_EQ(PTL_EXT_FAIL_CORRUPT, take(own, PTL_EVENT_SEND_END).ni_fail_type);
    expect_empty(own);
}

static void corrupted_header(void)
{
    struct p3_ni *inner;

    open_interface(PTL_EXT_REF);
    OK(p3_ni_enter(ni, P3_KIND_NI, PTL_NI_INVALID, &inner));
    inner->view.area->max_mds = 0x7fffffff;
    p3_ni_leave(inner);
    initiator_run(i_meets_nonsense);
    inner->view.area->max_mds = 4096;
}

/* A chain of the index that bites its own tail ends the walk. */
static void i_meets_a_loop(void)
{
    ptl_handle_eq_t own = new_eq(8);

    OK(put(bind(own_bytes, 8, -1, PTL_RETAIN, own), PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    CHECK_EQ(PTL_EXT_FAIL_CORRUPT, take(own, PTL_EVENT_SEND_END).ni_fail_type);
}

static void corrupted_list(void)
{
    struct p3_ni *inner;
    ptl_handle_me_t me;

    open_interface(PTL_EXT_REF);
    OK(PtlMEAttach(ni, PORTAL, ANY_ID, BITS, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    OK(p3_ni_enter(ni, P3_KIND_NI, PTL_NI_INVALID, &inner));
    inner->view.me[p3_handle_index(me)].chain_next = p3_handle_index(me);
    p3_ni_leave(inner);
    initiator_run(i_meets_a_loop);
    CHECK(PtlExtCheck(ni, NULL, 0) > 0);
}

/* ---- no room ---- */

static void no_shared_memory(void)
{
    struct rlimit limit = {1 << 20, 1 << 20};
    ptl_ext_options_t options = {0};
    ptl_handle_ni_t second = PTL_INVALID_HANDLE;
    char why[512] = "";
    void *memory;
    int code;

    open_interface(PTL_EXT_REF);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(0,
             setrlimit(RLIMIT_FSIZE, &limit)); /* stands for a full /dev/shm: files end at 1 MiB */
    code = PtlExtNIOpen(&options, NULL, NULL, &second, why, sizeof(why));
    CHECK(code == PTL_NO_SPACE || code == PTL_FAIL);
    CHECK(strlen(why) > 0);
    CHECK_EQ(PTL_NO_SPACE, PtlExtMemoryAlloc(ni, 64 << 20, 0, &memory));
    CHECK(strlen(PtlExtError()) > 0);
    CHECK_EQ(PTL_NO_SPACE, PtlEQAlloc(ni, 1 << 20, PTL_EQ_HANDLER_NONE, &eq));
    eq = new_eq(16);
    target_id = own_id;
    post(own_bytes, 64, -1, PTL_MD_OP_PUT, eq);
    OK(put(bind(own_bytes + 64, 8, -1, PTL_RETAIN, PTL_EQ_NONE), PTL_NO_ACK_REQ));
    take(eq, PTL_EVENT_PUT_START);
}

static void too_many_interfaces(void)
{
    ptl_ext_options_t options = {.event_slots = 64, .initiators_max = 8};
    ptl_ni_limits_t small = {8, 8, 4, 3, 3, 4, 8, 64};
    ptl_handle_ni_t handle = PTL_INVALID_HANDLE;
    int interfaces, opened = 0, code;
    char job[32];

    OK(PtlInit(&interfaces));
    /* Spread over jobs: each opening looks at every interface of its own job. */
    options.job = job;
    do {
        snprintf(job, sizeof(job), "many-%d-%d", (int)getpid(), opened % 32);
        code = PtlExtNIOpen(&options, &small, NULL, &handle, NULL, 0);
        opened += code == PTL_OK;
    } while (code == PTL_OK);
    CHECK_EQ(PTL_NO_SPACE, code);
    CHECK_EQ(255, opened);
    OK(PtlNIFini(handle));
    OK(PtlExtNIOpen(&options, &small, NULL, &handle, NULL, 0));
}

/* ---- forks and restarts ---- */

static void child_has_nothing_open(void)
{
    ptl_process_id_t id;
    int state;
    pid_t pid;

    open_interface(PTL_EXT_REF);
    eq = new_eq(8);
    pid = fork();
    if (pid == 0) {
        ptl_event_t event;
        int interfaces;

        CHECK_EQ(PTL_NO_INIT, PtlGetId(ni, &id));
        CHECK_EQ(PTL_NO_INIT, PtlEQWait(eq, &event));
        OK(PtlInit(&interfaces));
        CHECK_EQ(PTL_NI_INVALID, PtlGetId(ni, &id));
        CHECK_EQ(PTL_EQ_INVALID, PtlEQGet(eq, &event));
        CHECK_EQ(PTL_NI_INVALID, PtlNIFini(ni));
        PtlFini();
        _exit(0);
    }
    waitpid(pid, &state, 0);
    CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    OK(PtlGetId(ni, &id)); /* the parent's is untouched */
    expect_sound();
}

static void serve_pid_500(void)
{
    ptl_ext_options_t options = {.pid = 500};
    ptl_handle_ni_t mine;

    OK(PtlExtNIOpen(&options, NULL, NULL, &mine, NULL, 0));
    ni = mine;
    post(own_bytes, 64, -1, PTL_MD_OP_PUT, PTL_EQ_NONE);
    set_flag(0, 1);
    for (;;)
        pause();
}

static int state_of(ptl_process_id_t id, uint64_t *incarnation)
{
    int state = -1;

    OK(PtlExtPeerState(ni, id, &state, incarnation));
    return state;
}

static void restarted_peer(void)
{
    ptl_process_id_t id = {1, 500};
    uint64_t first, second, none;
    ptl_handle_md_t md;
    pid_t pid;

    open_interface(PTL_EXT_REF);
    CHECK_EQ(PTL_EXT_DEAD, state_of(id, &none));
    CHECK_EQ(0, none);
    pid = initiator_start(serve_pid_500);
    await_flag(0, 1);
    target_id = id;
    md = bind(own_bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    OK(put(md, PTL_NO_ACK_REQ));
    CHECK_EQ(PTL_EXT_DELIVERED, PtlExtLastOutcome());
    CHECK_EQ(PTL_EXT_ALIVE, state_of(id, &first));
    kill(pid, SIGKILL);
    CHECK_EQ(SIGKILL, initiator_join(pid));
    CHECK_EQ(PTL_EXT_DEAD, state_of(id, &none));
    set_flag(0, 0);
    pid = initiator_start(serve_pid_500);
    await_flag(0, 1);
    target_id = id;
    /* The dead one's mapping is given up within the liveness period; until then puts may go to it.
     */
    do
        OK(put(md, PTL_NO_ACK_REQ));
    while (PtlExtLastOutcome() != PTL_EXT_DELIVERED || state_of(id, &second) != PTL_EXT_ALIVE ||
           second == first);
    OK(PtlExtPeerPin(ni, id, first));
    OK(put(md, PTL_NO_ACK_REQ));
    CHECK_EQ(PTL_EXT_FAILED + PTL_EXT_FAIL_UNREACHABLE, PtlExtLastOutcome());
    OK(PtlExtPeerPin(ni, id, second));
    OK(put(md, PTL_NO_ACK_REQ));
    CHECK_EQ(PTL_EXT_DELIVERED, PtlExtLastOutcome());
    OK(PtlExtPeerForget(ni, id));
    kill(pid, SIGSTOP);
    do
        CHECK(state_of(id, &second) != PTL_EXT_DEAD);
    while (state_of(id, &second) != PTL_EXT_STOPPED);
    kill(pid, SIGKILL);
    initiator_join(pid);
}

/* ---- extension ---- */

static void toolkit_memory(void)
{
    uint8_t *memory = NULL;
    ptl_handle_md_t md;

    open_interface(PTL_EXT_REF);
    eq = new_eq(8);
    OK(PtlExtMemoryAlloc(ni, 100000, 0, (void **)&memory));
    md = post(memory + 4096, 64, -1, PTL_MD_OP_PUT, eq);
    CHECK_EQ(PTL_MD_IN_USE, PtlExtMemoryFree(ni, memory));
    target_id = own_id;
    memset(own_bytes, 0x42, 8);
    OK(put(bind(own_bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE), PTL_NO_ACK_REQ));
    CHECK_EQ(0x42, memory[4096 + 7]);
    OK(PtlMDUnlink(md));
    md = bind(memory + 99999, 1, -1, PTL_RETAIN, PTL_EQ_NONE);
    CHECK_EQ(PTL_MD_IN_USE, PtlExtMemoryFree(ni, memory));
    OK(PtlMDUnlink(md));
    OK(PtlExtMemoryFree(ni, memory));
    CHECK(PtlExtMemoryFree(ni, own_bytes) != PTL_OK);
    CHECK_EQ(PTL_SEGV, PtlExtMemoryAlloc(ni, 100, 0, NULL));
}

static uint64_t word(const void *base, size_t offset)
{
    return __atomic_load_n((const uint64_t *)(const void *)((const uint8_t *)base + offset),
                           __ATOMIC_ACQUIRE);
}

/* The rules of portals3_layout.h, as another reader would follow them. */
static int read_in_place(const ptl_ext_eq_view_t *view, uint64_t *hdr_data, uint64_t *offset)
{
    uint64_t *head = (uint64_t *)(void *)((uint8_t *)view->header + PTL_QUEUE_HEAD);
    uint64_t h = *head, tail, stamp = h;
    const uint8_t *slot;
    int code = PTL_OK;

    tail = word(view->header, PTL_QUEUE_TAIL);
    slot = (const uint8_t *)view->slots + (h & (view->capacity - 1)) * PTL_SLOT_BYTES;
    if (word(slot, PTL_SLOT_STAMP) != h) {
        if ((int64_t)(tail - h) <= 0)
            return PTL_EQ_EMPTY;
        code = PTL_EQ_DROPPED;
        stamp = tail - view->capacity > h + 1 ? tail - view->capacity : h + 1;
        slot = (const uint8_t *)view->slots + (stamp & (view->capacity - 1)) * PTL_SLOT_BYTES;
    }
    CHECK_EQ(stamp, word(slot, PTL_SLOT_STAMP));
    CHECK_EQ(PTL_EVENT_PUT_END, slot[PTL_SLOT_KIND]);
    CHECK_EQ(PTL_NI_OK, slot[PTL_SLOT_NI_FAIL]);
    *hdr_data = word(slot, PTL_SLOT_HDR_DATA);
    *offset = word(slot, PTL_SLOT_OFFSET);
    __atomic_store_n(head, stamp + 1, __ATOMIC_RELEASE);
    return code;
}

static void queue_in_place(void)
{
    ptl_ext_eq_view_t view;
    uint64_t hdr = 99, offset = 99;
    ptl_handle_md_t md;
    ptl_event_t event;

    open_interface(PTL_EXT_REF);
    eq = new_eq(4);
    target_id = own_id;
    OK(PtlExtEQView(eq, &view));
    CHECK_EQ(4, view.capacity);
    post(own_bytes, 4096, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    md = bind(own_bytes + 2048, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    CHECK_EQ(PTL_EQ_EMPTY, read_in_place(&view, &hdr, &offset));
    for (uint64_t i = 0; i < 3; i++)
        OK(put_to(md, PTL_NO_ACK_REQ, BITS, 0, i));
    OK(read_in_place(&view, &hdr, &offset));
    CHECK_EQ(0, hdr);
    OK(PtlEQGet(eq, &event)); /* both readers share the queue's head */
    CHECK_EQ(1, event.hdr_data);
    OK(read_in_place(&view, &hdr, &offset));
    CHECK_EQ(2, hdr);
    CHECK_EQ(16, offset);
    for (uint64_t i = 3; i < 9; i++)
        OK(put_to(md, PTL_NO_ACK_REQ, BITS, 0, i));
    CHECK_EQ(PTL_EQ_DROPPED, read_in_place(&view, &hdr, &offset));
    CHECK_EQ(5, hdr);
    OK(PtlEQGet(eq, &event));
    CHECK_EQ(6, event.hdr_data);
}

static void doorbell(void)
{
    uint32_t seen;

    open_interface(PTL_EXT_REF);
    eq = new_eq(4);
    target_id = own_id;
    OK(PtlExtDoorbell(ni, &seen));
    CHECK_EQ(PTL_EQ_EMPTY, PtlExtWait(ni, seen, 0));
    CHECK_EQ(PTL_EQ_EMPTY, PtlExtWait(ni, seen, 1000000));
    OK(PtlExtRing(ni));
    OK(PtlExtWait(ni, seen, -1));
    OK(PtlExtDoorbell(ni, &seen));
    post(own_bytes, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    OK(put(bind(own_bytes + 64, 8, -1, PTL_RETAIN, PTL_EQ_NONE), PTL_NO_ACK_REQ));
    OK(PtlExtWait(ni, seen, -1));
}

static void layout_table(void)
{
    int count = 0;

    while (PtlExtLayoutName(count) != NULL) {
        CHECK(PtlExtLayoutValue(count) >= 0);
        count++;
    }
    CHECK(count > 60);
    CHECK_EQ(-1, PtlExtLayoutValue(count));
    CHECK(PtlExtLayoutName(-1) == NULL);
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "corrupted_segment", corrupted_segment},
        {"", "corrupted_header", corrupted_header},
        {"", "corrupted_list", corrupted_list},
        {"", "no_shared_memory", no_shared_memory},
        {"", "too_many_interfaces", too_many_interfaces},
        {"", "child_has_nothing_open", child_has_nothing_open},
        {"", "restarted_peer", restarted_peer},
        {"", "toolkit_memory", toolkit_memory},
        {"", "queue_in_place", queue_in_place},
        {"", "doorbell", doorbell},
        {"", "layout_table", layout_table},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
