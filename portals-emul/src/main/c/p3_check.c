/* The invariant checker: walks every table of an area and says what does not fit. */
#include "p3_area.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct p3_report {
    int faults;
    char *why;
    size_t why_size;
};

static void fault(struct p3_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fault(struct p3_report *report, const char *format, ...)
{
    va_list arguments;

    if (report->faults++ > 0)
        return;
    va_start(arguments, format);
    vsnprintf(report->why, report->why_size, format, arguments);
    va_end(arguments);
}

/* Entries of a table that are laid out. */
static uint32_t ready_of(const struct p3_view *view, enum p3_table table, uint32_t limit)
{
    uint32_t ready = atomic_load_explicit(&view->area->ready[table], memory_order_acquire);

    return ready < limit ? ready : limit;
}

/* Walks a free list: as long as it says, only dead objects, ending where it says. `seen` gets a
 * mark for each. */
static void check_free(struct p3_report *report, const char *name, const struct p3_free_list *list,
                       uint32_t limit, const uint8_t *next, size_t stride, uint8_t *seen)
{
    uint32_t index = list->head, last = P3_NONE, count = 0;

    while (index < limit && count <= limit) {
        if (seen[index]) {
            fault(report, "%s %u is twice in the free list", name, index);
            return;
        }
        seen[index] = 1;
        last = index;
        count++;
        index = *(const uint32_t *)(const void *)(next + (size_t)index * stride);
    }
    if (count != list->count)
        fault(report, "the free list of %ss holds %u, says %u", name, count, list->count);
    if (last != list->tail)
        fault(report, "the free list of %ss ends at %u, says %u", name, last, list->tail);
}

static void check_lists(struct p3_report *report, const struct p3_view *view, uint8_t *seen)
{
    for (uint32_t i = 0; i < view->pts; i++) {
        const struct p3_pt *pt = &view->pt[i];
        uint32_t me = pt->head, prev = P3_NONE, count = 0;

        while (me < view->mes && count <= view->mes) {
            const struct p3_me *entry = &view->me[me];

            if (seen[me] || !(entry->flags & P3_LIVE) || entry->pt_index != i) {
                fault(report, "match entry %u in list %u is free, doubled or of list %u", me, i,
                      entry->pt_index);
                return;
            }
            seen[me] = 1;
            if (entry->prev != prev)
                fault(report, "match entry %u points back to %u instead of %u", me, entry->prev,
                      prev);
            if (prev < view->mes && view->me[prev].order >= entry->order)
                fault(report, "match entry %u is not ordered behind %u", me, prev);
            prev = me;
            count++;
            me = entry->next;
        }
        if (count != pt->count || prev != pt->tail)
            fault(report, "list %u holds %u and ends at %u, says %u and %u", i, count, prev,
                  pt->count, pt->tail);
    }
}

/* Every live entry is in the one chain that its bits ask for, and every chain is sorted. */
static void check_chains(struct p3_report *report, const struct p3_view *view, uint8_t *seen)
{
    for (uint32_t i = 0; i < view->buckets + view->pts; i++) {
        uint32_t me = view->chain[i].head, prev = P3_NONE;

        for (; me < view->mes; prev = me, me = view->me[me].chain_next) {
            const struct p3_me *entry = &view->me[me];
            const struct p3_me *before = prev < view->mes ? &view->me[prev] : NULL;

            if (seen[me] || !(entry->flags & P3_LIVE) || p3_chain_of(view, entry) != i) {
                fault(report, "match entry %u in chain %u is free, doubled or of chain %u", me, i,
                      p3_chain_of(view, entry));
                return;
            }
            seen[me] = 1;
            if (entry->chain_prev != prev)
                fault(report, "match entry %u points back to %u instead of %u in its chain", me,
                      entry->chain_prev, prev);
            if (before != NULL &&
                (before->pt_index > entry->pt_index ||
                 (before->pt_index == entry->pt_index && before->order >= entry->order)))
                fault(report, "chain %u is not sorted at match entry %u", i, me);
        }
        if (view->chain[i].tail != prev)
            fault(report, "chain %u ends at %u, says %u", i, prev, view->chain[i].tail);
    }
    for (uint32_t i = 0; i < ready_of(view, P3_TABLE_ME, view->mes); i++)
        if ((view->me[i].flags & P3_LIVE) && !seen[i])
            fault(report, "match entry %u is in no chain", i);
}

static void check_mds(struct p3_report *report, const struct p3_view *view, const uint8_t *is_free,
                      int exact_busy)
{
    uint32_t high = atomic_load_explicit(&view->area->intents_high, memory_order_acquire);
    uint32_t live = 0;

    for (uint32_t i = 0; i < ready_of(view, P3_TABLE_MD, view->mds); i++) {
        const struct p3_md *md = &view->md[i];
        uint32_t moving = 0;

        if (!(md->flags & P3_LIVE)) {
            if (!is_free[i])
                fault(report, "descriptor %u is neither live nor free", i);
            continue;
        }
        live++;
        if (is_free[i])
            fault(report, "descriptor %u is live and free", i);
        if (md->me != P3_NONE && (md->me >= view->mes || view->me[md->me].md != i))
            fault(report, "descriptor %u names match entry %u, which does not name it", i, md->me);
        for (uint32_t k = 0; k < high && k < view->intents; k++) {
            const struct p3_intent *intent = p3_view_intent(view, k);

            moving += atomic_load_explicit(&intent->phase, memory_order_acquire) != P3_IDLE &&
                      intent->md == i && intent->md_generation == md->generation;
        }
        if (exact_busy ? md->busy != moving : md->busy < moving)
            fault(report, "descriptor %u counts %u operations, %u are under way", i, md->busy,
                  moving);
        if ((md->flags & P3_UNLINK_DUE) && md->busy == 0)
            fault(report, "descriptor %u should have been unlinked", i);
    }
    if (live != atomic_load_explicit(&view->area->sr[PTL_SR_MDS_CUR], memory_order_relaxed))
        fault(report, "%u live descriptors, the register says otherwise", live);
}

static void check_mes(struct p3_report *report, const struct p3_view *view, const uint8_t *seen)
{
    uint32_t live = 0;

    for (uint32_t i = 0; i < ready_of(view, P3_TABLE_ME, view->mes); i++) {
        const struct p3_me *me = &view->me[i];

        live += (me->flags & P3_LIVE) != 0;
        if (!seen[i])
            fault(report, "match entry %u is in no list", i);
        if ((me->flags & P3_LIVE) && me->md != P3_NONE &&
            (me->md >= view->mds || view->md[me->md].me != i ||
             !(view->md[me->md].flags & P3_LIVE)))
            fault(report, "match entry %u names descriptor %u, which does not name it", i, me->md);
    }
    if (live != atomic_load_explicit(&view->area->sr[PTL_SR_MES_CUR], memory_order_relaxed))
        fault(report, "%u live match entries, the register says otherwise", live);
}

static void check_eqs(struct p3_report *report, const struct p3_view *view)
{
    for (uint32_t i = 0; i < ready_of(view, P3_TABLE_EQ, view->eqs); i++) {
        const struct p3_eq *eq = &view->eq[i];
        uint64_t tail = atomic_load_explicit(&eq->tail, memory_order_acquire);
        uint64_t head = atomic_load_explicit(&eq->head, memory_order_acquire);
        uint64_t stamp;

        if (!(eq->flags & P3_LIVE))
            continue;
        if (eq->capacity < 2 || (eq->capacity & (eq->capacity - 1)) || eq->first > view->slots ||
            eq->capacity > view->slots - eq->first) {
            fault(report, "queue %u lies outside the ring memory", i);
            continue;
        }
        if ((int64_t)(tail - head) < 0)
            fault(report, "queue %u was read beyond its end", i);
        if (tail == (1ull << 32) - eq->capacity)
            continue;
        stamp =
            atomic_load_explicit(&view->slot[eq->first + ((tail - 1) & (eq->capacity - 1))].word[0],
                                 memory_order_acquire);
        if (stamp != tail - 1)
            fault(report, "queue %u: the last event carries another stamp", i);
    }
}

int p3_area_check(const struct p3_view *view, int exact_busy, char *why, size_t why_size)
{
    struct p3_report report = {0, why, why_size};
    uint32_t most = view->mes > view->mds ? view->mes : view->mds;
    uint8_t *marks;

    most = view->eqs > most ? view->eqs : most;
    marks = calloc(4, (size_t)most + 1);
    if (marks == NULL) {
        fault(&report, "out of memory");
        return report.faults;
    }
    check_free(&report, "match entry", &view->area->me_free, view->mes,
               (const uint8_t *)view->me + offsetof(struct p3_me, next), sizeof(struct p3_me),
               marks);
    check_lists(&report, view, marks);
    check_mes(&report, view, marks);
    check_chains(&report, view, marks + 3 * ((size_t)most + 1));
    check_free(&report, "descriptor", &view->area->md_free, view->mds,
               (const uint8_t *)view->md + offsetof(struct p3_md, next), sizeof(struct p3_md),
               marks + most + 1);
    check_mds(&report, view, marks + most + 1, exact_busy);
    check_free(&report, "queue", &view->area->eq_free, view->eqs,
               (const uint8_t *)view->eq + offsetof(struct p3_eq, next), sizeof(struct p3_eq),
               marks + 2 * ((size_t)most + 1));
    check_eqs(&report, view);
    free(marks);
    return report.faults;
}
