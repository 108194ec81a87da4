/*
 * The index over match lists beside the list itself: whatever stands in the list in whatever order,
 * a request meets the entry that a walk from head to tail would meet. On plain memory, no
 * processes.
 */
#include "check.h"

#include <stdlib.h>

#include "p3_area.h"
#include "p3_target.h"

#define ENTRIES 600
#define PORTALS 3

static uint64_t seed, state;
static struct p3_view view;
static void *memory;

static uint32_t chance(uint32_t limit)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % limit;
}

static void build(void)
{
    const ptl_ni_limits_t limits = {ENTRIES, ENTRIES, 2, 0, PORTALS - 1, 8, ENTRIES, 64};
    const struct p3_geometry g = {ENTRIES, ENTRIES, 2, 1, PORTALS, 4, 16, 4};
    const char *text = getenv("PORTALS_TEST_SEED");

    seed = state = text ? strtoull(text, NULL, 0) : 20061117;
    memory = aligned_alloc(128, (p3_area_bytes(&g) + 127) / 128 * 128);
    CHECK(memory != NULL);
    memset(memory, 0, p3_area_bytes(&g));
    p3_area_build(memory, &limits, &g, 1);
    CHECK_EQ(0, p3_view_open(&view, memory, p3_area_bytes(&g)));
    view.ac[0] =
        (struct p3_ac){PTL_NID_ANY, P3_PID_ANY, PTL_UID_ANY, PTL_JID_ANY, PTL_PT_INDEX_ANY, {0}};
}

static void expect_whole(void)
{
    char text[256] = "";

    if (p3_area_check(&view, 1, text, sizeof(text)) != 0)
        check_fail(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed, text);
}

/* An entry with a descriptor at most times; base P3_NONE: head or tail. */
static uint32_t add(uint32_t pt, uint64_t bits, uint64_t ignored, uint32_t base, int position)
{
    uint32_t me = p3_take(&view, P3_TABLE_ME), md;

    CHECK(me != P3_NONE);
    view.me[me].flags = P3_LIVE | (chance(2) ? P3_UNLINK : 0u);
    view.me[me].nid = chance(4) ? PTL_NID_ANY : chance(2);
    view.me[me].pid = chance(4) ? P3_PID_ANY : 1 + chance(2);
    view.me[me].match_bits = bits;
    view.me[me].ignore_bits = ignored;
    view.me[me].pt_index = pt;
    view.me[me].md = P3_NONE;
    p3_me_link(&view, me, base, (ptl_ins_pos_t)position);
    if (chance(10) == 0)
        return me;
    md = p3_take(&view, P3_TABLE_MD);
    CHECK(md != P3_NONE);
    view.md[md].flags = P3_LIVE | (chance(2) ? P3_UNLINK : 0u) | (chance(10) ? 0u : P3_INACTIVE);
    view.md[md].options = (chance(5) ? PTL_MD_OP_PUT : 0u) | (chance(5) ? PTL_MD_OP_GET : 0u) |
                          (chance(4) ? 0u : PTL_MD_TRUNCATE) |
                          (chance(4) ? 0u : PTL_MD_MANAGE_REMOTE);
    view.md[md].threshold = chance(2) ? PTL_MD_THRESH_INF : 1 + (int)chance(3);
    view.md[md].busy = 0;
    view.md[md].offset = 0;
    view.md[md].length = chance(64);
    view.md[md].me = me;
    view.md[md].eq = PTL_EQ_NONE;
    view.me[me].md = md;
    return me;
}

static void drop(uint32_t me)
{
    struct p3_unlink plan;

    p3_unlink_plan(&view, &plan, view.me[me].md, me);
    p3_unlink_apply(&view, &plan);
    p3_unlink_apply(&view, &plan); /* as after a death: twice is once */
}

/* A live entry of the list; P3_NONE when it is empty. */
static uint32_t any_of(uint32_t pt)
{
    uint32_t me = view.pt[pt].head;

    for (uint32_t steps = view.pt[pt].count ? chance(view.pt[pt].count) : 0; steps > 0; steps--)
        me = view.me[me].next;
    return me;
}

/* The specification's walk (section 4.2), entry by entry. */
static uint32_t expected(const struct p3_message *m, uint64_t *offset, uint64_t *length)
{
    for (uint32_t me = view.pt[m->pt_index].head; me != P3_NONE; me = view.me[me].next) {
        const struct p3_me *e = &view.me[me];
        const struct p3_md *md = e->md == P3_NONE ? NULL : &view.md[e->md];

        if (e->nid != PTL_NID_ANY && e->nid != m->from.nid)
            continue;
        if (e->pid != P3_PID_ANY && e->pid != m->from.pid)
            continue;
        if (((e->match_bits ^ m->match_bits) & ~e->ignore_bits) != 0)
            continue;
        if (md == NULL || (md->flags & P3_INACTIVE))
            continue;
        if (m->operation != P3_GET && !(md->options & PTL_MD_OP_PUT))
            continue;
        if (m->operation != P3_PUT && !(md->options & PTL_MD_OP_GET))
            continue;
        *offset = md->options & PTL_MD_MANAGE_REMOTE ? m->remote_offset : md->offset;
        if (*offset > md->length)
            continue;
        *length = md->length - *offset;
        if (m->rlength <= *length)
            *length = m->rlength;
        else if (!(md->options & PTL_MD_TRUNCATE))
            continue;
        return e->md;
    }
    return P3_NONE;
}

static void request(uint64_t bits)
{
    struct p3_message m = {.operation = 1 + chance(3),
                           .from.nid = chance(2),
                           .from.pid = 1 + chance(2),
                           .pt_index = chance(PORTALS),
                           .match_bits = bits,
                           .rlength = chance(24),
                           .remote_offset = chance(48)};
    struct p3_intent *intent = p3_view_intent(&view, 0);
    struct p3_place place = {0};
    uint64_t offset = 0, length = 0;
    uint32_t md = expected(&m, &offset, &length);
    enum p3_verdict verdict = p3_target_match(&view, &m, intent, &place);

    if (verdict != (md == P3_NONE ? P3_DROPPED : P3_ACCEPTED) ||
        (md != P3_NONE && (intent->md != md || place.offset != offset || place.mlength != length)))
        check_fail(__FILE__, __LINE__, "seed %llu: the list gives descriptor %d, the index %d (%d)",
                   (unsigned long long)seed, (int)md, (int)intent->md, verdict);
    if (md == P3_NONE)
        return;
    p3_target_accept(&view, intent);
    p3_target_complete(&view, intent, PTL_NI_OK);
}

/* Few different bits, so that many entries share a chain; some differ in the highest bits only. */
static uint64_t some_bits(void)
{
    uint64_t low = chance(6);

    return chance(2) ? low : low << 60 | 1;
}

static void every_request_meets_the_lists_entry(void)
{
    static const uint64_t ignored[] = {0, 0, 0, 0, 0, 1, 7ull << 60, UINT64_MAX};

    build();
    for (uint32_t i = 0; i < 300000; i++) {
        uint32_t pt = chance(PORTALS), base = any_of(pt);
        uint32_t live = (uint32_t)atomic_load(&view.area->sr[PTL_SR_MES_CUR]);

        if (live < ENTRIES && chance(ENTRIES) >= live)
            add(pt, some_bits(), ignored[chance(8)], chance(2) ? base : P3_NONE, (int)chance(2));
        else if (base != P3_NONE && chance(3) == 0)
            drop(base);
        request(some_bits());
        if (i % 997 == 0)
            expect_whole();
    }
    expect_whole();
    free(memory);
}

/* Always in the same gap, before and after: orders run out again and again and are given anew. */
static void insertion_in_one_place(void)
{
    uint32_t base;

    build();
    for (uint32_t pt = 0; pt < PORTALS; pt++)
        add(pt, 5, 0, P3_NONE, PTL_INS_AFTER);
    base = view.pt[1].head;
    for (uint32_t i = 0; i < 400; i++) {
        add(1, i % 4 ? 5 : 6, i % 7 ? 0 : 1, base, (int)(i & 1));
        request(5);
        expect_whole();
        if (view.pt[1].count == 0)
            add(1, 5, 0, P3_NONE, PTL_INS_AFTER);
        if (!(view.me[base].flags & P3_LIVE) || view.me[base].pt_index != 1)
            base = view.pt[1].head;
    }
    free(memory);
}

/* What the walk costs is what may match, not what is posted. */
static void chains_stay_short(void)
{
    uint32_t longest = 0;

    build();
    for (uint64_t i = 0; i < ENTRIES; i++)
        add((uint32_t)(i % PORTALS), i << (i % 50), 0, P3_NONE, PTL_INS_AFTER);
    expect_whole();
    for (uint32_t i = 0; i < view.buckets; i++) {
        uint32_t length = 0;

        for (uint32_t me = view.chain[i].head; me < view.mes; me = view.me[me].chain_next)
            length++;
        longest = length > longest ? length : longest;
    }
    if (longest > 20) /* 600 entries in 256 buckets */
        check_fail(__FILE__, __LINE__, "a chain of %u of %u entries in %u buckets", longest,
                   ENTRIES, view.buckets);
    free(memory);
}

/* Links that lead nowhere or in circles end the walk; they never lead outside the tables. */
static void damaged_chains_end(void)
{
    struct p3_message m = {
        .operation = P3_PUT, .from = {.nid = 1, .pid = 1}, .pt_index = 1, .match_bits = 5};
    struct p3_intent *intent;
    struct p3_place place = {0};
    uint32_t me;
    char text[256];

    build();
    intent = p3_view_intent(&view, 0);
    me = add(1, 5, 0, P3_NONE, PTL_INS_AFTER);
    view.md[view.me[me].md < view.mds ? view.me[me].md : 0].flags = 0;
    view.me[me].md = P3_NONE;
    view.me[me].chain_next = me;
    CHECK_EQ(P3_CORRUPT, p3_target_match(&view, &m, intent, &place));
    view.me[me].chain_next = ENTRIES + 5;
    CHECK_EQ(P3_DROPPED, p3_target_match(&view, &m, intent, &place));
    CHECK(p3_area_check(&view, 1, text, sizeof(text)) > 0);
    view.chain[p3_chain_of_bits(&view, 1, 5)].head = 0x7fffffff;
    CHECK_EQ(P3_DROPPED, p3_target_match(&view, &m, intent, &place));
    free(memory);
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"13,14,19", "every_request_meets_the_lists_entry", every_request_meets_the_lists_entry},
        {"14", "insertion_in_one_place", insertion_in_one_place},
        {"", "chains_stay_short", chains_stay_short},
        {"", "damaged_chains_end", damaged_chains_end},
    };

    return check_main(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
