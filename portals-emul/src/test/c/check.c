#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

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

static void run_in_job(void (*body)(void))
{
    char job[64];

    snprintf(job, sizeof(job), "case-%d", (int)getpid());
    setenv("PTL_JOB", job, 1);
    setenv("PTL_EVENT_SLOTS", "16384", 0);
    nic_prepare();
    body();
    PtlFini();
}

const struct check_suite check_suite = {
    .prefix = "portals3",
    .folder_variable = "VERBENA_SHM_DIR",
    .is_numbered_only = PORTABLE_ONLY, /* the others are of this library alone */
    .run = run_in_job,
};

const char *check_error(void)
{
    return nic_error();
}

void check_initiator(void (*body)(void))
{
    alarm(CHECK_CASE_SECONDS);
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
    return check_ended("initiator", nic_join(pid));
}

void initiator_run(void (*body)(void))
{
    CHECK_EQ(0, initiator_join(initiator_start(body)));
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
