/*
 * Random operations on match lists, compared with a sequential model that is nothing but an array.
 */
#define _GNU_SOURCE
#include "one_process.h"

#define ENTRIES 12
struct model_entry {
    int used;
    uint64_t bits, ignore;
    uint64_t length, offset, max_size;
    int threshold;
    unsigned options;
    int md_unlink, me_unlink, has_md, inactive;
    ptl_handle_me_t me;
    ptl_handle_md_t md;
    uint8_t memory[64];
};
static struct model_entry model[ENTRIES];
static int order[ENTRIES], order_count;

static uint32_t chance(uint32_t limit)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % limit;
}

static void model_remove(int index)
{
    for (int i = 0; i < order_count; i++)
        if (order[i] == index) {
            memmove(&order[i], &order[i + 1], (size_t)(order_count - i - 1) * sizeof(order[0]));
            order_count--;
            break;
        }
    model[index].used = 0;
}

static void model_attach(ptl_handle_ni_t ni, ptl_handle_eq_t eq)
{
    int index = 0, position;
    struct model_entry *e;
    ptl_md_t md;

    while (index < ENTRIES && model[index].used)
        index++;
    if (index == ENTRIES)
        return;
    e = &model[index];
    memset(e, 0, sizeof(*e));
    *e = (struct model_entry){.used = 1,
                              .bits = chance(4),
                              .ignore = chance(3) == 0 ? 3 : 0,
                              .length = chance(64),
                              .max_size = chance(20),
                              .threshold = chance(3) ? (int)chance(4) : -1,
                              .md_unlink = (int)chance(2),
                              .me_unlink = (int)chance(2),
                              .has_md = 1};
    e->options = PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE;
    e->options |= chance(3) == 0 ? PTL_MD_MANAGE_REMOTE : 0;
    e->options |= chance(2) ? PTL_MD_TRUNCATE : 0;
    e->options |= chance(4) == 0 ? PTL_MD_MAX_SIZE : 0;
    e->inactive = e->threshold == 0;
    md = (ptl_md_t){.start = e->memory,
                    .length = e->length,
                    .threshold = e->threshold,
                    .max_size = e->max_size,
                    .options = e->options,
                    .user_ptr = e,
                    .eq_handle = eq};
    position = order_count ? (int)chance((uint32_t)order_count) : -1;
    if (position < 0 || chance(3) == 0) {
        ptl_ins_pos_t where = chance(2) ? PTL_INS_AFTER : PTL_INS_BEFORE;

        MUST(PtlMEAttach(ni, PORTAL, anybody, e->bits, e->ignore,
                         e->me_unlink ? PTL_UNLINK : PTL_RETAIN, where, &e->me) == PTL_OK);
        position = where == PTL_INS_AFTER ? order_count : 0;
    } else {
        ptl_ins_pos_t where = chance(2) ? PTL_INS_AFTER : PTL_INS_BEFORE;

        MUST(PtlMEInsert(model[order[position]].me, anybody, e->bits, e->ignore,
                         e->me_unlink ? PTL_UNLINK : PTL_RETAIN, where, &e->me) == PTL_OK);
        position += where == PTL_INS_AFTER;
    }
    memmove(&order[position + 1], &order[position],
            (size_t)(order_count - position) * sizeof(order[0]));
    order[position] = index;
    order_count++;
    MUST(PtlMDAttach(e->me, md, e->md_unlink ? PTL_UNLINK : PTL_RETAIN, &e->md) == PTL_OK);
}

/* What the model says about a put: the entry, offset and length; NULL: dropped. */
static struct model_entry *model_put(uint64_t bits, uint64_t length, uint64_t remote,
                                     uint64_t *offset, uint64_t *mlength)
{
    for (int i = 0; i < order_count; i++) {
        struct model_entry *e = &model[order[i]];

        if (((e->bits ^ bits) & ~e->ignore) != 0 || !e->has_md || e->inactive)
            continue;
        *offset = e->options & PTL_MD_MANAGE_REMOTE ? remote : e->offset;
        if (*offset > e->length)
            continue;
        *mlength = length;
        if (length > e->length - *offset) {
            if (!(e->options & PTL_MD_TRUNCATE))
                continue;
            *mlength = e->length - *offset;
        }
        return e;
    }
    return NULL;
}

static void random_put(ptl_process_id_t id, ptl_handle_md_t source, const uint8_t *data,
                       ptl_handle_eq_t eq)
{
    uint64_t bits = chance(4), length = chance(40), remote = chance(70), offset = 0, mlength = 0;
    struct model_entry *e = model_put(bits, length, remote, &offset, &mlength);
    ptl_event_t event;

    MUST(PtlPutRegion(source, 0, length, PTL_NO_ACK_REQ, id, PORTAL, 0, bits, remote, 0) == PTL_OK);
    MUST(PtlExtLastOutcome() == (e ? PTL_EXT_DELIVERED : PTL_EXT_DROPPED));
    if (e == NULL) {
        MUST(PtlEQGet(eq, &event) == PTL_EQ_EMPTY);
        return;
    }
    MUST(PtlEQGet(eq, &event) == PTL_OK);
    MUST(event.type == PTL_EVENT_PUT_END && event.md.user_ptr == e);
    MUST(event.offset == offset && event.mlength == mlength && event.rlength == length);
    MUST(memcmp(e->memory + offset, data, mlength) == 0);
    if (!(e->options & PTL_MD_MANAGE_REMOTE)) {
        e->offset += mlength;
        if ((e->options & PTL_MD_MAX_SIZE) && e->length - e->offset < e->max_size)
            e->inactive = 1;
    }
    if (e->threshold > 0 && --e->threshold == 0)
        e->inactive = 1;
    MUST(event.md.threshold == e->threshold);
    if (e->inactive && e->md_unlink) {
        MUST(PtlEQGet(eq, &event) == PTL_OK && event.type == PTL_EVENT_UNLINK);
        e->has_md = 0;
        if (e->me_unlink)
            model_remove((int)(e - model));
    }
    MUST(PtlEQGet(eq, &event) == PTL_EQ_EMPTY);
}

static void random_unlink(void)
{
    struct model_entry *e;

    if (order_count == 0)
        return;
    e = &model[order[chance((uint32_t)order_count)]];
    if (e->has_md && chance(2)) {
        MUST(PtlMDUnlink(e->md) == PTL_OK);
        e->has_md = 0;
        if (!e->me_unlink)
            return;
    } else {
        MUST(PtlMEUnlink(e->me) == PTL_OK);
    }
    MUST(PtlMEUnlink(e->me) == PTL_ME_INVALID);
    model_remove((int)(e - model));
}

static void random_model(void)
{
    ptl_handle_ni_t ni, from;
    ptl_process_id_t id, unused;
    ptl_handle_eq_t eq;
    ptl_handle_md_t source;
    uint8_t data[64];
    char text[256];
    ptl_md_t md = {
        .start = data, .length = sizeof(data), .threshold = -1, .eq_handle = PTL_EQ_NONE};

    open_one(&ni, &id);
    open_one(&from, &unused);
    MUST(PtlEQAlloc(ni, 64, PTL_EQ_HANDLER_NONE, &eq) == PTL_OK);
    MUST(PtlMDBind(from, md, PTL_RETAIN, &source) == PTL_OK);
    for (int i = 0; i < repeats(20000) && !failed; i++) {
        for (size_t k = 0; k < sizeof(data); k++)
            data[k] = (uint8_t)(i + (int)k);
        switch (chance(8)) {
        case 0:
        case 1:
            model_attach(ni, eq);
            break;
        case 2:
            random_unlink();
            break;
        default:
            random_put(id, source, data, eq);
        }
        if (i % 500 == 0)
            MUST(PtlExtCheck(ni, text, sizeof(text)) == 0);
    }
    if (failed)
        return;
    MUST(PtlNIFini(ni) == PTL_OK);
    MUST(PtlNIFini(from) == PTL_OK);
}

int main(void)
{
    static const struct threads_case cases[] = {{"random_model", random_model}};

    return run_cases(cases, sizeof(cases) / sizeof(cases[0]));
}
