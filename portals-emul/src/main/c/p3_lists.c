/* Match lists, the index over them, and unlinking as a plan that may be applied twice. */
#include "p3_area.h"

#include <string.h>

/* Entries appended to a list are this far apart in order, so that others fit between. */
#define P3_ORDER_GAP (1ull << 32)
#define P3_ORDER_MIDDLE (1ull << 63)

/* ---- the index ---- */

/* Mixes all 64 bits: programs put what differs into the lowest, the highest or the middle ones. */
uint32_t p3_chain_of_bits(const struct p3_view *view, uint32_t pt_index, uint64_t match_bits)
{
    uint64_t hash = (match_bits + pt_index) * 0x9e3779b97f4a7c15ull;

    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
    return (uint32_t)(hash >> 32) & (view->buckets - 1);
}

uint32_t p3_chain_of(const struct p3_view *view, const struct p3_me *entry)
{
    if (entry->ignore_bits != 0)
        return view->buckets + (entry->pt_index < view->pts ? entry->pt_index : 0);
    return p3_chain_of_bits(view, entry->pt_index, entry->match_bits);
}

static int is_before(const struct p3_me *a, const struct p3_me *b)
{
    return a->pt_index != b->pt_index ? a->pt_index < b->pt_index : a->order < b->order;
}

/* The entry of the chain behind which this one belongs, P3_NONE: the head. Neighbours in the list
 * are neighbours in a chain that holds both; else the ends are tried before the middle. */
static uint32_t chain_place(const struct p3_view *view, uint32_t chain, const struct p3_me *entry)
{
    uint32_t at = view->chain[chain].tail, head = view->chain[chain].head;

    if (entry->prev < view->mes && p3_chain_of(view, &view->me[entry->prev]) == chain)
        return entry->prev;
    if (entry->next < view->mes && p3_chain_of(view, &view->me[entry->next]) == chain)
        return view->me[entry->next].chain_prev;
    if (head < view->mes && is_before(entry, &view->me[head]))
        return P3_NONE;
    for (uint32_t i = 0; at < view->mes && i < view->mes; i++) {
        if (is_before(&view->me[at], entry))
            return at;
        at = view->me[at].chain_prev;
    }
    return P3_NONE;
}

static void chain_link(const struct p3_view *view, uint32_t me)
{
    struct p3_me *entry = &view->me[me];
    uint32_t id = p3_chain_of(view, entry);
    struct p3_chain *chain = &view->chain[id];
    uint32_t prev = chain_place(view, id, entry);
    uint32_t next = prev < view->mes ? view->me[prev].chain_next : chain->head;

    entry->chain_prev = prev;
    entry->chain_next = next;
    if (prev < view->mes)
        view->me[prev].chain_next = me;
    else
        chain->head = me;
    if (next < view->mes)
        view->me[next].chain_prev = me;
    else
        chain->tail = me;
}

/* ---- order ---- */

/* An order between those of two neighbours; 0 when there is none left. */
static uint64_t order_between(const struct p3_view *view, uint32_t prev, uint32_t next)
{
    uint64_t low = prev < view->mes ? view->me[prev].order : 0;
    uint64_t high = next < view->mes ? view->me[next].order : UINT64_MAX;

    if (prev >= view->mes && next >= view->mes)
        return P3_ORDER_MIDDLE;
    if (next >= view->mes)
        return low < UINT64_MAX - P3_ORDER_GAP ? low + P3_ORDER_GAP : 0;
    if (prev >= view->mes)
        return high > P3_ORDER_GAP ? high - P3_ORDER_GAP : 0;
    return high - low >= 2 && high > low ? low + (high - low) / 2 : 0;
}

/* Gives the entries of a list new orders, evenly spaced. Chains stay sorted: they are sorted by
 * portal index first. */
static void renumber(const struct p3_view *view, const struct p3_pt *pt)
{
    uint64_t order = P3_ORDER_MIDDLE - (uint64_t)pt->count / 2 * P3_ORDER_GAP;
    uint32_t me = pt->head;

    for (uint32_t i = 0; me < view->mes && i < view->mes; i++) {
        view->me[me].order = order;
        order += P3_ORDER_GAP;
        me = view->me[me].next;
    }
}

void p3_me_link(const struct p3_view *view, uint32_t me, uint32_t base, ptl_ins_pos_t position)
{
    struct p3_me *entry = &view->me[me];
    struct p3_pt *pt = &view->pt[entry->pt_index];
    uint32_t prev, next;

    if (base == P3_NONE) {
        prev = position == PTL_INS_BEFORE ? P3_NONE : pt->tail;
        next = position == PTL_INS_BEFORE ? pt->head : P3_NONE;
    } else {
        prev = position == PTL_INS_BEFORE ? view->me[base].prev : base;
        next = position == PTL_INS_BEFORE ? base : view->me[base].next;
    }
    entry->order = order_between(view, prev, next);
    if (entry->order == 0) {
        renumber(view, pt);
        entry->order = order_between(view, prev, next);
    }
    entry->prev = prev;
    entry->next = next;
    if (prev < view->mes)
        view->me[prev].next = me;
    else
        pt->head = me;
    if (next < view->mes)
        view->me[next].prev = me;
    else
        pt->tail = me;
    pt->count++;
    chain_link(view, me);
}

/* ---- unlinking ---- */

void p3_unlink_plan(const struct p3_view *view, struct p3_unlink *plan, uint32_t md, uint32_t me)
{
    struct p3_area *area = view->area;

    memset(plan, 0, sizeof(*plan));
    plan->me = P3_NONE;
    if (md < view->mds) {
        plan->md_wanted = 1;
        plan->md = md;
        plan->md_generation = view->md[md].generation + 1;
        plan->md_tail = area->md_free.count ? area->md_free.tail : P3_NONE;
        plan->md_count = area->md_free.count + 1;
        plan->mds_current =
            atomic_load_explicit(&area->sr[PTL_SR_MDS_CUR], memory_order_relaxed) - 1;
        plan->me = view->md[md].me;
    }
    if (me < view->mes) {
        struct p3_me *entry = &view->me[me];

        plan->me = me;
        plan->me_wanted = 1;
        plan->me_generation = entry->generation + 1;
        plan->me_tail = area->me_free.count ? area->me_free.tail : P3_NONE;
        plan->me_count = area->me_free.count + 1;
        plan->mes_current =
            atomic_load_explicit(&area->sr[PTL_SR_MES_CUR], memory_order_relaxed) - 1;
        plan->pt_index = entry->pt_index < view->pts ? entry->pt_index : 0;
        plan->pt_count = view->pt[plan->pt_index].count - 1;
        plan->prev = entry->prev;
        plan->next = entry->next;
        plan->chain = p3_chain_of(view, entry);
        plan->chain_prev = entry->chain_prev;
        plan->chain_next = entry->chain_next;
    }
}

static void chain_unlink_apply(const struct p3_view *view, const struct p3_unlink *plan)
{
    struct p3_chain *chain;

    if (plan->chain >= view->buckets + view->pts)
        return;
    chain = &view->chain[plan->chain];
    if (plan->chain_prev < view->mes)
        view->me[plan->chain_prev].chain_next = plan->chain_next;
    else
        chain->head = plan->chain_next;
    SNIC_STEP("ptl.unlink.chain");
    if (plan->chain_next < view->mes)
        view->me[plan->chain_next].chain_prev = plan->chain_prev;
    else
        chain->tail = plan->chain_prev;
}

/* Takes the entry out of its chain and its match list and appends it to the free list. Every store
 * is of a planned value, so that doing it twice is doing it once. */
static void me_unlink_apply(const struct p3_view *view, const struct p3_unlink *plan)
{
    struct p3_area *area = view->area;
    struct p3_pt *pt = &view->pt[plan->pt_index];
    struct p3_me *entry = &view->me[plan->me];

    chain_unlink_apply(view, plan);
    SNIC_STEP("ptl.unlink.index");
    if (plan->prev < view->mes)
        view->me[plan->prev].next = plan->next;
    else
        pt->head = plan->next;
    if (plan->next < view->mes)
        view->me[plan->next].prev = plan->prev;
    else
        pt->tail = plan->prev;
    pt->count = plan->pt_count;
    SNIC_STEP("ptl.unlink.list");
    entry->flags = 0;
    entry->generation = plan->me_generation;
    entry->md = P3_NONE;
    entry->prev = P3_NONE;
    entry->next = P3_NONE;
    entry->chain_prev = P3_NONE;
    entry->chain_next = P3_NONE;
    if (plan->me_tail < view->mes)
        view->me[plan->me_tail].next = plan->me;
    else
        area->me_free.head = plan->me;
    area->me_free.tail = plan->me;
    area->me_free.count = plan->me_count;
    atomic_store_explicit(&area->sr[PTL_SR_MES_CUR], plan->mes_current, memory_order_relaxed);
}

void p3_unlink_apply(const struct p3_view *view, const struct p3_unlink *plan)
{
    struct p3_area *area = view->area;

    if (plan->md_wanted && plan->md < view->mds) {
        struct p3_md *md = &view->md[plan->md];

        if (plan->me < view->mes)
            view->me[plan->me].md = P3_NONE;
        md->flags = 0;
        md->generation = plan->md_generation;
        md->me = P3_NONE;
        md->next = P3_NONE;
        SNIC_STEP("ptl.unlink.md");
        if (plan->md_tail < view->mds)
            view->md[plan->md_tail].next = plan->md;
        else
            area->md_free.head = plan->md;
        area->md_free.tail = plan->md;
        area->md_free.count = plan->md_count;
        atomic_store_explicit(&area->sr[PTL_SR_MDS_CUR], plan->mds_current, memory_order_relaxed);
    }
    if (plan->me_wanted && plan->me < view->mes && plan->pt_index < view->pts)
        me_unlink_apply(view, plan);
}
