/* Offsets and sizes of puts (assertions 41 to 50). */
#include "move.h"

static void i_offsets(void)
{
    put_n(10, 50, 0);
    put_n(20, 7, 0);
    put_n(5, 0, 0);
}

static void expect_offsets(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t expected[] = {a, b, c};

    for (int i = 0; i < 3; i++) {
        CHECK_EQ(expected[i], take(eq, PTL_EVENT_PUT_START).offset);
        CHECK_EQ(expected[i], take(eq, PTL_EVENT_PUT_END).offset);
    }
    expect_empty(eq);
}

static void local_offset_advances(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    initiator_run(i_offsets);
    expect_offsets(0, 10, 30);
}

static void remote_offset_is_used(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE, eq);
    initiator_run(i_offsets);
    expect_offsets(50, 7, 0);
}

static void i_too_long(void)
{
    put_n(11, 0, 1);
    put_n(10, 0, 2);
    put_n(101, 0, 3);
}

static void too_long_goes_to_next(void)
{
    begin();
    post(target_bytes, 10, PTL_MD_THRESH_INF, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    post(target_bytes + 100, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE,
         eq);
    initiator_run(i_too_long);
    CHECK_EQ((uintptr_t)target_bytes + 100, (uintptr_t)take(eq, PTL_EVENT_PUT_END).md.start);
    CHECK_EQ((uintptr_t)target_bytes, (uintptr_t)take(eq, PTL_EVENT_PUT_END).md.start);
    expect_empty(eq);
    CHECK_EQ(1, status(PTL_SR_DROP_COUNT));
}

static void i_truncated(void)
{
    ptl_handle_eq_t own = new_eq(16);

    memset(own_bytes, 0xaa, sizeof(own_bytes));
    OK(put(bind(own_bytes, 25, PTL_MD_THRESH_INF, PTL_RETAIN, own), PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    CHECK_EQ(25, take(own, PTL_EVENT_SEND_END).mlength);
    CHECK_EQ(10, take(own, PTL_EVENT_ACK).mlength);
    OK(put(bind(own_bytes, 25, PTL_MD_THRESH_INF, PTL_RETAIN, own), PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    CHECK_EQ(0, take(own, PTL_EVENT_ACK).mlength);
}

static void truncation(void)
{
    ptl_event_t event;

    begin();
    post(target_bytes, 10, PTL_MD_THRESH_INF, PTL_MD_OP_PUT | PTL_MD_TRUNCATE, eq);
    initiator_run(i_truncated);
    take(eq, PTL_EVENT_PUT_START);
    event = take(eq, PTL_EVENT_PUT_END);
    CHECK_EQ(10, event.mlength);
    CHECK_EQ(25, event.rlength);
    CHECK_EQ(0xaa, target_bytes[9]);
    CHECK_EQ(0, target_bytes[10]);
    take(eq, PTL_EVENT_PUT_START);
    CHECK_EQ(0, take(eq, PTL_EVENT_PUT_END).mlength);
    expect_empty(eq);
}

static void i_offset_at_end(void)
{
    put_n(5, 11, 1);         /* beyond: rejected although TRUNCATE */
    put_n(5, 10, 2);         /* at the end: accepted with nothing */
    put_n(5, UINT64_MAX, 3); /* offset + length overflows */
    put_n(5, UINT64_MAX - 4, 4);
}

static void remote_offset_past_end(void)
{
    ptl_event_t event;

    begin();
    post(target_bytes, 10, PTL_MD_THRESH_INF,
         PTL_MD_OP_PUT | PTL_MD_TRUNCATE | PTL_MD_MANAGE_REMOTE | PTL_MD_EVENT_START_DISABLE, eq);
    initiator_run(i_offset_at_end);
    event = take(eq, PTL_EVENT_PUT_END);
    CHECK_EQ(2, event.hdr_data);
    CHECK_EQ(0, event.mlength);
    expect_empty(eq);
    CHECK_EQ(3, status(PTL_SR_DROP_COUNT));
    for (int i = 0; i < 4096; i++)
        CHECK_EQ(0, target_bytes[i]);
}

static void i_five_twenties(void)
{
    for (uint64_t i = 1; i <= 5; i++)
        put_n(20, 0, i);
}

static void max_size_rotates(void)
{
    ptl_md_t md;

    begin();
    md = make_md(target_bytes, 100, PTL_MD_THRESH_INF,
                 PTL_MD_OP_PUT | PTL_MD_MAX_SIZE | PTL_MD_EVENT_START_DISABLE, eq);
    md.max_size = 40;
    post_at(PORTAL, BITS, md, PTL_UNLINK, NULL);
    post(target_bytes + 200, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE,
         eq);
    initiator_run(i_five_twenties);
    for (uint64_t i = 0; i < 4; i++)
        CHECK_EQ(20 * i, take(eq, PTL_EVENT_PUT_END).offset);
    take(eq, PTL_EVENT_UNLINK);
    CHECK_EQ((uintptr_t)target_bytes + 200, (uintptr_t)take(eq, PTL_EVENT_PUT_END).md.start);
    expect_empty(eq);
    expect_sound();
}

static void i_long_one(void)
{
    put_n(90, 0, 1);
}

static void max_size_is_no_message_limit(void)
{
    ptl_md_t md;

    begin();
    md = make_md(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT | PTL_MD_MAX_SIZE, eq);
    md.max_size = 40;
    post_at(PORTAL, BITS, md, PTL_RETAIN, NULL);
    initiator_run(i_long_one);
    take(eq, PTL_EVENT_PUT_START);
    CHECK_EQ(90, take(eq, PTL_EVENT_PUT_END).mlength);
}

static void i_iovec(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md;

    fill(0);
    put_n(25, 3, 0);
    memset(own_bytes, 0, sizeof(own_bytes));
    md = bind(own_bytes, 25, PTL_MD_THRESH_INF, PTL_RETAIN, own);
    OK(PtlGet(md, target_id, PORTAL, 0, BITS, 3));
    take(own, PTL_EVENT_REPLY_START);
    take(own, PTL_EVENT_REPLY_END);
    for (int i = 0; i < 25; i++)
        CHECK_EQ(i, own_bytes[i]);
}

static void iovec_scatters_and_gathers(void)
{
    ptl_md_iovec_t iov[] = {{target_bytes, 10},
                            {target_bytes + 100, 0},
                            {target_bytes + 200, 10},
                            {target_bytes + 300, 30}};
    ptl_md_t md;

    begin();
    md = make_md(iov, 4, PTL_MD_THRESH_INF, BOTH | PTL_MD_IOVEC | PTL_MD_MANAGE_REMOTE, eq);
    post_at(PORTAL, BITS, md, PTL_UNLINK, NULL);
    memset(iov, 0, sizeof(iov)); /* the array was copied */
    initiator_run(i_iovec);
    for (int i = 0; i < 7; i++)
        CHECK_EQ(i, target_bytes[3 + i]);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(7 + i, target_bytes[200 + i]);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(17 + i, target_bytes[300 + i]);
    CHECK_EQ(0, target_bytes[308]);
    take(eq, PTL_EVENT_PUT_START);
    CHECK_EQ(3, take(eq, PTL_EVENT_PUT_END).offset);
    take(eq, PTL_EVENT_GET_START);
    take(eq, PTL_EVENT_GET_END);
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"41", "local_offset_advances", local_offset_advances},
        {"42", "remote_offset_is_used", remote_offset_is_used},
        {"43", "too_long_goes_to_next", too_long_goes_to_next},
        {"44,45", "truncation", truncation},
        {"46,47", "remote_offset_past_end", remote_offset_past_end},
        {"48", "max_size_rotates", max_size_rotates},
        {"49", "max_size_is_no_message_limit", max_size_is_no_message_limit},
        {"50", "iovec_scatters_and_gathers", iovec_scatters_and_gathers},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
