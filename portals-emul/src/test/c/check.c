#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CASE_SECONDS 150
#ifdef PORTALS_STANDARD
#define PORTABLE_ONLY 1
#else
#define PORTABLE_ONLY 0
#endif

ptl_handle_ni_t ni;
ptl_process_id_t own_id;
ptl_process_id_t target_id;
ptl_ni_limits_t own_limits;
uint32_t check_flavor = PTL_EXT_REF;
uint32_t check_lock_timeout_ms;
struct check_shared *shared;

static char *why; /* shared with the runner */
#define WHY_SIZE 1024

void check_fail(const char *file, int line, const char *format, ...)
{
    const char *slash = strrchr(file, '/');
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (why[0] == '\0')
        snprintf(why, WHY_SIZE, "%s:%d: %s", slash ? slash + 1 : file, line, text);
    _exit(1);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void run_case(const struct check_case *c, int *passed, int *failed)
{
    char label[512] = "";
    pid_t pid;
    int state;

    for (const char *p = c->assertions; *p;) {
        size_t length = strcspn(p, ",");

        snprintf(label + strlen(label), sizeof(label) - strlen(label), "%sportals3-%.*s",
                 label[0] ? "," : "", (int)length, p);
        p += length + (p[length] == ',');
    }
    if (label[0])
        strcat(label, " ");
    why[0] = '\0';
    memset(shared, 0, sizeof(*shared));
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        char job[64];

        setpgid(0, 0);
        snprintf(job, sizeof(job), "case-%d", (int)getpid());
        setenv("PTL_JOB", job, 1);
        alarm(CASE_SECONDS);
        nic_prepare();
        c->run();
        PtlFini();
        exit(0);
    }
    waitpid(pid, &state, 0);
    kill(-pid, SIGKILL); /* whatever the case left running; only its own group */
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) {
        printf("ok %s%s\n", label, c->name);
        ++*passed;
        return;
    }
    if (why[0] == '\0' && WIFSIGNALED(state))
        snprintf(why, WHY_SIZE, WTERMSIG(state) == SIGALRM ? "time limit of %d s" : "signal %d",
                 WTERMSIG(state) == SIGALRM ? CASE_SECONDS : WTERMSIG(state));
    else if (why[0] == '\0')
        snprintf(why, WHY_SIZE, "exit code %d", WEXITSTATUS(state));
    printf("not ok %s%s: %s\n", label, c->name, why);
    ++*failed;
}

/* argv[1], if given, selects cases: a name or one of the numbers. */
static int selected(const struct check_case *c, const char *wanted)
{
    size_t length = strlen(wanted);

    if (strcmp(c->name, wanted) == 0)
        return 1;
    for (const char *p = c->assertions; *p; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, wanted, length) == 0 && (p[length] == ',' || p[length] == '\0'))
            return 1;
    return 0;
}

int check_main(const struct check_case *cases, int count, int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;
    char directory[] = "/dev/shm/portals-test-XXXXXX";

    why = mmap(NULL, WHY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (why == MAP_FAILED || shared == MAP_FAILED || mkdtemp(directory) == NULL) {
        perror("check_main");
        return 2;
    }
    setenv("VERBENA_SHM_DIR", directory, 1);
    setenv("PTL_EVENT_SLOTS", "16384", 0);
    for (int i = 0; i < count; i++) {
        if (PORTABLE_ONLY && cases[i].assertions[0] == '\0')
            continue; /* of this library alone */
        if (argc > 1 && !selected(&cases[i], argv[1]))
            continue;
        if (cases[i].run == NULL) {
            printf("skip portals3-%s %s: %s\n", cases[i].assertions, cases[i].name, cases[i].skip);
            skipped++;
            continue;
        }
        run_case(&cases[i], &passed, &failed);
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return failed != 0;
}

void check_initiator(void (*body)(void))
{
    alarm(CASE_SECONDS);
    open_interface(check_flavor);
    body();
    nic_settle();
    PtlFini();
    _exit(0);
}

pid_t initiator_start(void (*body)(void))
{
    target_id = own_id;
    return nic_start(body);
}

int initiator_join(pid_t pid)
{
    int state = nic_join(pid);

    if (WIFSIGNALED(state) && WTERMSIG(state) != SIGKILL)
        check_fail(__FILE__, __LINE__, "the initiator died of signal %d", WTERMSIG(state));
    if (WIFEXITED(state) && WEXITSTATUS(state) != 0)
        check_fail(__FILE__, __LINE__, "the initiator failed");
    return WIFSIGNALED(state) ? WTERMSIG(state) : 0;
}

void initiator_run(void (*body)(void))
{
    CHECK_EQ(0, initiator_join(initiator_start(body)));
}

void await_flag(int index, uint32_t value)
{
    const struct timespec pause = {.tv_nsec = 100000};

    while (__atomic_load_n((uint32_t *)&shared->flag[index], __ATOMIC_ACQUIRE) != value)
        nanosleep(&pause, NULL);
}

void set_flag(int index, uint32_t value)
{
    __atomic_store_n((uint32_t *)&shared->flag[index], value, __ATOMIC_RELEASE);
}

void open_interface(uint32_t flavor)
{
    ptl_ni_limits_t limits = {4096, 4096, 64, 63, 63, 1024, 4096, 64};
    int interfaces = 0;

    OK(PtlInit(&interfaces));
    OK(nic_open(flavor, &limits, &own_limits, &ni));
    OK(PtlGetId(ni, &own_id));
}

ptl_md_t make_md(void *start, uint64_t length, int threshold, unsigned options, ptl_handle_eq_t eq)
{
    return (ptl_md_t){.start = start,
                      .length = length,
                      .threshold = threshold,
                      .options = options,
                      .user_ptr = start,
                      .eq_handle = eq};
}

ptl_handle_eq_t new_eq(uint64_t count)
{
    ptl_handle_eq_t eq;

    OK(PtlEQAlloc(ni, count, PTL_EQ_HANDLER_NONE, &eq));
    return eq;
}

ptl_handle_md_t post_at(ptl_pt_index_t portal, ptl_match_bits_t bits, ptl_md_t md,
                        ptl_unlink_t unlink, ptl_handle_me_t *me)
{
    ptl_handle_me_t entry;
    ptl_handle_md_t handle;

    OK(PtlMEAttach(ni, portal, ANY_ID, bits, 0, unlink, PTL_INS_AFTER, &entry));
    OK(PtlMDAttach(entry, md, unlink, &handle));
    if (me != NULL)
        *me = entry;
    return handle;
}

ptl_handle_md_t post(void *start, uint64_t length, int threshold, unsigned options,
                     ptl_handle_eq_t eq)
{
    return post_at(PORTAL, BITS, make_md(start, length, threshold, options, eq), PTL_UNLINK, NULL);
}

ptl_handle_md_t bind(void *start, uint64_t length, int threshold, ptl_unlink_t unlink,
                     ptl_handle_eq_t eq)
{
    ptl_handle_md_t handle;

    OK(PtlMDBind(ni, make_md(start, length, threshold, 0, eq), unlink, &handle));
    return handle;
}

int put_to(ptl_handle_md_t md, ptl_ack_req_t ack, uint64_t bits, uint64_t offset, uint64_t hdr)
{
    return PtlPut(md, ack, target_id, PORTAL, 0, bits, offset, hdr);
}

int put(ptl_handle_md_t md, ptl_ack_req_t ack)
{
    return put_to(md, ack, BITS, 0, 0);
}

int get(ptl_handle_md_t md)
{
    return PtlGet(md, target_id, PORTAL, 0, BITS, 0);
}

ptl_event_t take(ptl_handle_eq_t eq, ptl_event_kind_t kind)
{
    ptl_event_t event;
    int code = nic_event_due(eq, &event);

    if (code != PTL_OK)
        check_fail(__FILE__, __LINE__, "expected %s, the queue gave %s", PtlEventKindStr(kind),
                   PtlErrorStr((unsigned)code));
    if (event.type != kind)
        check_fail(__FILE__, __LINE__, "expected %s, got %s", PtlEventKindStr(kind),
                   PtlEventKindStr(event.type));
    return event;
}

void expect_empty(ptl_handle_eq_t eq)
{
    ptl_event_t event;
    int code = nic_event_not_due(eq, &event);

    if (code != PTL_EQ_EMPTY)
        check_fail(__FILE__, __LINE__, "expected an empty queue, got %s (%s)",
                   PtlErrorStr((unsigned)code), PtlEventKindStr(event.type));
}

uint64_t status(ptl_sr_index_t index)
{
    ptl_sr_value_t value;

    OK(PtlNIStatus(ni, index, &value));
    return value;
}

void expect_status(ptl_sr_index_t index, uint64_t expected)
{
    ptl_sr_value_t value;

    if (!PORTABLE_ONLY || PtlNIStatus(ni, index, &value) == PTL_OK)
        CHECK_EQ(expected, status(index));
}

void expect_sound(void)
{
    char text[512] = "";
    int faults = nic_faults(ni, text, sizeof(text));

    if (faults != 0)
        check_fail(__FILE__, __LINE__, "%d faults in the segment: %s", faults, text);
}
