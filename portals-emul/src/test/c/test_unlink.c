/* Events and unlinking (assertions 62 to 69). */
#include "move.h"

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
    EXPECT_OUTCOME(PTL_EXT_DROPPED);
}

static void i_one_put(void)
{
    put_n(4, 0, 1);
    EXPECT_OUTCOME(PTL_EXT_DELIVERED);
}

static void zero_threshold_is_inactive(void)
{
    ptl_handle_md_t md;
    ptl_md_t update;

    begin();
    md = post(target_bytes, 9, 0, PTL_MD_OP_PUT, eq);
    initiator_run(i_zero_threshold);
    expect_empty(eq);
    CHECK_EQ(1, status(PTL_SR_DROP_COUNT));
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
    while (nic_event_not_due(big, &event) == PTL_OK) {
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
        {"62", "disabled_events", disabled_events},
        {"63,67,68,69", "unlink_takes_the_entry", unlink_takes_the_entry},
        {"63,67", "unlink_keeps_the_entry", unlink_keeps_the_entry},
        {"64", "explicit_unlink_is_silent", explicit_unlink_is_silent},
        {"65", "unlink_is_the_last_event", unlink_is_the_last_event},
        {"66", "zero_threshold_is_inactive", zero_threshold_is_inactive},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
