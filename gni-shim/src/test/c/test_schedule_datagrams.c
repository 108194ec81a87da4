/* Small stories in every order of their labelled steps: datagrams against each other and against
 * giving up. */
#include "schedule.h"

static uint8_t in[3][128];

static void nothing_posted(void)
{
    memset(in, 0, sizeof(in));
}

static void post_datagram(int which)
{
    uint8_t out[32];

    memset(out, which + 1, sizeof(out));
    OK(GNI_EpPostData(nodes[which]->ep, out, sizeof(out), in[which], 128));
}

static void post_a(void)
{
    post_datagram(0);
}

static void post_b(void)
{
    post_datagram(1);
}

static gni_post_state_t state_of(int which)
{
    gni_post_state_t state = GNI_POST_ERROR;
    uint32_t pe, inst;

    OK(GNI_EpPostDataTest(nodes[which]->ep, &state, &pe, &inst));
    return state;
}

static void judge_both(void)
{
    JUDGE(state_of(0) == GNI_POST_COMPLETED);
    JUDGE(state_of(1) == GNI_POST_COMPLETED);
    JUDGE(in[0][0] == 2 && in[0][31] == 2 && in[1][0] == 1 && in[1][31] == 1);
    expect_sound(&a);
    expect_sound(&b);
}

static void datagrams(void)
{
    const struct story s = {nothing_posted, {post_a, post_b}, 2, judge_both, 1};

    pair_open(&a, &b, 0, 0);
    post_a(); /* attaching takes steps only once */
    post_b();
    judge_both();
    explore(&s);
}

static void post_and_cancel(void)
{
    post_datagram(1);
    outcome[1] = GNI_EpPostDataCancel(b.ep);
}

/* Either both have each other's, or one was cancelled and the other one waits, for nobody. */
static void judge_cancelled(void)
{
    gni_post_state_t first, second_state = state_of(1);

    if (outcome[1] == GNI_RC_NO_MATCH) {
        JUDGE(second_state == GNI_POST_COMPLETED && state_of(0) == GNI_POST_COMPLETED);
        JUDGE(in[0][0] == 2 && in[1][0] == 1);
    } else {
        JUDGE(outcome[1] == GNI_RC_SUCCESS && second_state == GNI_POST_TERMINATED);
        first = state_of(0);
        JUDGE(first == GNI_POST_PENDING);
        JUDGE(in[0][0] == 0 && in[1][0] == 0);
        post_datagram(1); /* what waited is met by the next one */
        JUDGE(state_of(1) == GNI_POST_COMPLETED && state_of(0) == GNI_POST_COMPLETED);
    }
    expect_sound(&a);
    expect_sound(&b);
}

static void datagram_given_up(void)
{
    const struct story s = {nothing_posted, {post_a, post_and_cancel}, 2, judge_cancelled, 1};

    pair_open(&a, &b, 0, 0);
    post_a();
    post_b();
    judge_both();
    explore(&s);
}

/* Two come to one who takes anybody, once. */
static gni_ep_handle_t open_ep;

static void post_c(void)
{
    post_datagram(2);
}

static void post_open(void)
{
    uint8_t out[32];

    memset(out, 2, sizeof(out));
    OK(GNI_EpPostDataWId(open_ep, out, sizeof(out), in[1], 128, 5));
}

static void judge_anybody(void)
{
    gni_post_state_t state, states[2] = {state_of(0), state_of(2)};
    uint32_t pe, inst;
    int who;

    OK(GNI_EpPostDataTestById(open_ep, 5, &state, &pe, &inst));
    JUDGE(state == GNI_POST_COMPLETED && (inst == 1 || inst == 3));
    who = inst == 3;
    JUDGE(states[who] == GNI_POST_COMPLETED && states[!who] == GNI_POST_PENDING);
    JUDGE(in[1][0] == inst && in[who ? 2 : 0][0] == 2);
    for (int i = 0; i < 3; i++)
        expect_sound(nodes[i]);
    post_open(); /* the other one is the next one's */
    OK(GNI_EpPostDataTestById(open_ep, 5, &state, &pe, &inst));
    JUDGE(state == GNI_POST_COMPLETED && inst == (who ? 1 : 3));
    JUDGE(state_of(who ? 0 : 2) == GNI_POST_COMPLETED);
}

static void anybody(void)
{
    const struct story s = {nothing_posted, {post_a, post_open, post_c}, 3, judge_anybody, 6};

    pair_open(&a, &b, 0, 0);
    node_open(&c, 3, 0, 0);
    OK(GNI_EpBind(c.ep, b.pe, b.inst));
    OK(GNI_EpCreate(b.nic, NULL, &open_ep));
    post_a();
    post_c();
    post_open();
    judge_anybody();
    explore(&s);
}

static const struct check_case cases[] = {
    {"", "datagrams", datagrams},
    {"", "datagram_given_up", datagram_given_up},
    {"", "anybody", anybody},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
