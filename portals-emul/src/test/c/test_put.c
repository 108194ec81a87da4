/* Put: events, thresholds, order (assertions 27 to 40). */
#include "move.h"

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
    OURS(CHECK_EQ(1, status(PTL_SR_DROP_COUNT))); /* the acknowledgement */
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
    EXPECT_OUTCOME(PTL_EXT_DROPPED);
}

static void put_not_accepted_is_dropped(void)
{
    begin();
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_GET, eq);
    initiator_run(i_put_unwanted);
    CHECK_EQ(4, status(PTL_SR_DROP_COUNT));
    expect_status(PTL_SR_DROP_LENGTH, 40);
    expect_empty(eq);
}

static void put_to_self(void)
{
    begin();
    target_id = own_id;
    fill(9);
    post(target_bytes, 100, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    OK(put(bind(own_bytes, 10, PTL_MD_THRESH_INF, PTL_RETAIN, eq), PTL_ACK_REQ));
    take(eq, PTL_EVENT_SEND_START);
    take(eq, PTL_EVENT_SEND_END);
    take(eq, PTL_EVENT_ACK);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
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

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"27", "put_with_ack", put_with_ack},
        {"28", "put_without_ack", put_without_ack},
        {"29", "put_ack_disabled", put_ack_disabled},
        {"30", "put_event_fields", put_event_fields},
        {"31", "threshold_two_unlinks_after_ack", threshold_two_unlinks_after_ack},
        {"32", "threshold_one_drops_ack", threshold_one_drops_ack},
        {"33", "threshold_one_retained_refuses", threshold_one_retained_refuses},
        {"34", "put_region", put_region},
        {"35", "put_without_queues", put_without_queues},
        {"36", "put_of_zero_bytes", put_of_zero_bytes},
        {"37", "put_not_accepted_is_dropped", put_not_accepted_is_dropped},
        {"38", "put_to_self", put_to_self},
        {"39", "puts_arrive_in_order", puts_arrive_in_order},
        {"40", "buffer_is_free_after_send_end", buffer_is_free_after_send_end},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
