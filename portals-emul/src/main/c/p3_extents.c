/* Free extents of the event-slot array and of the segment array: first fit, merged when given back.
 */
#include "p3_library.h"

#include <stdlib.h>
#include <string.h>

int p3_extents_init(struct p3_extents *extents, uint32_t count)
{
    extents->room = 16;
    extents->free = malloc(extents->room * sizeof(*extents->free));
    if (extents->free == NULL)
        return -1;
    extents->used = count ? 1 : 0;
    extents->free[0] = (struct p3_extent){0, count};
    return 0;
}

uint32_t p3_extents_take(struct p3_extents *extents, uint32_t count)
{
    for (uint32_t i = 0; i < extents->used; i++) {
        struct p3_extent *e = &extents->free[i];
        uint32_t first = e->first;

        if (e->count < count)
            continue;
        e->first += count;
        e->count -= count;
        if (e->count == 0) {
            memmove(e, e + 1, (extents->used - i - 1) * sizeof(*e));
            extents->used--;
        }
        return first;
    }
    return P3_NONE;
}

void p3_extents_give(struct p3_extents *extents, uint32_t first, uint32_t count)
{
    uint32_t i = 0;
    struct p3_extent *list = extents->free;

    while (i < extents->used && list[i].first < first)
        i++;
    if (i > 0 && list[i - 1].first + list[i - 1].count == first) {
        list[i - 1].count += count;
        if (i < extents->used && list[i - 1].first + list[i - 1].count == list[i].first) {
            list[i - 1].count += list[i].count;
            memmove(&list[i], &list[i + 1], (extents->used - i - 1) * sizeof(*list));
            extents->used--;
        }
        return;
    }
    if (i < extents->used && first + count == list[i].first) {
        list[i].first = first;
        list[i].count += count;
        return;
    }
    if (extents->used == extents->room) {
        struct p3_extent *more = realloc(list, 2 * extents->room * sizeof(*list));

        if (more == NULL)
            return; /* the extent is lost until the interface closes: better than a crash */
        extents->free = list = more;
        extents->room *= 2;
    }
    memmove(&list[i + 1], &list[i], (extents->used - i) * sizeof(*list));
    list[i] = (struct p3_extent){first, count};
    extents->used++;
}

void p3_extents_free(struct p3_extents *extents)
{
    free(extents->free);
    memset(extents, 0, sizeof(*extents));
}
