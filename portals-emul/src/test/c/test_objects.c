/* Library, interfaces, descriptors (assertions 1 to 11, 93). */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static uint8_t bytes[256];
static ptl_handle_eq_t eq;

static void begin(void)
{
    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
}

/* ---- init and interfaces ---- */

static void not_initialised(void)
{
    ptl_handle_ni_t handle;
    ptl_process_id_t id;
    ptl_sr_value_t value;
    ptl_event_t event;
    int which;

    CHECK_EQ(PTL_NO_INIT, PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &handle));
    CHECK_EQ(PTL_NO_INIT, PtlGetId(0, &id));
    CHECK_EQ(PTL_NO_INIT, PtlNIStatus(0, PTL_SR_DROP_COUNT, &value));
    CHECK_EQ(PTL_NO_INIT, PtlNIFini(0));
    CHECK_EQ(PTL_NO_INIT, PtlEQGet(0, &event));
    CHECK_EQ(PTL_NO_INIT, PtlEQPoll(&handle, 1, 0, &event, &which));
    CHECK_EQ(PTL_NO_INIT, PtlMEUnlink(0));
    CHECK_EQ(PTL_NO_INIT, PtlMDUnlink(0));
    CHECK_EQ(PTL_NO_INIT, PtlPut(0, PTL_NO_ACK_REQ, id, 0, 0, 0, 0, 0));
    open_interface(PTL_EXT_REF);
    PtlFini();
    CHECK_EQ(PTL_NO_INIT, PtlGetId(ni, &id));
}

static void init_twice(void)
{
    int a = 0, b = 0;

    OK(PtlInit(&a));
    OK(PtlInit(&b));
    CHECK(a >= 1 && b >= 1);
    CHECK_EQ(PTL_SEGV, PtlInit(NULL));
}

static void interface_ids(void)
{
    int interfaces;
    ptl_process_id_t id;

    OK(PtlInit(&interfaces));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    OK(PtlGetId(ni, &id));
    CHECK(id.pid != PTL_PID_ANY && id.pid >= 1 && id.pid <= 0xfffe);
    OK(PtlNIFini(ni));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, 4711, NULL, NULL, &ni));
    OK(PtlGetId(ni, &id));
    CHECK_EQ(4711, id.pid);
    OK(PtlNIFini(ni));
    OURS(CHECK_EQ(PTL_PID_INVALID, PtlNIInit(PTL_IFACE_DEFAULT, 0, NULL, NULL, &ni)));
    OURS(CHECK_EQ(PTL_PID_INVALID, PtlNIInit(PTL_IFACE_DEFAULT, 0x10001, NULL, NULL, &ni)));
}

static void i_same_pid(void)
{
    ptl_handle_ni_t other;

    OK(PtlNIFini(ni)); /* else PtlNIInit names the one that is open */
    CHECK_EQ(PTL_PID_INVALID, PtlNIInit(PTL_IFACE_DEFAULT, target_id.pid, NULL, NULL, &other));
    OURS(CHECK(strlen(nic_error()) > 0));
}

static void pid_taken(void)
{
    begin();
    initiator_run(i_same_pid);
}

static void interface_twice(void)
{
    int interfaces;
    ptl_ni_limits_t wanted = {100, 100, 10, 7, 9, 5, 50, 32}, a, b;
    ptl_handle_ni_t first, second;

    OK(PtlInit(&interfaces));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, &wanted, &a, &first));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, 99, NULL, &b, &second));
    CHECK_EQ(first, second);
    CHECK(memcmp(&a, &b, sizeof(a)) == 0);
    CHECK(memcmp(&a, &wanted, sizeof(a)) == 0);
    OK(PtlNIFini(first));
    CHECK_EQ(PTL_NI_INVALID, PtlNIFini(second));
}

static void limits_are_cut(void)
{
    int interfaces;
    ptl_ni_limits_t wanted = {1 << 30, 1 << 30, 1 << 30, 1 << 30,
                              1 << 30, 1 << 30, 1 << 30, 1 << 30};
    ptl_ni_limits_t defaults, cut;

    OK(PtlInit(&interfaces));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, &defaults, &ni));
    OK(PtlNIFini(ni));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, &wanted, &cut, &ni));
    CHECK(memcmp(&defaults, &cut, sizeof(cut)) == 0);
    OURS(CHECK(cut.max_pt_index >= 63));
    OK(PtlNIFini(ni));
}

/* Every limit by itself, among others left as they are: one less is granted exactly, one more is
 * cut, and what is granted does not change the others. */
static void each_limit_by_itself(void)
{
    int interfaces;
    ptl_ni_limits_t defaults;
    const size_t count = sizeof(defaults) / sizeof(int);

    OK(PtlInit(&interfaces));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, &defaults, &ni));
    OK(PtlNIFini(ni));
    for (size_t i = 0; i < 3 * count; i++) {
        ptl_ni_limits_t wanted = defaults, granted, expected = defaults;
        int *limit = (int *)&wanted + i / 3;

        *limit = i % 3 == 0 ? *limit / 2 : i % 3 == 1 ? *limit - 1 : *limit + 1;
        if (i % 3 != 2)
            ((int *)&expected)[i / 3] = *limit;
        OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, &wanted, &granted, &ni));
        for (size_t k = 0; k < count; k++)
            CHECK_EQ(((int *)&expected)[k], ((int *)&granted)[k]);
        OK(PtlNIFini(ni));
    }
}

static void handles_name_their_interface(void)
{
    ptl_handle_ni_t answer = 0;
    ptl_handle_me_t me;
    ptl_handle_md_t md;

    begin();
    md = post_at(PORTAL, BITS, make_md(bytes, 8, -1, BOTH, eq), PTL_UNLINK, &me);
    OK(PtlNIHandle(ni, &answer));
    CHECK_EQ(ni, answer);
    answer = 0;
    OK(PtlNIHandle(eq, &answer));
    CHECK_EQ(ni, answer);
    answer = 0;
    OK(PtlNIHandle(me, &answer));
    CHECK_EQ(ni, answer);
    answer = 0;
    OK(PtlNIHandle(md, &answer));
    CHECK_EQ(ni, answer);
    CHECK_EQ(PTL_HANDLE_INVALID, PtlNIHandle(PTL_INVALID_HANDLE, &answer));
    CHECK_EQ(PTL_HANDLE_INVALID, PtlNIHandle(PTL_EQ_NONE, &answer));
    CHECK(PtlHandleIsEqual(ni, answer));
}

static void unknown_and_closed(void)
{
    ptl_handle_ni_t closed;
    ptl_process_id_t id;

    begin();
    CHECK_EQ(PTL_IFACE_INVALID, PtlNIInit(12345, PTL_PID_ANY, NULL, NULL, &closed));
    closed = ni;
    OK(PtlNIFini(ni));
    CHECK_EQ(PTL_NI_INVALID, PtlGetId(closed, &id));
    CHECK_EQ(PTL_NI_INVALID, PtlNIFini(closed));
    CHECK_EQ(PTL_EQ_INVALID, PtlEQFree(eq));
    begin();
    CHECK_EQ(PTL_NI_INVALID, PtlGetId(closed, &id)); /* a stale handle names nothing new */
}

static void registers(void)
{
    ptl_sr_value_t value = 99;

    begin();
    OK(PtlNIStatus(ni, PTL_SR_DROP_COUNT, &value));
    CHECK_EQ(0, value);
    CHECK_EQ(PTL_SR_INDEX_INVALID, PtlNIStatus(ni, 77, &value));
    CHECK_EQ(PTL_SR_INDEX_INVALID, PtlNIStatus(ni, UINT32_MAX, &value));
}

static void distance(void)
{
    unsigned long self = 99, other = 0;
    ptl_process_id_t id;

    begin();
    OK(PtlNIDist(ni, own_id, &self));
    id = own_id;
    id.pid = own_id.pid == 7 ? 8 : 7;
    OK(PtlNIDist(ni, id, &other));
    CHECK(self <= other);
    OURS(CHECK_EQ(PTL_PROCESS_INVALID, PtlNIDist(ni, ANY_ID, &other)));
}

static void null_results(void)
{
    ptl_handle_me_t me;
    ptl_md_t md = make_md(bytes, 8, -1, BOTH, PTL_EQ_NONE);
    ptl_event_t event;
    int which;

    begin();
    CHECK_EQ(PTL_SEGV, PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, NULL));
    CHECK_EQ(PTL_SEGV, PtlGetId(ni, NULL));
    CHECK_EQ(PTL_SEGV, PtlGetUid(ni, NULL));
    CHECK_EQ(PTL_SEGV, PtlGetJid(ni, NULL));
    CHECK_EQ(PTL_SEGV, PtlNIStatus(ni, PTL_SR_DROP_COUNT, NULL));
    CHECK_EQ(PTL_SEGV, PtlNIDist(ni, own_id, NULL));
    CHECK_EQ(PTL_SEGV, PtlNIHandle(ni, NULL));
    CHECK_EQ(PTL_SEGV, PtlMEAttach(ni, PORTAL, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, NULL));
    CHECK_EQ(PTL_SEGV, PtlMEAttachAny(ni, NULL, ANY_ID, 0, 0, PTL_RETAIN, &me));
    OK(PtlMEAttach(ni, PORTAL, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, &me));
    CHECK_EQ(PTL_SEGV, PtlMEInsert(me, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, NULL));
    CHECK_EQ(PTL_SEGV, PtlMDBind(ni, md, PTL_RETAIN, NULL));
    OK(PtlMDAttach(me, md, PTL_RETAIN, NULL));
    CHECK_EQ(PTL_SEGV, PtlEQAlloc(ni, 8, PTL_EQ_HANDLER_NONE, NULL));
    CHECK_EQ(PTL_SEGV, PtlEQGet(eq, NULL));
    CHECK_EQ(PTL_SEGV, PtlEQWait(eq, NULL));
    CHECK_EQ(PTL_SEGV, PtlEQPoll(NULL, 1, 0, &event, &which));
    CHECK_EQ(PTL_SEGV, PtlEQPoll(&eq, 1, 0, NULL, &which));
    CHECK_EQ(PTL_SEGV, PtlEQPoll(&eq, 1, 0, &event, NULL));
}

static void cycles_leak_nothing(void)
{
    begin();
    for (int i = 0; i < 100000; i++) {
        ptl_handle_me_t me;
        ptl_md_iovec_t iov[2] = {{bytes, 4}, {bytes + 8, 4}};

        OK(PtlMEAttach(ni, PORTAL, ANY_ID, BITS, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
        OK(PtlMDAttach(me,
                       i % 8 ? make_md(bytes, 8, -1, BOTH, eq)
                             : make_md(iov, 2, -1, BOTH | PTL_MD_IOVEC, eq),
                       PTL_UNLINK, NULL));
        OK(PtlMEUnlink(me));
    }
    CHECK_EQ(0, status(PTL_SR_MES_CUR));
    CHECK_EQ(0, status(PTL_SR_MDS_CUR));
    CHECK_EQ(1, status(PTL_SR_MES_MAX));
    CHECK_EQ(1, status(PTL_SR_EQS_CUR));
    for (int i = 0; i < 1000; i++)
        OK(PtlEQFree(new_eq(8192)));
    CHECK_EQ(1, status(PTL_SR_EQS_CUR));
    expect_sound();
}

static void bad_descriptors(void)
{
    ptl_handle_md_t md;
    ptl_md_iovec_t iov[2] = {{bytes, 4}, {NULL, 4}};

    begin();
    CHECK_EQ(PTL_MD_ILLEGAL, PtlMDBind(ni, make_md(NULL, 4, -1, 0, eq), PTL_RETAIN, &md));
    CHECK_EQ(PTL_MD_ILLEGAL, PtlMDBind(ni, make_md(bytes, UINT64_MAX, -1, 0, eq), PTL_RETAIN, &md));
    CHECK_EQ(PTL_MD_ILLEGAL, PtlMDBind(ni, make_md(bytes, 4, -1, 0x4000, eq), PTL_RETAIN, &md));
    CHECK_EQ(PTL_MD_ILLEGAL, PtlMDBind(ni, make_md(bytes, 4, -1, 0x200, eq), PTL_RETAIN, &md));
    CHECK_EQ(PTL_MD_ILLEGAL, PtlMDBind(ni, make_md(iov, 2, -1, PTL_MD_IOVEC, eq), PTL_RETAIN, &md));
    CHECK_EQ(PTL_MD_ILLEGAL,
             PtlMDBind(ni, make_md(iov, 1025, -1, PTL_MD_IOVEC, eq), PTL_RETAIN, &md));
    CHECK_EQ(PTL_EQ_INVALID, PtlMDBind(ni, make_md(bytes, 4, -1, 0, 0x12345), PTL_RETAIN, &md));
    CHECK_EQ(PTL_NI_INVALID, PtlMDBind(0x7fffffff, make_md(bytes, 4, -1, 0, eq), PTL_RETAIN, &md));
    CHECK_EQ(0, status(PTL_SR_MDS_CUR));
    expect_sound();
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"1", "not_initialised", not_initialised},
        {"2", "init_twice", init_twice},
        {"3", "interface_ids", interface_ids},
        {"4", "pid_taken", pid_taken},
        {"5", "interface_twice", interface_twice},
        {"6", "limits_are_cut", limits_are_cut},
        {"6", "each_limit_by_itself", each_limit_by_itself},
        {"7", "handles_name_their_interface", handles_name_their_interface},
        {"8", "unknown_and_closed", unknown_and_closed},
        {"9", "registers", registers},
        {"10", "distance", distance},
        {"11", "null_results", null_results},
        {"93", "cycles_leak_nothing", cycles_leak_nothing},
        {"", "bad_descriptors", bad_descriptors},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
