/* The CRAY flavour: what programs written for the Cray XT expect (assertions 5, 51, 52, 64, 94). */
#ifndef PORTALS_STANDARD /* there the header is chosen by -DPTL3_FLAVOR_CRAY */
#include "portals/portals3.h"
#endif

#include "check.h"

static uint8_t bytes[256], own_bytes[256];
static ptl_handle_eq_t eq;

/* Idioms of clients, which must compile against this header. */
#ifndef PTL_EQ_HANDLER_NONE
#define PTL_EQ_HANDLER_NONE NULL
#endif
#define PTL_NO_ACK_REQ PTL_NOACK_REQ
#ifndef PTL_IFACE_DUP
#define PTL_IFACE_DUP PTL_OK
#endif
#define PtlErrorStr(code) ptl_err_str[code]
#define PtlEventKindStr(kind) ptl_event_str[kind]

static void begin(void)
{
    check_flavor = PTL_EXT_CRAY;
    open_interface(PTL_EXT_CRAY);
    eq = new_eq(64);
}

static void second_init_is_a_duplicate(void)
{
    int bridge = PTL_BRIDGE_UK, nal = PTL_IFACE_SS, interfaces;
    ptl_handle_ni_t first, second = PTL_INVALID_HANDLE;
    ptl_ni_limits_t a, b;
    ptl_process_id_t id;

    OK(PtlInit(&interfaces));
    OK(PtlNIInit(IFACE_FROM_BRIDGE_AND_NALID(bridge, nal), PTL_PID_ANY, NULL, &a, &first));
    CHECK_EQ(PTL_IFACE_DUP, PtlNIInit(CRAY_UK_SSNAL, PTL_PID_ANY, NULL, &b, &second));
    CHECK_EQ(PTL_IFACE_DUP, PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, &b, &second));
    CHECK_EQ(first, second);
    CHECK(memcmp(&a, &b, sizeof(a)) == 0);
    OK(PtlGetId(second, &id));
    CHECK(id.pid != PTL_PID_ANY && id.pid <= 0xfffe);
    CHECK_EQ(2, sizeof(id.pid));
    OURS(CHECK(strcmp(PtlErrorStr(PTL_IFACE_DUP), "PTL_IFACE_DUP") == 0));
    OURS(CHECK(strcmp(PtlEventKindStr(PTL_EVENT_UNLINK), "PTL_EVENT_UNLINK") == 0));
}

static ptl_handle_md_t bind_with(uint64_t length, int threshold, unsigned options,
                                 ptl_handle_eq_t own)
{
    ptl_handle_md_t md;

    OK(PtlMDBind(ni, make_md(own_bytes, length, threshold, options, own), PTL_UNLINK, &md));
    return md;
}

static void i_cray_get(void)
{
    ptl_handle_eq_t own = new_eq(16);

    OK(get(bind_with(10, 2, PTL_MD_EVENT_AUTO_UNLINK_ENABLE, own)));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    take(own, PTL_EVENT_REPLY_START);
    take(own, PTL_EVENT_REPLY_END);
    take(own, PTL_EVENT_UNLINK);
    expect_empty(own);
    /* With a threshold of 1 the send uses it up, and the reply is lost. */
    OK(get(bind_with(10, 1, PTL_MD_EVENT_AUTO_UNLINK_ENABLE, own)));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    take(own, PTL_EVENT_UNLINK);
    expect_empty(own);
    EXPECT_OUTCOME(PTL_EXT_REPLY_DROPPED);
    expect_sound();
}

static void get_logs_a_send(void)
{
    begin();
    post(bytes, 64, -1, PTL_MD_OP_GET | PTL_MD_MANAGE_REMOTE, eq);
    initiator_run(i_cray_get);
    for (int i = 0; i < 2; i++) {
        take(eq, PTL_EVENT_GET_START);
        take(eq, PTL_EVENT_GET_END);
    }
    expect_empty(eq);
}

static void i_cray_put(void)
{
    ptl_handle_eq_t own = new_eq(16);

    OK(put(bind_with(4, 1, 0, own), PTL_NO_ACK_REQ));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    expect_empty(own); /* unlinked, but nobody asked for the event */
    expect_status(PTL_SR_MDS_CUR, 0);
}

static void unlink_event_on_demand(void)
{
    ptl_handle_md_t md;

    begin();
    post(bytes, 64, 1, PTL_MD_OP_PUT, eq);
    initiator_run(i_cray_put);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    expect_empty(eq);
    OK(PtlMDUnlink(post(bytes, 64, 1, PTL_MD_OP_PUT, eq)));
    expect_empty(eq);
    md = post(bytes, 64, 1, PTL_MD_OP_PUT | PTL_MD_EVENT_MANUAL_UNLINK_ENABLE, eq);
    OK(PtlMDUnlink(md));
    CHECK_EQ(md, take(eq, PTL_EVENT_UNLINK).md_handle);
    expect_empty(eq);
    expect_sound();
}

static void i_put_one(void)
{
    OK(put(bind_with(4, -1, 0, PTL_EQ_NONE), PTL_NO_ACK_REQ));
}

static void post_needs_an_empty_queue(void)
{
    ptl_handle_me_t base, me;
    ptl_handle_md_t md;
    ptl_md_t posted;

    begin();
    post_at(PORTAL, BITS, make_md(bytes, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq),
            PTL_RETAIN, &base);
    posted = make_md(bytes + 128, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    initiator_run(i_put_one);
    CHECK_EQ(PTL_MD_NO_UPDATE, PtlMEMDPost(ni, base, ANY_ID, BITS, 0, PTL_UNLINK, PTL_INS_BEFORE,
                                           posted, PTL_UNLINK, &me, &md, eq));
    expect_status(PTL_SR_MES_CUR, 1);
    expect_status(PTL_SR_MDS_CUR, 1);
    take(eq, PTL_EVENT_PUT_END);
    OK(PtlMEMDPost(ni, base, ANY_ID, BITS, 0, PTL_UNLINK, PTL_INS_BEFORE, posted, PTL_UNLINK, &me,
                   &md, eq));
    initiator_run(i_put_one);
    CHECK_EQ(md, take(eq, PTL_EVENT_PUT_END).md_handle);
    OK(PtlMEMDAttach(ni, PORTAL, ANY_ID, BITS, 0, PTL_UNLINK, PTL_INS_BEFORE, posted, PTL_UNLINK,
                     &me, &md));
    OK(PtlMEMDInsert(me, ANY_ID, BITS, 0, PTL_UNLINK, PTL_INS_BEFORE, posted, PTL_UNLINK, &me,
                     &md));
    initiator_run(i_put_one);
    CHECK_EQ(md, take(eq, PTL_EVENT_PUT_END).md_handle);
    expect_sound();
}

static void peek_keeps_the_event(void)
{
    ptl_event_t event;

    begin();
    CHECK_EQ(PTL_EQ_EMPTY, PtlEQPeek(eq, &event));
    post(bytes, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    initiator_run(i_put_one);
    OK(PtlEQPeek(eq, &event));
    OK(PtlEQPeek(eq, &event));
    CHECK_EQ(event.sequence, take(eq, PTL_EVENT_PUT_END).sequence);
    OK(PtlEQFree(eq));
    CHECK_EQ(PTL_EQ_INVALID, PtlEQPeek(eq, &event));
}

/* DART's announced bulk data: both sides learn of the end by UNLINK. */
static void i_announced(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_event_t event;

    OK(PtlGet(bind_with(64, 2,
                        PTL_MD_EVENT_START_DISABLE | PTL_MD_EVENT_END_DISABLE |
                            PTL_MD_EVENT_AUTO_UNLINK_ENABLE,
                        own),
              target_id, PORTAL, 0, 77, 0));
    event = take(own, PTL_EVENT_UNLINK);
    CHECK_EQ(64, event.md.length);
    CHECK_EQ(0x3c, own_bytes[63]);
    expect_empty(own);
}

static void announced_bulk_data(void)
{
    begin();
    memset(bytes, 0x3c, 64);
    post_at(PORTAL, 77,
            make_md(bytes, 64, 1,
                    PTL_MD_OP_GET | PTL_MD_EVENT_START_DISABLE | PTL_MD_EVENT_END_DISABLE |
                        PTL_MD_EVENT_AUTO_UNLINK_ENABLE,
                    eq),
            PTL_UNLINK, NULL);
    initiator_run(i_announced);
    take(eq, PTL_EVENT_UNLINK);
    expect_empty(eq);
    CHECK_EQ(0, status(PTL_SR_MES_CUR));
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"5", "second_init_is_a_duplicate", second_init_is_a_duplicate},
        {"51,52", "get_logs_a_send", get_logs_a_send},
        {"64", "unlink_event_on_demand", unlink_event_on_demand},
        {"94", "post_needs_an_empty_queue", post_needs_an_empty_queue},
        {"", "peek_keeps_the_event", peek_keeps_the_event},
        {"", "announced_bulk_data", announced_bulk_data},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
