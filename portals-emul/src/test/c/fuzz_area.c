/*
 * Fuzzes what an initiator does in a target's segment: a small valid area, then bytes of the input
 * scattered over it, then requests from the input. Whatever the segment holds, nothing may be read
 * or written outside it, and every walk must end.
 */
#include <stdlib.h>
#include <string.h>

#include "p3_area.h"
#include "p3_target.h"

#define PORTALS 4
#define ENTRIES 8

struct input {
    const uint8_t *data;
    size_t size;
};

static uint64_t number(struct input *in, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes && in->size > 0; i++, in->data++, in->size--)
        value = value << 8 | *in->data;
    return value;
}

static void build(struct p3_view *view, void *memory, const struct p3_geometry *g)
{
    const ptl_ni_limits_t limits = {ENTRIES, ENTRIES, 2, 3, PORTALS - 1, 8, ENTRIES, 64};

    memset(memory, 0, p3_area_bytes(g));
    p3_area_build(memory, &limits, g, 1);
    p3_view_open(view, memory, p3_area_bytes(g));
    for (uint32_t i = 0; i < view->acs; i++)
        view->ac[i] = (struct p3_ac){PTL_NID_ANY, P3_PID_ANY,       PTL_UID_ANY,
                                     PTL_JID_ANY, PTL_PT_INDEX_ANY, {0}};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t eq = p3_take(view, P3_TABLE_EQ);

        view->eq[eq].first = i * 8;
        view->eq[eq].capacity = 8;
        atomic_store(&view->eq[eq].tail, (1ull << 32) - 8);
        atomic_store(&view->eq[eq].head, (1ull << 32) - 8);
        view->eq[eq].flags = P3_LIVE;
    }
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t me = p3_take(view, P3_TABLE_ME), md = p3_take(view, P3_TABLE_MD);

        view->me[me] = (struct p3_me){.generation = 1,
                                      .flags = P3_LIVE | P3_UNLINK,
                                      .nid = PTL_NID_ANY,
                                      .pid = P3_PID_ANY,
                                      .match_bits = i / 2,
                                      .md = md,
                                      .pt_index = i % 2};
        p3_me_link(view, me, P3_NONE, PTL_INS_AFTER);
        view->md[md].flags = P3_LIVE | P3_UNLINK;
        view->md[md].options = PTL_MD_OP_PUT | PTL_MD_OP_GET | (i & 1 ? PTL_MD_TRUNCATE : 0);
        view->md[md].threshold = 2;
        view->md[md].length = 100;
        view->md[md].me = me;
        view->md[md].eq = p3_handle(P3_KIND_EQ, view->iface, i % 2, 1);
    }
}

static void request(const struct p3_view *view, struct input *in)
{
    struct p3_message m = {.operation = 1 + (uint32_t)number(in, 1) % 3,
                           .from.nid = (uint32_t)number(in, 1),
                           .from.pid = (uint32_t)number(in, 1),
                           .pt_index = (uint32_t)number(in, 1),
                           .ac_index = (uint32_t)number(in, 1),
                           .match_bits = number(in, 1),
                           .rlength = number(in, 2),
                           .remote_offset = number(in, 2)};
    struct p3_intent *intent = p3_view_intent(view, (uint32_t)number(in, 1) % view->intents);
    struct p3_place place = {0};

    if (p3_target_match(view, &m, intent, &place) != P3_ACCEPTED)
        return;
    p3_target_accept(view, intent);
    if (number(in, 1) & 1)
        p3_target_complete(view, intent, (uint32_t)number(in, 1));
}

static void scatter(struct input *in, uint8_t *memory, uint64_t bytes)
{
    for (uint64_t count = number(in, 1) % 32; count > 0; count--) {
        uint64_t at = number(in, 2) % bytes;

        memory[at] = (uint8_t)number(in, 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct p3_geometry g = {ENTRIES, ENTRIES, 2, 4, PORTALS, 4, 16, 4};
    struct input in = {data, size};
    uint64_t bytes = p3_area_bytes(&g);
    /* Exactly as long as the area, so that the sanitizer sees the first byte too far. */
    uint8_t *memory = aligned_alloc(128, bytes);
    struct p3_view view = {0};
    ptl_event_t event;
    char text[256];

    build(&view, memory, &g);
    while (in.size > 0) {
        struct p3_view again;

        scatter(&in, memory, bytes);
        switch (number(&in, 1) % 6) {
        case 0:
            (void)p3_view_open(&again, memory, bytes);
            break;
        case 1:
            p3_target_recover(&view, (uint32_t)number(&in, 1));
            break;
        case 2:
            (void)p3_eq_get(&view, &view.eq[number(&in, 1) % view.eqs], &event, 0);
            break;
        case 3:
            (void)p3_area_check(&view, 1, text, sizeof(text));
            break;
        default:
            request(&view, &in);
        }
    }
    free(memory);
    return 0;
}
