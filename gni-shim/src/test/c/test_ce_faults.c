/* The collective engine: wrong calls, leaves that disagree, and processes that die in a reduction.
 */
#define _GNU_SOURCE
#include "ce_tree.h"
#include "gni_ce.h"
#include <signal.h>

/* ---- what goes wrong ---- */

static void disagreement(void)
{
    gni_ep_handle_t one, other;
    gni_post_descriptor_t d, e;
    gni_cq_entry_t entry;
    struct tree t;

    aries();
    one = lone(&t, GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONERR | GNI_CE_MODE_RC_ADAPT, &other);
    d = reduction(&t, GNI_FMA_CE_AND, 0, 1, 0);
    e = reduction(&t, GNI_FMA_CE_OR, 0, 1, 0);
    e.local_addr += 64;
    OK(GNI_PostFma(one, &d));
    CODE(GNI_RC_ERROR_RESOURCE, GNI_PostFma(one, &d)); /* it waits for the first */
    OK(GNI_PostFma(other, &e));
    CODE(GNI_RC_TRANSACTION_ERROR, finish(&t, &e));
    CODE(GNI_RC_TRANSACTION_ERROR, finish(&t, &d));
    CODE(GNI_RC_TRANSACTION_ERROR, GNI_CeCheckResult(t.result, 1));
    CHECK_EQ(0x35, GNI_CE_RES_GET_STATUS(t.result));
    CHECK(!GNI_CE_RES_STATUS_OK(t.result));
    CODE(GNI_RC_TRANSACTION_ERROR, next_event(t.results, &entry));
    e.ce_cmd = GNI_FMA_CE_AND;
    e.ce_red_id = 78;
    OK(GNI_PostFma(one, &d));
    OK(GNI_PostFma(other, &e));
    CODE(GNI_RC_TRANSACTION_ERROR, finish(&t, &e));
    CODE(GNI_RC_TRANSACTION_ERROR, finish(&t, &d));
    CHECK_EQ(0x37, GNI_CE_RES_GET_STATUS(t.result));
    e.ce_red_id = 77; /* and the next one is good again */
    OK(GNI_PostFma(one, &d));
    OK(GNI_PostFma(other, &e));
    OK(finish(&t, &e));
    OK(finish(&t, &d));
    OK(GNI_CdmDestroy(t.cdm));
}

static void modes_of_a_channel(void)
{
    static const uint32_t kind[3][5] = {{0, GNI_CE_MODE_ROUND_UP, GNI_CE_MODE_ROUND_DOWN,
                                         GNI_CE_MODE_ROUND_NEAR, GNI_CE_MODE_ROUND_ZERO},
                                        {0, GNI_CE_MODE_CQE_ONCOMP, GNI_CE_MODE_CQE_ONERR},
                                        {0, GNI_CE_MODE_RC_NMIN_HASH, GNI_CE_MODE_RC_MIN_HASH,
                                         GNI_CE_MODE_RC_MNON_HASH, GNI_CE_MODE_RC_ADAPT}};
    gni_ep_handle_t one, other;
    gni_ce_handle_t ce;
    struct tree t;

    aries();
    one = lone(&t, MODES, &other);
    for (int i = 0; i < 5 * 5 * 5; i++) {
        uint32_t modes = kind[0][i % 5] | kind[1][i / 5 % 5] | kind[2][i / 25];

        OK(GNI_CeCreate(t.nic, &ce));
        OK(GNI_CeConfigure(ce, &one, 1, NULL, t.results, modes));
        OK(GNI_CeDestroy(ce));
    }
    OK(GNI_CeCreate(t.nic, &ce));
    for (int k = 0; k < 3; k++)
        for (int i = 1; i < 5; i++)
            for (int j = i + 1; j < 5 && kind[k][j] != 0; j++) {
                CODE(GNI_RC_INVALID_PARAM,
                     GNI_CeConfigure(ce, &one, 1, NULL, NULL, kind[k][i] | kind[k][j]));
                CODE(GNI_RC_INVALID_PARAM,
                     GNI_CeConfigure(ce, &one, 1, NULL, NULL,
                                     kind[k][i] | kind[k][j] | kind[(k + 1) % 3][1]));
            }
    OK(GNI_CdmDestroy(t.cdm));
    /* Without rounding: to the nearest. Without events: none. */
    one = lone(&t, 0, &other);
    both(&t, one, other, reduction(&t, GNI_FMA_CE_IADD, 0, 3, 0), 4);
    CHECK_EQ(7, t.result->result1);
    expect_empty(t.results);
    OK(GNI_CdmDestroy(t.cdm));
}

static void wrong_calls(void)
{
    gni_ep_handle_t one, other, stranger;
    gni_ce_handle_t second = NULL;
    gni_post_descriptor_t d;
    struct tree t;
    uint32_t id;

    aries();
    one = lone(&t, MODES, &other);
    CODE(GNI_RC_INVALID_PARAM, GNI_CeCreate(NULL, &second));
    CODE(GNI_RC_INVALID_PARAM, GNI_CeCreate(t.nic, NULL));
    CODE(GNI_RC_INVALID_PARAM, GNI_CeGetId(NULL, &id));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpSetCeAttr(one, 0, GNI_CE_MAX_CHILDREN, GNI_CE_CHILD_PE));
    CODE(GNI_RC_INVALID_STATE, GNI_CeConfigure(t.ce, &one, 1, NULL, NULL, MODES));
    OK(GNI_CeCreate(t.nic, &second));
    gni_ep_handle_t same[2] = {one, one};
    CODE(GNI_RC_INVALID_PARAM, GNI_CeConfigure(second, same, 2, NULL, NULL, MODES));
    CODE(GNI_RC_INVALID_PARAM, GNI_CeConfigure(second, &one, 0, NULL, NULL, MODES));
    CODE(GNI_RC_INVALID_PARAM, GNI_CeConfigure(second, &one, 33, NULL, NULL, MODES));
    CODE(GNI_RC_INVALID_PARAM, GNI_CeConfigure(second, &one, 1, other, NULL, MODES)); /* no VCE */
    CODE(GNI_RC_INVALID_PARAM,
         GNI_CeConfigure(second, &one, 1, NULL, NULL, MODES | GNI_CE_MODE_ROUND_UP));
    CODE(GNI_RC_INVALID_PARAM, GNI_CeConfigure(second, &one, 1, NULL, NULL, 0x20));
    CODE(GNI_RC_INVALID_PARAM, GNI_CeCheckResult(NULL, 1));
    d = reduction(&t, GNI_FMA_CE_AND, 0, 1, 0);
    d.local_addr += 8;
    CODE(GNI_RC_ALIGNMENT_ERROR, GNI_PostFma(one, &d));
    d.local_addr -= 8;
    d.ce_cmd = (gni_ce_cmd_type_t)0x06;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostFma(one, &d));
    d.ce_cmd = GNI_FMA_CE_AND;
    OK(GNI_CeGetId(second, &id)); /* a channel that nobody configured */
    stranger = bound(&t, 0, id, 0, GNI_CE_CHILD_PE);
    OK(GNI_PostFma(stranger, &d));
    CODE(GNI_RC_TRANSACTION_ERROR, finish(&t, &d));
    CHECK_EQ(0x32, GNI_CE_RES_GET_STATUS(t.result));
    OK(GNI_CeGetId(t.ce, &id)); /* a child that the channel does not have */
    OK(GNI_EpSetCeAttr(stranger, id, 5, GNI_CE_CHILD_PE));
    OK(GNI_PostFma(stranger, &d));
    CODE(GNI_RC_TRANSACTION_ERROR, finish(&t, &d));
    CHECK_EQ(0x34, GNI_CE_RES_GET_STATUS(t.result));
    OK(GNI_EpSetCeAttr(stranger, 0x12345, 0, GNI_CE_CHILD_PE)); /* no such channel */
    OK(GNI_PostFma(stranger, &d));
    CODE(GNI_RC_TRANSACTION_ERROR, finish(&t, &d));
    CHECK_EQ(0x3d, GNI_CE_RES_GET_STATUS(t.result));
    OK(GNI_CdmDestroy(t.cdm));
}

/* A channel below the root, with one leaf; the leaf is answered. */
static gni_ep_handle_t branch(struct tree *t, uint32_t root, uint32_t child)
{
    gni_ep_handle_t eps[1], up = bound(t, 0, root, child, GNI_CE_CHILD_VCE);
    gni_ce_handle_t ce;
    uint32_t id;

    OK(GNI_CeCreate(t->nic, &ce));
    OK(GNI_CeGetId(ce, &id));
    eps[0] = bound(t, 0, id, 0, GNI_CE_CHILD_PE);
    OK(GNI_CeConfigure(ce, eps, 1, up, NULL, MODES));
    return eps[0];
}

static gni_ep_handle_t to_channel_of(struct tree *t, gni_ep_handle_t leaf, uint32_t child)
{
    const struct gni_ep *ep = gni_handle_find(leaf, GNI_KIND_EP);

    return bound(t, 0, ep->ce.at.id, child, GNI_CE_CHILD_VCE);
}

/* A root whose owner has written one of its two children, and half of its parent: nothing ends
 * there, and nobody is missed, before all of it is written. */
static void half_configured(void)
{
    gni_ep_handle_t one, other, eps[2];
    gni_post_descriptor_t d, e;
    struct gni_ce_channel *root;
    struct tree t;
    uint32_t id;

    aries();
    plant(&t, 0);
    OK(GNI_CeCreate(t.nic, &t.root));
    OK(GNI_CeGetId(t.root, &id));
    one = branch(&t, id, 0);
    other = branch(&t, id, 1);
    eps[0] = to_channel_of(&t, one, 0);
    eps[1] = to_channel_of(&t, other, 1);
    root = ((struct gni_ce *)gni_handle_find(t.root, GNI_KIND_CE))->channel;
    root->child[0].type = GNI_CE_CHILD_VCE;
    d = reduction(&t, GNI_FMA_CE_IADD, 0, 40, 0);
    e = reduction(&t, GNI_FMA_CE_IADD, 0, 2, 0);
    e.local_addr += 64;
    OK(GNI_PostFma(one, &d));
    CODE(GNI_RC_NOT_DONE, GNI_CeCheckResult(t.result, 1));
    root->child[1].type = GNI_CE_CHILD_VCE; /* and does not say where yet */
    root->has_parent = 1;
    ((struct gni_ep *)gni_handle_find(one, GNI_KIND_EP))->ce.looked_ns = 0; /* long ago */
    CODE(GNI_RC_NOT_DONE, GNI_CeCheckResult(t.result, 1));
    root->has_parent = 0;
    OK(GNI_CeConfigure(t.root, eps, 2, NULL, NULL, MODES));
    OK(GNI_PostFma(other, &e));
    OK(finish(&t, &e));
    OK(finish(&t, &d));
    CHECK_EQ(42, t.result->result1);
    OK(GNI_CdmDestroy(t.cdm));
}

static void gemini_has_none(void)
{
    struct node n;
    gni_ce_handle_t ce;
    gni_post_descriptor_t d;

    node_open(&n, 1, 0, 0);
    OK(GNI_EpBind(n.ep, n.pe, n.inst));
    CODE(GNI_RC_ILLEGAL_OP, GNI_CeCreate(n.nic, &ce));
    CODE(GNI_RC_ILLEGAL_OP, GNI_EpSetCeAttr(n.ep, 0, 0, GNI_CE_CHILD_PE));
    d = transaction(GNI_POST_CE, &n, &n, 8);
    CODE(GNI_RC_ILLEGAL_OP, GNI_PostFma(n.ep, &d));
    node_close(&n);
}

/* An endpoint that goes while its result has not come leaves its join, and its place is good. */
static void forgotten_leaf(void)
{
    gni_ep_handle_t one, other;
    gni_post_descriptor_t d, e;
    gni_ce_result_t *second;
    struct tree t;

    aries();
    one = lone(&t, MODES, &other);
    d = reduction(&t, GNI_FMA_CE_IADD, 0, 40, 0);
    e = reduction(&t, GNI_FMA_CE_IADD, 0, 2, 0);
    e.local_addr += 64;
    OK(GNI_PostFma(one, &d));
    CODE(GNI_RC_NOT_DONE, GNI_EpUnbind(one));
    OK(GNI_EpDestroy(one));
    CODE(GNI_RC_NOT_DONE, GNI_CeCheckResult(t.result, 1));
    OK(GNI_PostFma(other, &e));
    OK(finish(&t, &e));
    second = (gni_ce_result_t *)(uintptr_t)e.local_addr;
    CHECK_EQ(42, second->result1);
    expect_empty(t.cq);
    OK(GNI_CdmDestroy(t.cdm));
}

/* A leaf that is killed before it joins: the others hear of it, and do not wait for ever. */
static void body_dying(int rank)
{
    struct tree t;
    gni_post_descriptor_t d;
    uint64_t began = now_ms();

    grow(&t, rank, 4, 2, MODES);
    d = reduction(&t, GNI_FMA_CE_IADD, 0, 1, 0);
    if (other_ids) { /* no id of a bind is anybody's, and all are found */
        OK(GNI_PostFma(t.leaf, &d));
        OK(finish(&t, &d));
    }
    if (rank == 3)
        raise(SIGKILL);
    OK(GNI_PostFma(t.leaf, &d));
    CODE(GNI_RC_TRANSACTION_ERROR, finish(&t, &d));
    CHECK_EQ(0x3d, GNI_CE_RES_GET_STATUS(t.result));
    CHECK(now_ms() - began < 30000);
    meet(3, 3);
    OK(GNI_CdmDestroy(t.cdm));
}

static void leaf_dies(void)
{
    aries();
    in_processes(4, body_dying);
}

static void leaf_dies_other_ids(void)
{
    other_ids = 7000;
    leaf_dies();
}

#ifdef SNIC_TEST
#include "softnic.h"

static const char *deadly;

static void die_there(const char *label)
{
    if (strcmp(label, deadly) == 0)
        raise(SIGKILL);
}

/* A leaf that is killed at any step of its join, or of somebody else's: the reduction ends for the
 * others, with the right sum or as failed. */
static void body_steps(int rank)
{
    struct tree t;
    gni_post_descriptor_t d;
    gni_return_t code;

    grow(&t, rank, 4, 2, MODES);
    d = reduction(&t, GNI_FMA_CE_IADD, 0, 1ull << (8 * rank), 0);
    if (rank == 3) {
        sleep_ms(30); /* the last one does most */
        snic_step_hook = die_there;
    }
    OK(GNI_PostFma(t.leaf, &d));
    code = finish(&t, &d);
    if (code == GNI_RC_SUCCESS)
        CHECK_EQ(0x01010101, t.result->result1);
    else
        CHECK_EQ(0x3d, GNI_CE_RES_GET_STATUS(t.result));
    if (rank == 3)
        _Exit(1); /* it should have died */
    meet(3, 3);
    OK(GNI_CdmDestroy(t.cdm));
}

static void killed_at(const char *label)
{
    aries();
    deadly = label;
    in_processes(4, body_steps);
}

static void killed_given(void)
{
    killed_at("gni.ce.leaf.given");
}

static void killed_joined(void)
{
    killed_at("gni.ce.leaf.joined");
}

static void killed_target(void)
{
    killed_at("gni.ce.target");
}

static void killed_up_given(void)
{
    killed_at("gni.ce.given");
}

static void killed_up_joined(void)
{
    killed_at("gni.ce.joined");
}

static void killed_result(void)
{
    killed_at("gni.ce.result");
}

static void killed_finished(void)
{
    killed_at("gni.ce.finished");
}

static struct tree leaver;

static void leave_there(const char *label)
{
    if (strcmp(label, "gni.ce.finished") != 0)
        return;
    snic_step_hook = NULL;
    OK(GNI_CdmDestroy(leaver.cdm));
}

/* The channel is the leaver's, its children are leaves of both; `leaf` is the other one's. */
static void share_channel(struct tree *other)
{
    gni_ep_handle_t eps[2];
    uint32_t id;

    plant(&leaver, 1);
    OK(GNI_CeCreate(leaver.nic, &leaver.ce));
    OK(GNI_CeGetId(leaver.ce, &id));
    eps[0] = bound(&leaver, 1, id, 0, GNI_CE_CHILD_PE);
    eps[1] = bound(&leaver, 0, id, 1, GNI_CE_CHILD_PE);
    OK(GNI_CeConfigure(leaver.ce, eps, 2, NULL, leaver.results, MODES));
    leaver.leaf = eps[0];
    other->leaf = bound(other, 1, id, 1, GNI_CE_CHILD_PE);
}

static void both_join(struct tree *other)
{
    gni_post_descriptor_t d = reduction(&leaver, GNI_FMA_CE_IADD, 0, 40, 0);
    gni_post_descriptor_t e = reduction(other, GNI_FMA_CE_IADD, 0, 2, 0);

    OK(GNI_PostFma(leaver.leaf, &d));
    OK(GNI_PostFma(other->leaf, &e));
    OK(finish(other, &e));
    CHECK_EQ(42, other->result->result1);
}

/* The owner of a channel closes while another one ends a round in it: that one's walk goes on to
 * its end, and the next one finds the successor. */
static void owner_leaves_in_a_walk(void)
{
    struct tree t;

    aries();
    plant(&t, 0);
    share_channel(&t);
    snic_step_hook = leave_there;
    both_join(&t);
    CHECK(snic_step_hook == NULL);
    share_channel(&t);
    both_join(&t);
    OK(GNI_CdmDestroy(leaver.cdm));
    OK(GNI_CdmDestroy(t.cdm));
}
#endif

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "disagreement", disagreement},
        {"118", "modes_of_a_channel", modes_of_a_channel},
        {"", "wrong_calls", wrong_calls},
        {"", "half_configured", half_configured},
        {"", "gemini_has_none", gemini_has_none},
        {"", "forgotten_leaf", forgotten_leaf},
        {"", "leaf_dies", leaf_dies},
        {"", "leaf_dies_other_ids", leaf_dies_other_ids},
#ifdef SNIC_TEST
        {"", "killed_given", killed_given},
        {"", "killed_joined", killed_joined},
        {"", "killed_target", killed_target},
        {"", "killed_up_given", killed_up_given},
        {"", "killed_up_joined", killed_up_joined},
        {"", "killed_result", killed_result},
        {"", "killed_finished", killed_finished},
        {"", "owner_leaves_in_a_walk", owner_leaves_in_a_walk},
#endif
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
