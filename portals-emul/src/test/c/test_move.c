/* Put and get: events, thresholds, offsets, sizes (assertions 27 to 56, 62 to 69). */
#include "check.h"

static uint8_t target_bytes[4096];
static uint8_t own_bytes[4096];
static ptl_handle_eq_t eq; /* T's before the fork; I makes its own */

static void begin(void)
{
    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
}

static void fill(uint8_t first)
{
    for (size_t i = 0; i < sizeof(own_bytes); i++)
        own_bytes[i] = (uint8_t)(first + i);
}

/* ---- put ---- */

static void i_put_ack(void)
{
    ptl_handle_eq_t own = new_eq(16);

    fill(1);
    OK(put(bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, own), PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    CHECK_EQ(10, take(own, PTL_EVENT_ACK).mlength);
    expect_empty(own);
}

static void put_with_ack(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    initiator_run(i_put_ack);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    expect_empty(eq);
    fill(1);
    CHECK(memcmp(target_bytes, own_bytes, 10) == 0 && target_bytes[10] == 0);
    expect_sound();
}

static void i_put_no_ack(void)
{
    ptl_handle_eq_t own = new_eq(16);

    OK(put(bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, own), PTL_NO_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    expect_empty(own);
}

static void put_without_ack(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    initiator_run(i_put_no_ack);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    expect_empty(eq);
}

static void i_put_ack_not_given(void)
{
    ptl_handle_eq_t own = new_eq(16);

    OK(put(bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, own), PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    expect_empty(own);
}

static void put_ack_disabled(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT | PTL_MD_ACK_DISABLE, eq);
    initiator_run(i_put_ack_not_given);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    expect_empty(eq);
}

static void i_put_fields(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 77, PTL_MD_THRESH_INF, PTL_RETAIN, own);
    ptl_event_t ack;

    shared->id[0] = own_id;
    OK(put_to(md, PTL_ACK_REQ, BITS, 0, 0xfeedfacecafebeefull));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    ack = take(own, PTL_EVENT_ACK);
    CHECK_EQ(BITS, ack.match_bits);
    CHECK_EQ(PORTAL, ack.pt_index);
    CHECK_EQ(77, ack.rlength);
    CHECK_EQ(target_id.pid, ack.initiator.pid);
    CHECK_EQ(0, ack.hdr_data);
}

static void put_event_fields(void)
{
    ptl_uid_t uid;
    ptl_event_t event;

    begin();
    OK(PtlGetUid(ni, &uid));
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    initiator_run(i_put_fields);
    take(eq, PTL_EVENT_PUT_START);
    event = take(eq, PTL_EVENT_PUT_END);
    CHECK(event.hdr_data == 0xfeedfacecafebeefull);
    CHECK_EQ(BITS, event.match_bits);
    CHECK_EQ(PORTAL, event.pt_index);
    CHECK_EQ(77, event.rlength);
    CHECK_EQ(77, event.mlength);
    CHECK_EQ(shared->id[0].nid, event.initiator.nid);
    CHECK_EQ(shared->id[0].pid, event.initiator.pid);
    CHECK_EQ(uid, event.uid);
    CHECK_EQ(PTL_NI_OK, event.ni_fail_type);
}

static void i_threshold_two(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 10, 2, PTL_UNLINK, own);

    OK(put(md, PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    take(own, PTL_EVENT_ACK);
    take(own, PTL_EVENT_UNLINK);
    expect_empty(own);
    CHECK_EQ(PTL_MD_INVALID, PtlMDUnlink(md));
    expect_sound();
}

static void i_threshold_one(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 10, 1, PTL_UNLINK, own);

    OK(put(md, PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    take(own, PTL_EVENT_UNLINK);
    expect_empty(own);
    CHECK_EQ(PTL_MD_INVALID, put(md, PTL_NO_ACK_REQ));
    CHECK_EQ(1, status(PTL_SR_DROP_COUNT)); /* the acknowledgement */
}

static void i_threshold_retain(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 10, 1, PTL_RETAIN, own);

    OK(put(md, PTL_NO_ACK_REQ));
    CHECK_EQ(PTL_MD_INVALID, put(md, PTL_NO_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    expect_empty(own);
    OK(PtlMDUnlink(md));
}

static void with_open_target(void (*initiator)(void))
{
    begin();
    post(target_bytes, sizeof(target_bytes), PTL_MD_THRESH_INF, BOTH, PTL_EQ_NONE);
    initiator_run(initiator);
    expect_sound();
}

static void threshold_two_unlinks_after_ack(void)
{
    with_open_target(i_threshold_two);
}

static void threshold_one_drops_ack(void)
{
    with_open_target(i_threshold_one);
}

static void threshold_one_retained_refuses(void)
{
    with_open_target(i_threshold_retain);
}

static void i_put_region(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 100, PTL_MD_THRESH_INF, PTL_RETAIN, own);
    ptl_event_t event;

    fill(0);
    CHECK_EQ(PTL_MD_ILLEGAL,
             PtlPutRegion(md, 90, 11, PTL_NO_ACK_REQ, target_id, PORTAL, 0, BITS, 0, 0));
    CHECK_EQ(PTL_MD_ILLEGAL,
             PtlPutRegion(md, 101, 0, PTL_NO_ACK_REQ, target_id, PORTAL, 0, BITS, 0, 0));
    CHECK_EQ(PTL_MD_ILLEGAL,
             PtlPutRegion(md, 1, UINT64_MAX, PTL_NO_ACK_REQ, target_id, PORTAL, 0, BITS, 0, 0));
    expect_empty(own);
    OK(PtlPutRegion(md, 20, 5, PTL_NO_ACK_REQ, target_id, PORTAL, 0, BITS, 0, 0));
    take(own, PTL_EVENT_SEND_START);
    event = take(own, PTL_EVENT_SEND_END);
    CHECK_EQ(20, event.offset);
    CHECK_EQ(5, event.mlength);
    OK(PtlPutRegion(md, 100, 0, PTL_NO_ACK_REQ, target_id, PORTAL, 0, BITS, 0, 0));
}

static void put_region(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    initiator_run(i_put_region);
    take(eq, PTL_EVENT_PUT_START);
    CHECK_EQ(5, take(eq, PTL_EVENT_PUT_END).mlength);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    expect_empty(eq);
    fill(0);
    CHECK(memcmp(target_bytes, own_bytes + 20, 5) == 0);
    CHECK_EQ(0, target_bytes[5]);
}

static void i_put_quietly(void)
{
    fill(3);
    OK(put(bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE), PTL_ACK_REQ));
}

static void put_without_queues(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, PTL_EQ_NONE);
    initiator_run(i_put_quietly);
    expect_empty(eq);
    fill(3);
    CHECK(memcmp(target_bytes, own_bytes, 10) == 0);
}

static void i_put_nothing(void)
{
    ptl_handle_eq_t own = new_eq(16);

    OK(put(bind(NULL, 0, PTL_MD_THRESH_INF, PTL_RETAIN, own), PTL_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    CHECK_EQ(0, take(own, PTL_EVENT_ACK).mlength);
    expect_empty(own);
}

static void put_of_zero_bytes(void)
{
    begin();
    post(NULL, 0, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    initiator_run(i_put_nothing);
    take(eq, PTL_EVENT_PUT_START);
    CHECK_EQ(0, take(eq, PTL_EVENT_PUT_END).mlength);
    expect_empty(eq);
}

static void i_put_unwanted(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, own);

    OK(PtlPut(md, PTL_ACK_REQ, target_id, PORTAL + 1, 0, BITS, 0, 0));
    OK(PtlPut(md, PTL_ACK_REQ, target_id, 9999, 0, BITS, 0, 0));
    OK(put_to(md, PTL_ACK_REQ, BITS + 1, 0, 0));
    OK(put(md, PTL_ACK_REQ)); /* the only matching descriptor takes gets only */
    for (int i = 0; i < 4; i++) {
        take(own, PTL_EVENT_SEND_START);
        CHECK_EQ(PTL_NI_OK, take(own, PTL_EVENT_SEND_END).ni_fail_type);
    }
    expect_empty(own);
    CHECK_EQ(PTL_EXT_DROPPED, PtlExtLastOutcome());
}

static void put_not_accepted_is_dropped(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_GET, eq);
    initiator_run(i_put_unwanted);
    CHECK_EQ(4, status(PTL_SR_DROP_COUNT));
    CHECK_EQ(40, status(PTL_SR_DROP_LENGTH));
    expect_empty(eq);
}

static void put_to_self(void)
{
    begin();
    target_id = own_id;
    fill(9);
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    OK(put(bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, eq), PTL_ACK_REQ));
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    take(eq, PTL_EVENT_SEND_START);
    take(eq, PTL_EVENT_SEND_END);
    take(eq, PTL_EVENT_ACK);
    expect_empty(eq);
    CHECK(memcmp(target_bytes, own_bytes, 10) == 0);
    expect_sound();
}

static void i_thousand_puts(void)
{
    ptl_handle_md_t md = bind(own_bytes, 3, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    for (uint64_t i = 0; i < 1000; i++)
        OK(put_to(md, PTL_NO_ACK_REQ, BITS, 0, i));
}

static void puts_arrive_in_order(void)
{
    ptl_handle_eq_t big;

    begin();
    big = new_eq(4096);
    post(target_bytes, 3000, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, big);
    initiator_run(i_thousand_puts);
    for (uint64_t i = 0; i < 1000; i++) {
        ptl_event_t event = take(big, PTL_EVENT_PUT_START);

        CHECK_EQ(i, event.hdr_data);
        CHECK_EQ(3 * i, event.offset);
        take(big, PTL_EVENT_PUT_END);
    }
    expect_empty(big);
}

static void i_reuse_buffer(void)
{
    ptl_handle_eq_t own = new_eq(16);

    fill(5);
    OK(put(bind(own_bytes, 64, PTL_MD_THRESH_INF, PTL_RETAIN, own), PTL_NO_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    memset(own_bytes, 0xee, sizeof(own_bytes));
}

static void buffer_is_free_after_send_end(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    initiator_run(i_reuse_buffer);
    fill(5);
    CHECK(memcmp(target_bytes, own_bytes, 64) == 0);
}

/* ---- offsets and sizes ---- */

static void put_n(uint64_t length, uint64_t remote_offset, uint64_t hdr)
{
    ptl_handle_md_t md = bind(own_bytes, length, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    OK(put_to(md, PTL_NO_ACK_REQ, BITS, remote_offset, hdr));
    OK(PtlMDUnlink(md));
}

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
    ptl_handle_md_t md;

    fill(0);
    put_n(25, 3, 0);
    memset(own_bytes, 0, sizeof(own_bytes));
    md = bind(own_bytes, 25, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);
    OK(PtlGet(md, target_id, PORTAL, 0, BITS, 3));
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

/* ---- get ---- */

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
    ptl_handle_md_t md;

    fill(100);
    put_n(10, 0, 0);
    md = bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);
    OK(get(md));
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
    CHECK_EQ(PTL_EXT_DROPPED, PtlExtLastOutcome());
    OK(PtlGet(md, target_id, PORTAL, 0, 2, 0));
    CHECK_EQ(PTL_EXT_DROPPED, PtlExtLastOutcome());
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

/* ---- events and unlinking ---- */

static void i_disabled(void)
{
    static const unsigned off[] = {PTL_MD_EVENT_START_DISABLE, PTL_MD_EVENT_END_DISABLE,
                                   PTL_MD_EVENT_START_DISABLE | PTL_MD_EVENT_END_DISABLE};
    ptl_handle_eq_t own = new_eq(16);

    for (int i = 0; i < 3; i++) {
        ptl_md_t md = make_md(own_bytes, 4, PTL_MD_THRESH_INF, off[i], own);
        ptl_handle_md_t handle;

        OK(PtlMDBind(ni, md, PTL_RETAIN, &handle));
        OK(put_to(handle, PTL_ACK_REQ, (uint64_t)i, 0, 0));
        if (i == 0)
            take(own, PTL_EVENT_SEND_END);
        if (i == 1)
            take(own, PTL_EVENT_SEND_START);
        if (i < 2)
            take(own, PTL_EVENT_ACK);
        expect_empty(own);
    }
}

static void disabled_events(void)
{
    begin();
    post_at(PORTAL, 0,
            make_md(target_bytes, 99, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq),
            PTL_UNLINK, NULL);
    post_at(PORTAL, 1, make_md(target_bytes, 99, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_END_DISABLE, eq),
            PTL_UNLINK, NULL);
    post_at(PORTAL, 2,
            make_md(target_bytes, 99, -1,
                    PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE | PTL_MD_EVENT_END_DISABLE, eq),
            PTL_UNLINK, NULL);
    initiator_run(i_disabled);
    take(eq, PTL_EVENT_PUT_END);
    take(eq, PTL_EVENT_PUT_START);
    expect_empty(eq);
}

static void i_three_puts(void)
{
    put_n(4, 0, 1);
    put_n(4, 0, 2);
    put_n(4, 0, 3);
}

static void third_put_unlinks(ptl_unlink_t me_unlink)
{
    ptl_handle_me_t me;
    ptl_handle_md_t md;
    ptl_event_t end, unlinked;

    begin();
    OK(PtlMEAttach(ni, PORTAL, ANY_ID, BITS, 0, me_unlink, PTL_INS_AFTER, &me));
    OK(PtlMDAttach(me, make_md(target_bytes, 99, 3, PTL_MD_OP_PUT, eq), PTL_UNLINK, &md));
    CHECK_EQ(PTL_ME_IN_USE,
             PtlMDAttach(me, make_md(target_bytes, 99, 3, PTL_MD_OP_PUT, eq), PTL_UNLINK, NULL));
    initiator_run(i_three_puts);
    for (int left = 2; left >= 0; left--) {
        ptl_event_t first = take(eq, PTL_EVENT_PUT_START);

        end = take(eq, PTL_EVENT_PUT_END);
        CHECK_EQ(first.sequence, end.link);
        CHECK_EQ(first.sequence, first.link);
        CHECK_EQ(left, end.md.threshold);
        CHECK_EQ(md, end.md_handle);
        CHECK_EQ((uintptr_t)target_bytes, (uintptr_t)end.md.user_ptr);
    }
    unlinked = take(eq, PTL_EVENT_UNLINK);
    CHECK_EQ(end.sequence, unlinked.link);
    CHECK_EQ(md, unlinked.md_handle);
    expect_empty(eq);
    CHECK_EQ(PTL_MD_INVALID, PtlMDUnlink(md));
    if (me_unlink == PTL_UNLINK)
        CHECK_EQ(PTL_ME_INVALID, PtlMEUnlink(me));
    else
        OK(PtlMDAttach(me, make_md(target_bytes, 99, 3, PTL_MD_OP_PUT, eq), PTL_UNLINK, &md));
    expect_sound();
}

static void unlink_takes_the_entry(void)
{
    third_put_unlinks(PTL_UNLINK);
}

static void unlink_keeps_the_entry(void)
{
    third_put_unlinks(PTL_RETAIN);
}

static void explicit_unlink_is_silent(void)
{
    begin();
    OK(PtlMDUnlink(post(target_bytes, 9, -1, PTL_MD_OP_PUT, eq)));
    expect_empty(eq);
}

static void i_zero_threshold(void)
{
    put_n(4, 0, 1);
    CHECK_EQ(PTL_EXT_DROPPED, PtlExtLastOutcome());
}

static void i_one_put(void)
{
    put_n(4, 0, 1);
    CHECK_EQ(PTL_EXT_DELIVERED, PtlExtLastOutcome());
}

static void zero_threshold_is_inactive(void)
{
    ptl_handle_md_t md;
    ptl_md_t update;

    begin();
    md = post(target_bytes, 9, 0, PTL_MD_OP_PUT, eq);
    initiator_run(i_zero_threshold);
    expect_empty(eq);
    update = make_md(target_bytes, 9, 1, PTL_MD_OP_PUT, eq);
    OK(PtlMDUpdate(md, NULL, &update, PTL_EQ_NONE));
    initiator_run(i_one_put);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    take(eq, PTL_EVENT_UNLINK);
    expect_empty(eq);
}

static void i_flood(void)
{
    ptl_handle_md_t md = bind(own_bytes, 1, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    await_flag(0, 1);
    for (int i = 0; i < 300; i++)
        OK(put(md, PTL_NO_ACK_REQ));
}

static void unlink_is_the_last_event(void)
{
    ptl_handle_eq_t big;
    ptl_event_t event;
    pid_t pids[4];
    int unlinks = 0, ends = 0;

    begin();
    big = new_eq(4096);
    post(target_bytes, sizeof(target_bytes), 800, PTL_MD_OP_PUT, big);
    for (int i = 0; i < 4; i++)
        pids[i] = initiator_start(i_flood);
    set_flag(0, 1);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(0, initiator_join(pids[i]));
    while (PtlEQGet(big, &event) == PTL_OK) {
        CHECK_EQ(0, unlinks);
        unlinks += event.type == PTL_EVENT_UNLINK;
        ends += event.type == PTL_EVENT_PUT_END;
    }
    CHECK_EQ(1, unlinks);
    CHECK_EQ(800, ends);
    CHECK_EQ(400, status(PTL_SR_DROP_COUNT));
    expect_sound();
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"27", "put_with_ack", put_with_ack, NULL},
        {"28", "put_without_ack", put_without_ack, NULL},
        {"29", "put_ack_disabled", put_ack_disabled, NULL},
        {"30", "put_event_fields", put_event_fields, NULL},
        {"31", "threshold_two_unlinks_after_ack", threshold_two_unlinks_after_ack, NULL},
        {"32", "threshold_one_drops_ack", threshold_one_drops_ack, NULL},
        {"33", "threshold_one_retained_refuses", threshold_one_retained_refuses, NULL},
        {"34", "put_region", put_region, NULL},
        {"35", "put_without_queues", put_without_queues, NULL},
        {"36", "put_of_zero_bytes", put_of_zero_bytes, NULL},
        {"37", "put_not_accepted_is_dropped", put_not_accepted_is_dropped, NULL},
        {"38", "put_to_self", put_to_self, NULL},
        {"39", "puts_arrive_in_order", puts_arrive_in_order, NULL},
        {"40", "buffer_is_free_after_send_end", buffer_is_free_after_send_end, NULL},
        {"41", "local_offset_advances", local_offset_advances, NULL},
        {"42", "remote_offset_is_used", remote_offset_is_used, NULL},
        {"43", "too_long_goes_to_next", too_long_goes_to_next, NULL},
        {"44,45", "truncation", truncation, NULL},
        {"46,47", "remote_offset_past_end", remote_offset_past_end, NULL},
        {"48", "max_size_rotates", max_size_rotates, NULL},
        {"49", "max_size_is_no_message_limit", max_size_is_no_message_limit, NULL},
        {"50", "iovec_scatters_and_gathers", iovec_scatters_and_gathers, NULL},
        {"51,52", "get_replies", get_replies, NULL},
        {"53", "get_region", get_region, NULL},
        {"54", "get_from_a_shorter_descriptor", get_from_a_shorter_descriptor, NULL},
        {"55", "get_advances_offset", get_advances_offset, NULL},
        {"56", "operations_must_be_allowed", operations_must_be_allowed, NULL},
        {"62", "disabled_events", disabled_events, NULL},
        {"63,67,68,69", "unlink_takes_the_entry", unlink_takes_the_entry, NULL},
        {"63,67", "unlink_keeps_the_entry", unlink_keeps_the_entry, NULL},
        {"64", "explicit_unlink_is_silent", explicit_unlink_is_silent, NULL},
        {"65", "unlink_is_the_last_event", unlink_is_the_last_event, NULL},
        {"66", "zero_threshold_is_inactive", zero_threshold_is_inactive, NULL},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
