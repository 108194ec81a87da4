/* Library, interfaces, match lists, access control (assertions 1 to 26, 93). */
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

/* ---- match lists ---- */

static void portal_index_limit(void)
{
    ptl_handle_me_t me;
    ptl_ni_limits_t limits;
    int interfaces;

    OK(PtlInit(&interfaces));
    OK(nic_open(PTL_EXT_REF, NULL, &limits, &ni));
    OK(PtlMEAttach(ni, (unsigned)limits.max_pt_index, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER,
                   &me));
    CHECK_EQ(PTL_PT_INDEX_INVALID, PtlMEAttach(ni, (unsigned)limits.max_pt_index + 1, ANY_ID, 0, 0,
                                               PTL_RETAIN, PTL_INS_AFTER, &me));
}

/* An ME of this position whose MD takes one put at `where`. */
static ptl_handle_me_t probe(ptl_ins_pos_t position, ptl_handle_me_t base, uint8_t *where)
{
    ptl_handle_me_t me;

    if (base == PTL_INVALID_HANDLE)
        OK(PtlMEAttach(ni, PORTAL, ANY_ID, BITS, 0, PTL_UNLINK, position, &me));
    else
        OK(PtlMEInsert(base, ANY_ID, BITS, 0, PTL_UNLINK, position, &me));
    OK(PtlMDAttach(me, make_md(where, 1, 1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq),
                   PTL_UNLINK, NULL));
    return me;
}

static void i_put_bytes(void)
{
    static uint8_t one = 1;
    ptl_handle_md_t md = bind(&one, 1, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    for (uint64_t i = 0; i < shared->number[0]; i++)
        OK(put(md, PTL_NO_ACK_REQ));
}

static void expect_order(const int *order, int count)
{
    shared->number[0] = (uint64_t)count;
    initiator_run(i_put_bytes);
    for (int i = 0; i < count; i++) {
        CHECK_EQ((uintptr_t)bytes + (uintptr_t)order[i],
                 (uintptr_t)take(eq, PTL_EVENT_PUT_END).md.start);
        take(eq, PTL_EVENT_UNLINK);
    }
    expect_empty(eq);
    expect_sound();
}

static void insertion_order(void)
{
    static const int after[] = {0, 1}, before[] = {3, 2};

    begin();
    probe(PTL_INS_AFTER, PTL_INVALID_HANDLE, bytes + 0);
    probe(PTL_INS_AFTER, PTL_INVALID_HANDLE, bytes + 1);
    expect_order(after, 2);
    probe(PTL_INS_BEFORE, PTL_INVALID_HANDLE, bytes + 2);
    probe(PTL_INS_BEFORE, PTL_INVALID_HANDLE, bytes + 3);
    expect_order(before, 2);
}

static void insertion_around_a_base(void)
{
    static const int order[] = {0, 3, 1, 4, 2};
    ptl_handle_me_t middle, dead;

    begin();
    dead = probe(PTL_INS_AFTER, PTL_INVALID_HANDLE, bytes + 0);
    middle = probe(PTL_INS_AFTER, PTL_INVALID_HANDLE, bytes + 1);
    probe(PTL_INS_AFTER, PTL_INVALID_HANDLE, bytes + 2);
    probe(PTL_INS_BEFORE, middle, bytes + 3);
    probe(PTL_INS_AFTER, middle, bytes + 4);
    expect_order(order, 5);
    CHECK_EQ(PTL_ME_INVALID, PtlMEInsert(dead, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, &middle));
}

static void attach_any(void)
{
    ptl_ni_limits_t wanted = {100, 100, 10, 7, 5, 5, 50, 32};
    ptl_handle_me_t first = 0, me;
    ptl_pt_index_t index;
    int interfaces, seen[6] = {0};

    OK(PtlInit(&interfaces));
    OK(nic_open(PTL_EXT_REF, &wanted, NULL, &ni));
    OK(PtlMEAttach(ni, 2, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, &me));
    for (int i = 0; i < 5; i++) {
        OK(PtlMEAttachAny(ni, &index, ANY_ID, 0, 0, PTL_RETAIN, &me));
        CHECK(index <= 5 && index != 2 && !seen[index]);
        seen[index] = 1;
        if (i == 0)
            first = me;
    }
    CHECK_EQ(PTL_PT_FULL, PtlMEAttachAny(ni, &index, ANY_ID, 0, 0, PTL_RETAIN, &me));
    OK(PtlMEUnlink(first));
    OK(PtlMEAttachAny(ni, &index, ANY_ID, 0, 0, PTL_RETAIN, &me));
    expect_sound();
}

static void limits_are_kept(void)
{
    ptl_ni_limits_t wanted = {10, 2, 2, 7, 5, 5, 4, 32}, granted;
    ptl_md_iovec_t segments[6];
    ptl_handle_me_t me;
    ptl_handle_md_t md, two;
    int interfaces;

    OK(PtlInit(&interfaces));
    OK(nic_open(PTL_EXT_REF, &wanted, &granted, &ni));
    CHECK(memcmp(&wanted, &granted, sizeof(granted)) == 0);
    OK(PtlGetId(ni, &own_id));
    CHECK_EQ(PTL_PT_INDEX_INVALID,
             PtlMEAttach(ni, 6, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, &me));
    OK(PtlACEntry(ni, 7, ANY_ID, PTL_UID_ANY, PTL_JID_ANY, PTL_PT_INDEX_ANY));
    CHECK_EQ(PTL_AC_INDEX_INVALID,
             PtlACEntry(ni, 8, ANY_ID, PTL_UID_ANY, PTL_JID_ANY, PTL_PT_INDEX_ANY));
    for (int i = 0; i < 6; i++)
        segments[i] = (ptl_md_iovec_t){bytes + i, 1};
    CHECK_EQ(PTL_MD_ILLEGAL,
             PtlMDBind(ni, make_md(segments, 6, 1, PTL_MD_IOVEC, PTL_EQ_NONE), PTL_RETAIN, &md));
    OK(PtlMDBind(ni, make_md(segments, 5, 1, PTL_MD_IOVEC, PTL_EQ_NONE), PTL_RETAIN, &md));
    OK(PtlMDUnlink(md));
    OK(PtlMDBind(ni, make_md(bytes, 33, -1, 0, PTL_EQ_NONE), PTL_RETAIN, &md));
    OK(PtlMDBind(ni, make_md(bytes + 64, 33, -1, 0, PTL_EQ_NONE), PTL_RETAIN, &two));
    CHECK_EQ(PTL_MD_ILLEGAL, PtlGetPut(two, md, own_id, 0, 0, 0, 0, 0));
    OK(PtlMDUnlink(md));
    OK(PtlMDBind(ni, make_md(bytes, 32, -1, 0, PTL_EQ_NONE), PTL_RETAIN, &md));
    OK(PtlGetPut(two, md, own_id, 0, 0, 0, 0, 0));
    OK(PtlMDUnlink(md));
    OK(PtlMDUnlink(two));
    for (int i = 0; i < 4; i++)
        OK(PtlMEAttach(ni, 1, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, &me));
    CHECK_EQ(PTL_ME_LIST_TOO_LONG,
             PtlMEAttach(ni, 1, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, &me));
    CHECK_EQ(PTL_ME_LIST_TOO_LONG, PtlMEInsert(me, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, &me));
    for (int i = 0; i < 6; i++)
        OK(PtlMEAttach(ni, 2 + (unsigned)i / 4, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, &me));
    CHECK_EQ(PTL_NO_SPACE, PtlMEAttach(ni, 0, ANY_ID, 0, 0, PTL_RETAIN, PTL_INS_AFTER, &me));
    bind(bytes, 1, 1, PTL_RETAIN, PTL_EQ_NONE);
    bind(bytes, 1, 1, PTL_RETAIN, PTL_EQ_NONE);
    CHECK_EQ(PTL_NO_SPACE, PtlMDBind(ni, make_md(bytes, 1, 1, 0, PTL_EQ_NONE), PTL_RETAIN, &md));
    new_eq(4);
    new_eq(4);
    CHECK_EQ(PTL_NO_SPACE, PtlEQAlloc(ni, 4, PTL_EQ_HANDLER_NONE, &eq));
    expect_sound();
}

static void entry_unlink_takes_the_descriptor(void)
{
    ptl_handle_me_t me;
    ptl_handle_md_t md;

    begin();
    md = post_at(PORTAL, BITS, make_md(bytes, 8, -1, BOTH, eq), PTL_RETAIN, &me);
    OK(PtlMEUnlink(me));
    CHECK_EQ(PTL_ME_INVALID, PtlMEUnlink(me));
    CHECK_EQ(PTL_MD_INVALID, PtlMDUnlink(md));
    shared->number[0] = 1;
    initiator_run(i_put_bytes);
    CHECK_EQ(1, status(PTL_SR_DROP_COUNT));
    expect_empty(eq);
    expect_sound();
}

static void entry_without_descriptor_is_skipped(void)
{
    ptl_handle_me_t me;

    begin();
    OK(PtlMEAttach(ni, PORTAL, ANY_ID, BITS, 0, PTL_RETAIN, PTL_INS_BEFORE, &me));
    post(bytes, 8, -1, BOTH, eq);
    shared->number[0] = 1;
    initiator_run(i_put_bytes);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
}

static void i_bit_patterns(void)
{
    ptl_handle_md_t md = bind(NULL, 0, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    for (int bit = 0; bit < 64; bit++) {
        OK(put_to(md, PTL_NO_ACK_REQ, BITS ^ 1ull << bit, 0, (uint64_t)bit));
        EXPECT_OUTCOME(bit >= 16 && bit < 24 ? PTL_EXT_DELIVERED : PTL_EXT_DROPPED);
        OK(PtlPut(md, PTL_NO_ACK_REQ, target_id, PORTAL + 1, 0, 1ull << bit, 0, (uint64_t)bit));
        EXPECT_OUTCOME(PTL_EXT_DELIVERED);
    }
}

/* Takes any put, and tells it to `own`. */
static ptl_md_t accepting(ptl_handle_eq_t own)
{
    return make_md(bytes, 8, -1, BOTH | PTL_MD_EVENT_START_DISABLE, own);
}

/* The hdr_data of the puts that arrived, as bits of a number. */
static uint64_t accepted(ptl_handle_eq_t own, int count)
{
    uint64_t bits = 0;

    for (int i = 0; i < count; i++)
        bits |= 1ull << take(own, PTL_EVENT_PUT_END).hdr_data;
    expect_empty(own);
    return bits;
}

static void ignored_bits(void)
{
    ptl_handle_eq_t some, all;
    ptl_handle_me_t me;

    begin();
    some = new_eq(128);
    all = new_eq(128);
    OK(PtlMEAttach(ni, PORTAL, ANY_ID, BITS, 0xff0000, PTL_RETAIN, PTL_INS_AFTER, &me));
    OK(PtlMDAttach(me, accepting(some), PTL_UNLINK, NULL));
    OK(PtlMEAttach(ni, PORTAL + 1, ANY_ID, 0, UINT64_MAX, PTL_RETAIN, PTL_INS_AFTER, &me));
    OK(PtlMDAttach(me, accepting(all), PTL_UNLINK, NULL));
    initiator_run(i_bit_patterns);
    CHECK_EQ(56, status(PTL_SR_DROP_COUNT));
    CHECK_EQ(0xff0000, accepted(some, 8));
    CHECK_EQ(UINT64_MAX, accepted(all, 64));
}

static void i_put_by_source(void)
{
    ptl_handle_md_t md = bind(NULL, 0, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    shared->id[0] = own_id;
    set_flag(0, 1);
    await_flag(1, 1);
    for (uint64_t i = 0; i < 6; i++) {
        OK(put_to(md, PTL_NO_ACK_REQ, i, 0, i));
        EXPECT_OUTCOME(i == 3 || i == 4 ? PTL_EXT_DROPPED : PTL_EXT_DELIVERED);
    }
}

static void sources(void)
{
    ptl_process_id_t id;
    pid_t pid;

    begin();
    pid = initiator_start(i_put_by_source);
    await_flag(0, 1);
    id = shared->id[0];
    {
        const ptl_process_id_t allowed[6] = {
            {id.nid, PTL_PID_ANY}, {PTL_NID_ANY, id.pid},      id,
            {id.nid + 1, id.pid},  {id.nid, id.pid % 100 + 1}, {PTL_NID_ANY, PTL_PID_ANY}};

        for (unsigned i = 0; i < 6; i++) {
            ptl_handle_me_t me;

            OK(PtlMEAttach(ni, PORTAL, allowed[i], i, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
            OK(PtlMDAttach(me, accepting(eq), PTL_UNLINK, NULL));
        }
    }
    set_flag(1, 1);
    CHECK_EQ(0, initiator_join(pid));
    CHECK_EQ(0x27, accepted(eq, 4)); /* all but 3 and 4 */
    CHECK_EQ(2, status(PTL_SR_DROP_COUNT));
}

/* ---- access control ---- */

static void i_put_by_ac(void)
{
    ptl_handle_md_t md = bind(NULL, 0, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    shared->id[0] = own_id;
    set_flag(0, 1);
    await_flag(1, 1);
    for (unsigned i = 0; i < 10; i++) {
        OK(PtlPut(md, PTL_NO_ACK_REQ, target_id, PORTAL, i == 9 ? 64 : i, BITS, 0, i));
        EXPECT_OUTCOME(i == 4 || i == 5 || i == 7 || i == 8 ? PTL_EXT_DELIVERED : PTL_EXT_DROPPED);
    }
}

static void access_control(void)
{
    ptl_process_id_t id, other;
    ptl_uid_t uid;
    ptl_jid_t jid;
    pid_t pid;

    begin();
    OK(PtlGetUid(ni, &uid));
    OK(PtlGetJid(ni, &jid));
    post_at(PORTAL, BITS, accepting(eq), PTL_UNLINK, NULL);
    pid = initiator_start(i_put_by_ac);
    await_flag(0, 1);
    id = other = shared->id[0];
    other.pid = id.pid % 1000 + 1 == id.pid ? 2000 : id.pid % 1000 + 1;
    OK(PtlACEntry(ni, 0, other, PTL_UID_ANY, PTL_JID_ANY, PTL_PT_INDEX_ANY));  /* drop */
    OK(PtlACEntry(ni, 1, ANY_ID, uid + 1, PTL_JID_ANY, PTL_PT_INDEX_ANY));     /* drop */
    OK(PtlACEntry(ni, 2, ANY_ID, uid, 0x12345678, PTL_PT_INDEX_ANY));          /* drop */
    OK(PtlACEntry(ni, 3, ANY_ID, uid, PTL_JID_ANY, PORTAL + 1));               /* drop */
    OK(PtlACEntry(ni, 4, id, PTL_UID_ANY, PTL_JID_ANY, PORTAL));               /* accept */
    OK(PtlACEntry(ni, 5, ANY_ID, PTL_UID_ANY, PTL_JID_ANY, PTL_PT_INDEX_ANY)); /* accept */
    OK(PtlACEntry(ni, 6, (ptl_process_id_t){id.nid + 1, PTL_PID_ANY}, PTL_UID_ANY, PTL_JID_ANY,
                  PTL_PT_INDEX_ANY)); /* drop */
    /* 7 and 8 keep their initial state: our own user, anybody */
    set_flag(1, 1);
    CHECK_EQ(0, initiator_join(pid));
    CHECK_EQ(0x1b0, accepted(eq, 4)); /* 4, 5, 7, 8 */
    CHECK_EQ(6, status(PTL_SR_DROP_COUNT));
    CHECK_EQ(PTL_AC_INDEX_INVALID, PtlACEntry(ni, 64, ANY_ID, uid, jid, PTL_PT_INDEX_ANY));
    CHECK_EQ(PTL_PT_INDEX_INVALID, PtlACEntry(ni, 0, ANY_ID, uid, jid, 64));
}

static void i_closed_to_all(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(bytes, 4, PTL_MD_THRESH_INF, PTL_RETAIN, own);
    ptl_process_id_t nobody = {4242, 4242};

    for (unsigned i = 0; i <= (unsigned)own_limits.max_ac_index; i++)
        OK(PtlACEntry(ni, i, nobody, 0x7fffffff, 0x7fffffff, 0));
    OK(put(md, PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    take(own, PTL_EVENT_ACK);
    OK(get(md));
    take(own, PTL_EVENT_REPLY_START);
    take(own, PTL_EVENT_REPLY_END);
}

static void answers_bypass_access_control(void)
{
    begin();
    post(bytes, 64, -1, BOTH, PTL_EQ_NONE);
    initiator_run(i_closed_to_all);
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
        {"12", "portal_index_limit", portal_index_limit},
        {"13", "insertion_order", insertion_order},
        {"14", "insertion_around_a_base", insertion_around_a_base},
        {"15", "attach_any", attach_any},
        {"6,16", "limits_are_kept", limits_are_kept},
        {"17", "entry_unlink_takes_the_descriptor", entry_unlink_takes_the_descriptor},
        {"18", "entry_without_descriptor_is_skipped", entry_without_descriptor_is_skipped},
        {"19,20", "ignored_bits", ignored_bits},
        {"21", "sources", sources},
        {"22,23,24,26", "access_control", access_control},
        {"25", "answers_bypass_access_control", answers_bypass_access_control},
        {"93", "cycles_leak_nothing", cycles_leak_nothing},
        {"", "bad_descriptors", bad_descriptors},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
