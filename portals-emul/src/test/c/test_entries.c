/* Match lists and access control (assertions 6, 12 to 26). */
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

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
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
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
