/* Layout and tables of the shared area. */
#include "p3_area.h"

#include <errno.h>
#include <string.h>

#define P3_ALIGN(n) (((uint64_t)(n) + 127u) & ~(uint64_t)127u)

/* Offsets of the tables, in the order in which they lie in the area. */
struct p3_offsets {
    uint64_t pt, ac, chain, intent, me, md, eq, iov, slot, end;
};

/* One bucket for four entries at most: more would be memory that is never touched. */
static uint32_t buckets_of(uint32_t mes)
{
    uint32_t buckets = 16;

    while (buckets < mes / 4)
        buckets *= 2;
    return buckets;
}

static void offsets_of(const struct p3_geometry *g, struct p3_offsets *o)
{
    o->pt = P3_ALIGN(sizeof(struct p3_area));
    o->ac = P3_ALIGN(o->pt + (uint64_t)g->pts * sizeof(struct p3_pt));
    o->chain = P3_ALIGN(o->ac + (uint64_t)g->acs * sizeof(struct p3_ac));
    o->intent =
        P3_ALIGN(o->chain + ((uint64_t)buckets_of(g->mes) + g->pts) * sizeof(struct p3_chain));
    o->me = P3_ALIGN(o->intent + (uint64_t)g->intents * P3_INTENT_BYTES);
    o->md = P3_ALIGN(o->me + (uint64_t)g->mes * sizeof(struct p3_me));
    o->eq = P3_ALIGN(o->md + (uint64_t)g->mds * sizeof(struct p3_md));
    o->iov = P3_ALIGN(o->eq + (uint64_t)g->eqs * sizeof(struct p3_eq));
    o->slot = P3_ALIGN(o->iov + (uint64_t)g->iovs * sizeof(struct p3_iov));
    o->end = o->slot + (uint64_t)g->slots * sizeof(struct p3_slot);
}

uint64_t p3_area_bytes(const struct p3_geometry *geometry)
{
    struct p3_offsets offsets;

    offsets_of(geometry, &offsets);
    return offsets.end;
}

static void view_set(struct p3_view *view, void *memory, const struct p3_geometry *g)
{
    struct p3_offsets o;
    uint8_t *base = memory;

    offsets_of(g, &o);
    view->area = memory;
    view->pt = (struct p3_pt *)(base + o.pt);
    view->ac = (struct p3_ac *)(base + o.ac);
    view->chain = (struct p3_chain *)(base + o.chain);
    view->buckets = buckets_of(g->mes);
    view->intent = base + o.intent;
    view->me = (struct p3_me *)(base + o.me);
    view->md = (struct p3_md *)(base + o.md);
    view->eq = (struct p3_eq *)(base + o.eq);
    view->iov = (struct p3_iov *)(base + o.iov);
    view->slot = (struct p3_slot *)(base + o.slot);
    view->mes = g->mes;
    view->mds = g->mds;
    view->eqs = g->eqs;
    view->acs = g->acs;
    view->pts = g->pts;
    view->iovs = g->iovs;
    view->slots = g->slots;
    view->intents = g->intents;
}

/* ---- tables that grow ---- */

uint64_t p3_area_head(const struct p3_geometry *geometry)
{
    struct p3_offsets offsets;

    offsets_of(geometry, &offsets);
    return offsets.me;
}

void p3_table_extent(const struct p3_geometry *geometry, enum p3_table table, uint32_t from,
                     uint32_t to, uint64_t *offset, uint64_t *bytes)
{
    struct p3_offsets o;

    offsets_of(geometry, &o);
    {
        const struct {
            uint64_t offset;
            uint64_t size;
        } tables[] = {{o.me, sizeof(struct p3_me)},
                      {o.md, sizeof(struct p3_md)},
                      {o.eq, sizeof(struct p3_eq)},
                      {o.iov, sizeof(struct p3_iov)},
                      {o.slot, sizeof(struct p3_slot)}};

        *offset = tables[table].offset + from * tables[table].size;
        *bytes = (to - from) * tables[table].size;
    }
}

uint32_t p3_table_next(const struct p3_geometry *geometry, enum p3_table table, uint32_t ready)
{
    static const uint32_t first[P3_TABLES] = {4096, 4096, 64};
    const uint32_t limits[P3_TABLES] = {geometry->mes, geometry->mds, geometry->eqs};
    uint32_t limit = limits[table];
    uint32_t next = ready < first[table] ? first[table] : ready * 2;

    return next < limit ? next : limit;
}

static struct p3_free_list *free_list_of(const struct p3_view *view, enum p3_table table)
{
    return table == P3_TABLE_ME   ? &view->area->me_free
           : table == P3_TABLE_MD ? &view->area->md_free
                                  : &view->area->eq_free;
}

static uint32_t *next_of(const struct p3_view *view, enum p3_table table, uint32_t index)
{
    return table == P3_TABLE_ME   ? &view->me[index].next
           : table == P3_TABLE_MD ? &view->md[index].next
                                  : &view->eq[index].next;
}

static uint32_t limit_of(const struct p3_view *view, enum p3_table table)
{
    return table == P3_TABLE_ME ? view->mes : table == P3_TABLE_MD ? view->mds : view->eqs;
}

uint32_t p3_table_free(const struct p3_view *view, enum p3_table table)
{
    return free_list_of(view, table)->count;
}

static void lay_out(const struct p3_view *view, enum p3_table table, uint32_t index)
{
    uint32_t generation = view->area->first_generation;

    if (table == P3_TABLE_ME) {
        view->me[index].generation = generation;
        view->me[index].md = P3_NONE;
    } else if (table == P3_TABLE_MD) {
        view->md[index].generation = generation;
        view->md[index].me = P3_NONE;
    } else {
        atomic_store_explicit(&view->eq[index].generation, generation, memory_order_relaxed);
    }
}

void p3_table_grow(const struct p3_view *view, enum p3_table table, uint32_t to)
{
    struct p3_free_list *list = free_list_of(view, table);
    uint32_t limit = limit_of(view, table);
    uint32_t from = atomic_load_explicit(&view->area->ready[table], memory_order_relaxed);

    if (from >= to || to > limit)
        return;
    for (uint32_t i = from; i < to; i++) {
        lay_out(view, table, i);
        *next_of(view, table, i) = i + 1 < to ? i + 1 : P3_NONE;
    }
    /* Partner: the acquire load of a lookup of an index without the lock. */
    atomic_store_explicit(&view->area->ready[table], to, memory_order_release);
    if (list->count != 0 && list->tail < limit)
        *next_of(view, table, list->tail) = from;
    else
        list->head = from;
    list->tail = to - 1;
    list->count += to - from;
}

void p3_area_build(void *memory, const ptl_ni_limits_t *limits, const struct p3_geometry *geometry,
                   uint32_t generation)
{
    struct p3_area *area = memory;
    struct p3_view view = {0};

    view_set(&view, memory, geometry);
    area->magic = P3_MAGIC;
    area->version = P3_VERSION;
    area->max_mes = (uint32_t)limits->max_mes;
    area->max_mds = (uint32_t)limits->max_mds;
    area->max_eqs = (uint32_t)limits->max_eqs;
    area->max_ac_index = (uint32_t)limits->max_ac_index;
    area->max_pt_index = (uint32_t)limits->max_pt_index;
    area->max_md_iovecs = (uint32_t)limits->max_md_iovecs;
    area->max_me_list = (uint32_t)limits->max_me_list;
    area->max_getput_md = (uint32_t)limits->max_getput_md;
    area->intents_max = geometry->intents;
    area->slots_max = geometry->slots;
    area->iovs_max = geometry->iovs;
    area->bytes = p3_area_bytes(geometry);
    for (uint32_t i = 0; i < geometry->pts; i++)
        view.pt[i] = (struct p3_pt){.head = P3_NONE, .tail = P3_NONE};
    for (uint32_t i = 0; i < view.buckets + geometry->pts; i++)
        view.chain[i] = (struct p3_chain){P3_NONE, P3_NONE};
    area->me_free = area->md_free = area->eq_free = (struct p3_free_list){P3_NONE, P3_NONE, 0, 0};
    area->first_generation = generation;
    for (int table = 0; table < P3_TABLES; table++)
        p3_table_grow(&view, (enum p3_table)table,
                      p3_table_next(geometry, (enum p3_table)table, 0));
}

int p3_view_open(struct p3_view *view, void *memory, uint64_t bytes)
{
    struct p3_area *area = memory;
    struct p3_geometry g;

    if (bytes < sizeof(struct p3_area) || area->magic != P3_MAGIC || area->version != P3_VERSION)
        return -EPROTO;
    g.mes = area->max_mes;
    g.mds = area->max_mds;
    g.eqs = area->max_eqs;
    g.acs = area->max_ac_index + 1;
    g.pts = area->max_pt_index + 1;
    g.iovs = area->iovs_max;
    g.slots = area->slots_max;
    g.intents = area->intents_max;
    if (g.mes > P3_MES_MAX || g.mds > P3_MDS_MAX || g.eqs > P3_EQS_MAX || g.acs == 0 ||
        g.acs > P3_AC_INDEX_MAX + 1 || g.pts == 0 || g.pts > P3_PT_INDEX_MAX + 1 ||
        g.iovs > P3_IOVS || g.slots > P3_SLOTS_MAX || g.intents > 0x10000u ||
        area->flavor > P3_FLAVOR_CRAY)
        return -EPROTO;
    if (p3_area_bytes(&g) > bytes)
        return -EPROTO;
    view_set(view, memory, &g);
    view->flavor = area->flavor;
    view->iface = area->iface;
    if (view->iface >= P3_IFACES)
        return -EPROTO;
    return 0;
}

struct p3_intent *p3_view_intent(const struct p3_view *view, uint32_t slot)
{
    return (struct p3_intent *)(void *)(view->intent + (uint64_t)slot * P3_INTENT_BYTES);
}

/* ---- free lists: changed by the owner when taking, by anybody when giving (p3_unlink_apply) ----
 */

static void sr_add_current(const struct p3_view *view, uint32_t current, uint32_t max)
{
    _Atomic uint64_t *sr = view->area->sr;
    uint64_t now = atomic_load_explicit(&sr[current], memory_order_relaxed) + 1;

    atomic_store_explicit(&sr[current], now, memory_order_relaxed);
    if (now > atomic_load_explicit(&sr[max], memory_order_relaxed))
        atomic_store_explicit(&sr[max], now, memory_order_relaxed);
}

static int is_live(const struct p3_view *view, enum p3_table table, uint32_t index)
{
    uint32_t flags = table == P3_TABLE_ME   ? view->me[index].flags
                     : table == P3_TABLE_MD ? view->md[index].flags
                                            : view->eq[index].flags;

    return (flags & P3_LIVE) != 0;
}

uint32_t p3_take(const struct p3_view *view, enum p3_table table)
{
    static const int current[P3_TABLES] = {PTL_SR_MES_CUR, PTL_SR_MDS_CUR, PTL_SR_EQS_CUR};
    static const int most[P3_TABLES] = {PTL_SR_MES_MAX, PTL_SR_MDS_MAX, PTL_SR_EQS_MAX};
    struct p3_free_list *list = free_list_of(view, table);
    uint32_t limit = limit_of(view, table), index = list->head, after;

    if (list->count == 0 || index >= limit)
        return P3_NONE;
    after = *next_of(view, table, index);
    list->head = after < limit ? after : P3_NONE;
    list->count--;
    if (list->head == P3_NONE) {
        list->tail = P3_NONE;
        list->count = 0;
    }
    if (is_live(view, table, index))
        return P3_NONE;
    sr_add_current(view, current[table], most[table]);
    return index;
}

void p3_eq_give(const struct p3_view *view, uint32_t index)
{
    struct p3_free_list *list = &view->area->eq_free;
    _Atomic uint64_t *current = &view->area->sr[PTL_SR_EQS_CUR];
    uint32_t tail = list->tail;

    view->eq[index].flags = 0;
    view->eq[index].generation++;
    view->eq[index].next = P3_NONE;
    if (list->count != 0 && tail < view->eqs)
        view->eq[tail].next = index;
    else
        list->head = index;
    list->tail = index;
    list->count++;
    atomic_store_explicit(current, atomic_load_explicit(current, memory_order_relaxed) - 1,
                          memory_order_relaxed);
}

/* ---- descriptors ---- */

void p3_md_count(int32_t *threshold, uint32_t *flags)
{
    if (*threshold != PTL_MD_THRESH_INF && *threshold > 0) {
        *threshold -= 1;
        if (*threshold == 0)
            *flags |= P3_INACTIVE;
    }
    if ((*flags & P3_INACTIVE) && (*flags & P3_UNLINK))
        *flags |= P3_UNLINK_DUE;
}

int p3_md_logs_unlink(const struct p3_view *view, uint32_t options)
{
    if (view->flavor == P3_FLAVOR_CRAY)
        return (options & P3_MD_AUTO_UNLINK_ENABLE) != 0;
    return (options & P3_MD_EVENTS_OFF) != P3_MD_EVENTS_OFF;
}

void p3_event_from_md(const struct p3_view *view, struct p3_event *event, uint32_t md)
{
    const struct p3_md *record = &view->md[md];

    event->md_handle = p3_handle(P3_KIND_MD, view->iface, md, record->generation);
    event->start = record->start;
    event->length = record->user_length;
    event->max_size = record->max_size;
    event->user_ptr = record->user_ptr;
    event->threshold = record->threshold;
    event->options = record->options;
    event->eq = record->eq;
}
