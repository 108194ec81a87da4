/* Get (assertions 51 to 56). */
#include "move.h"

static void i_get(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 10, 1, PTL_UNLINK, own);
    ptl_event_t event;

    OK(get(md));
    take(own, PTL_EVENT_REPLY_START);
    event = take(own, PTL_EVENT_REPLY_END);
    CHECK_EQ(10, event.mlength);
    CHECK_EQ(10, event.rlength);
    CHECK_EQ(BITS, event.match_bits);
    CHECK_EQ(PORTAL, event.pt_index);
    CHECK_EQ(target_id.pid, event.initiator.pid);
    take(own, PTL_EVENT_UNLINK);
    expect_empty(own);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(40 + i, own_bytes[i]);
    CHECK_EQ(0, own_bytes[10]);
    CHECK_EQ(PTL_MD_INVALID, PtlMDUnlink(md));
}

static void get_replies(void)
{
    begin();
    for (int i = 0; i < 100; i++)
        target_bytes[i] = (uint8_t)(40 + i);
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_GET, eq);
    initiator_run(i_get);
    take(eq, PTL_EVENT_GET_START);
    take(eq, PTL_EVENT_GET_END);
    expect_empty(eq);
    expect_sound();
}

static void i_get_region(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, own);
    ptl_event_t event;

    OK(PtlGetRegion(md, 3, 4, target_id, PORTAL, 0, BITS, 0));
    take(own, PTL_EVENT_REPLY_START);
    event = take(own, PTL_EVENT_REPLY_END);
    CHECK_EQ(3, event.offset);
    CHECK_EQ(4, event.mlength);
    CHECK_EQ(0, own_bytes[2]);
    CHECK_EQ(7, own_bytes[3]);
    CHECK_EQ(7, own_bytes[6]);
    CHECK_EQ(0, own_bytes[7]);
    CHECK_EQ(PTL_MD_ILLEGAL, PtlGetRegion(md, 8, 4, target_id, PORTAL, 0, BITS, 0));
    expect_empty(own);
}

static void get_region(void)
{
    begin();
    memset(target_bytes, 7, sizeof(target_bytes));
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_GET, eq);
    initiator_run(i_get_region);
}

static void i_get_short(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 20, PTL_MD_THRESH_INF, PTL_RETAIN, own);

    OK(get(md));
    take(own, PTL_EVENT_REPLY_START);
    CHECK_EQ(8, take(own, PTL_EVENT_REPLY_END).mlength);
    CHECK_EQ(7, own_bytes[7]);
    CHECK_EQ(0, own_bytes[8]);
    OK(PtlGet(md, target_id, PORTAL, 0, BITS + 1, 0));
    expect_empty(own);
}

static void get_from_a_shorter_descriptor(void)
{
    ptl_event_t event;

    begin();
    memset(target_bytes, 7, sizeof(target_bytes));
    post(target_bytes, 8, PTL_MD_THRESH_INF, PTL_MD_OP_GET | PTL_MD_TRUNCATE, eq);
    post_at(PORTAL, BITS + 1, make_md(target_bytes, 8, PTL_MD_THRESH_INF, PTL_MD_OP_GET, eq),
            PTL_UNLINK, NULL);
    initiator_run(i_get_short);
    take(eq, PTL_EVENT_GET_START);
    event = take(eq, PTL_EVENT_GET_END);
    CHECK_EQ(20, event.rlength);
    CHECK_EQ(8, event.mlength);
    expect_empty(eq);
    CHECK_EQ(1, status(PTL_SR_DROP_COUNT));
}

static void i_put_then_get(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md;

    fill(100);
    put_n(10, 0, 0);
    md = bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, own);
    OK(get(md));
    take(own, PTL_EVENT_REPLY_START);
    take(own, PTL_EVENT_REPLY_END);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(10 + i, own_bytes[i]);
}

static void get_advances_offset(void)
{
    begin();
    for (int i = 0; i < 100; i++)
        target_bytes[i] = (uint8_t)i;
    post(target_bytes, 100, PTL_MD_THRESH_INF, BOTH, eq);
    initiator_run(i_put_then_get);
    CHECK_EQ(100, target_bytes[0]);
}

static void i_wrong_operations(void)
{
    ptl_handle_md_t md = bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    OK(put_to(md, PTL_NO_ACK_REQ, 1, 0, 0));
    EXPECT_OUTCOME(PTL_EXT_DROPPED);
    OK(PtlGet(md, target_id, PORTAL, 0, 2, 0));
    EXPECT_OUTCOME(PTL_EXT_DROPPED);
}

static void operations_must_be_allowed(void)
{
    begin();
    post_at(PORTAL, 1, make_md(target_bytes, 100, -1, PTL_MD_OP_GET, eq), PTL_UNLINK, NULL);
    post_at(PORTAL, 2, make_md(target_bytes, 100, -1, PTL_MD_OP_PUT, eq), PTL_UNLINK, NULL);
    initiator_run(i_wrong_operations);
    CHECK_EQ(2, status(PTL_SR_DROP_COUNT));
    expect_empty(eq);
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"51,52", "get_replies", get_replies},
        {"53", "get_region", get_region},
        {"54", "get_from_a_shorter_descriptor", get_from_a_shorter_descriptor},
        {"55", "get_advances_offset", get_advances_offset},
        {"56", "operations_must_be_allowed", operations_must_be_allowed},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
