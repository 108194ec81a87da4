/*
 * A family of tests from the published semantics: every line of a table is carried out in every
 * world, with every choice of ids. A world has members: NIC handles of one protection domain, in
 * processes of their own or several in one process, on one NIC address or on several. Every member
 * deals with every other one. Members with odd numbers use memory of the toolkit.
 */
#ifndef SEMANTICS_H
#define SEMANTICS_H

#include "check.h"
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMBERS 4
#define WAIT_MS 60000 /* far more than a loaded machine needs */

struct world {
    int processes, domains, addresses; /* domains: of each process */
};

/* What an endpoint is bound to, where the interface leaves that to the program. */
enum ids {
    DEFAULT_IDS,    /* a number that is nobody's instance, and the events that follow from it */
    EVENT_IDS,      /* the same, then GNI_EpSetEventData */
    OTHERS_INSTANCE /* the instance of a member that the endpoint is not for */
};

/* What members tell each other; zeroed for each world. */
struct board {
    _Atomic uint32_t arrived[8];
    struct about {
        uint64_t memory;
        gni_mem_handle_t handle;
        uint32_t ce[2];
    } about[MEMBERS];
    gni_smsg_attr_t mailbox[MEMBERS][MEMBERS][2];
    uint8_t queue[MEMBERS][MEMBERS][256]; /* attributes of a node's message queue, for another */
};

struct member {
    struct node node;
    const struct line *line;
    const struct world *world;
    struct board *board;
    enum ids ids;
    int rank, size;
    pid_t process[MEMBERS]; /* the runner's */
    gni_ep_handle_t ep[MEMBERS][2];
    int sent[MEMBERS][2], received[MEMBERS][2];
    int events, arrivals; /* fetched from the source queue and from the destination queue */
    void *own;            /* the kind's */
};

/* How one sort of line goes. The steps are those of all members of a process; between any two of
 * them all members of the world meet. A step that is NULL is left out. */
struct kind {
    void (*prepare)(struct member *m); /* open; makes known what the others need */
    void (*connect)(struct member *m); /* endpoints */
    void (*start)(struct member *m);   /* posts what can be posted at once */
    int (*progress)(struct member *m); /* 1: the member has everything that it waits for */
    void (*finish)(struct member *m);  /* checks what must be true in the end */
    int binds_instances;               /* the id of a bind is the peer's instance */
    int needs_addresses;               /* only in worlds of several addresses */
    int needs_aries;
};

struct line; /* each program has its own */

static inline uint32_t inst_of(int rank)
{
    return 7000 + 13 * (uint32_t)rank;
}

static inline int address_of(const struct member *m, int rank)
{
    return rank / m->world->domains % m->world->addresses;
}

static inline uint32_t pe_of(const struct member *m, int rank)
{
    return 0x100 + 0x100 * (uint32_t)address_of(m, rank);
}

static inline uint32_t bind_id(const struct member *m, int peer, int binds_instances)
{
    if (binds_instances)
        return inst_of(peer);
    return m->ids == OTHERS_INSTANCE ? inst_of((peer + 1) % m->size)
                                     : 100 * (uint32_t)m->rank + (uint32_t)peer;
}

/* What the events of an endpoint of member `from` towards `to` carry: here, and there. */
static inline uint32_t local_event(const struct member *m, int to, int binds_instances)
{
    return m->ids == EVENT_IDS ? 50000 + 100 * (uint32_t)m->rank + (uint32_t)to
                               : bind_id(m, to, binds_instances);
}

static inline uint32_t remote_event(const struct member *m, int from, int to)
{
    return m->ids == EVENT_IDS ? 60000 + 100 * (uint32_t)from + (uint32_t)to : inst_of(from);
}

static inline gni_ep_handle_t bind_to(struct member *m, int peer, int binds_instances)
{
    gni_ep_handle_t ep;

    OK(GNI_EpCreate(m->node.nic, m->node.cq, &ep));
    OK(GNI_EpBind(ep, pe_of(m, peer), bind_id(m, peer, binds_instances)));
    if (m->ids == EVENT_IDS)
        OK(GNI_EpSetEventData(ep, local_event(m, peer, binds_instances),
                              remote_event(m, m->rank, peer)));
    return ep;
}

static inline void meet_all(struct board *board, int index, int processes)
{
    atomic_fetch_add(&board->arrived[index], 1);
    while (atomic_load(&board->arrived[index]) != (uint32_t)processes)
        sched_yield();
}

/* The peer that an arrival's event comes from, or -1 if there is none. The event's own kind of id
 * must be the same. */
static inline int next_arrival(struct member *m, gni_cq_entry_t *entry)
{
    gni_return_t code = GNI_CqGetEvent(m->node.dst, entry);

    if (code == GNI_RC_NOT_DONE)
        return -1;
    OK(code);
    m->arrivals++;
    for (int peer = 0; peer < m->size; peer++)
        if (peer != m->rank && GNI_CQ_GET_REM_INST_ID(*entry) == remote_event(m, peer, m->rank)) {
            CHECK_EQ(remote_event(m, peer, m->rank), GNI_CQ_GET_INST_ID(*entry));
            return peer;
        }
    check_fail(__FILE__, __LINE__, "member %d: a remote event of id %llu", m->rank,
               (unsigned long long)GNI_CQ_GET_REM_INST_ID(*entry));
}

/* Message `number` of one member to another, by their mailbox or endpoint `k`. */
static inline uint32_t id_of(int from, int to, int k, int number)
{
    return (uint32_t)(((from * MEMBERS + to) * 2 + k) << 12 | (number & 0xfff));
}

/* Of the messages that member m sent, in the order of each endpoint. */
static inline void take_sent(struct member *m, uint64_t type)
{
    int(*told)[2] = m->own;
    gni_cq_entry_t entry;

    while (GNI_CqTestEvent(m->node.cq) != GNI_RC_NOT_DONE) {
        OK(GNI_CqGetEvent(m->node.cq, &entry));
        CHECK_EQ(type, GNI_CQ_GET_TYPE(entry));
        int peer = GNI_CQ_GET_MSG_ID(entry) >> 13 & 3, k = GNI_CQ_GET_MSG_ID(entry) >> 12 & 1;
        CHECK_EQ(id_of(m->rank, peer, k, told[peer][k]++), GNI_CQ_GET_MSG_ID(entry));
        m->events++;
    }
}

static inline void member_open(struct member *m)
{
    struct about *about = &m->board->about[m->rank];
    char text[16];

    snprintf(text, sizeof(text), "%u", pe_of(m, m->rank));
    setenv("GNI_SHIM_NIC_ADDR", text, 1);
    node_open(&m->node, inst_of(m->rank), GNI_CDM_MODE_DUAL_EVENTS, m->rank & 1);
    CHECK_EQ(pe_of(m, m->rank), m->node.pe);
    about->memory = (uint64_t)(uintptr_t)m->node.memory;
    about->handle = m->node.handle;
}

static inline void run_process(const struct kind *kind, struct member *m, int process)
{
    void (*const steps[])(struct member *) = {kind->prepare, kind->connect, kind->start, NULL,
                                              kind->finish};
    const int domains = m->world->domains;
    int waiting = domains;
    uint64_t end;

    if (kind->needs_aries)
        setenv("GNI_SHIM_DEVICE", "aries", 1);
    for (int i = 0; i < domains; i++) {
        if (i > 0)
            m[i] = m[0];
        m[i].rank = process * domains + i;
    }
    for (int i = 0; i < domains; i++)
        member_open(&m[i]);
    for (int step = 0; step < 5; step++) {
        for (int i = 0; i < domains && steps[step] != NULL; i++)
            steps[step](&m[i]);
        for (end = now_ms() + WAIT_MS; step == 3 && waiting > 0; sched_yield()) {
            waiting = 0;
            for (int i = 0; i < domains; i++)
                waiting += !kind->progress(&m[i]);
            if (now_ms() > end)
                check_fail(__FILE__, __LINE__, "member %d timed out after %d events, %d arrivals",
                           m->rank, m->events, m->arrivals);
        }
        meet_all(m->board, step, m->world->processes);
    }
    for (int i = 0; i < domains; i++)
        node_close(&m[i].node);
}

/* In processes of its own, all of them; the first that fails ends the others and the case. */
static inline void run_world(const struct kind *kind, struct member *m, const char *ids)
{
    const struct world *w = m->world;
    int status = 0, running;

    fflush(NULL);
    for (running = 0; running < w->processes; running++) {
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0) {
            end_with_parent();
            run_process(kind, m, running);
            _Exit(0);
        }
        m->process[running] = pid;
    }
    for (; running > 0 && status == 0; running--)
        CHECK(wait(&status) > 0);
    if (status == 0)
        return;
    printf("# with %s: %d processes, %d NIC handles each, %d NIC addresses\n", ids, w->processes,
           w->domains, w->addresses);
    fflush(stdout);
    for (int i = 0; i < w->processes; i++)
        kill(m->process[i], SIGKILL);
    while (wait(NULL) > 0)
        ;
    check_ended("member", status);
    check_fail(__FILE__, __LINE__, "a member was killed");
}

static inline void run_line(const struct kind *kind, const struct line *line)
{
    static const struct world worlds[] = {{2, 1, 1}, {2, 1, 2}, {4, 1, 1}, {4, 1, 2}, {2, 2, 1}};
    static const char *const ids[] = {"default events", "events set", "another's instance"};

    for (size_t w = 0; w < sizeof(worlds) / sizeof(*worlds); w++)
        for (int i = DEFAULT_IDS; i <= OTHERS_INSTANCE; i++) {
            struct member m[MEMBERS] = {{.line = line, .world = &worlds[w], .ids = (enum ids)i}};

            if ((kind->needs_addresses && worlds[w].addresses == 1) ||
                (kind->binds_instances && i == OTHERS_INSTANCE))
                continue;
            m->size = worlds[w].processes * worlds[w].domains;
            m->board = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
            CHECK(m->board != MAP_FAILED);
            run_world(kind, m, ids[i]);
            munmap(m->board, sizeof(struct board));
        }
}

/* The program of a table of lines. */
#define SEMANTICS_MAIN(lines, kind_of)                                                             \
    static struct check_case cases[sizeof(lines) / sizeof(*(lines))];                              \
    static void run(void)                                                                          \
    {                                                                                              \
        const struct line *line = &(lines)[check_running - cases];                                 \
                                                                                                   \
        run_line(kind_of, line);                                                                   \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        const int count = (int)(sizeof(lines) / sizeof(*(lines)));                                 \
                                                                                                   \
        for (int i = 0; i < count; i++)                                                            \
            cases[i] = (struct check_case){(lines)[i].assertions, (lines)[i].name, run};           \
        return check_main(cases, count, argc, argv);                                               \
    }

#endif
