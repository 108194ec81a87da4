/* Dumps of match lists for people. */
#include "p3_objects.h"

#include "include/p3api/debug.h"

#include <stdio.h>
#include <stdlib.h>

/* One entry and its descriptor, copied under the lock and printed without. */
struct p3_dump {
    struct p3_me entry;
    struct p3_md descriptor;
    uint32_t index;
    uint32_t has_descriptor;
};

static void take_copy(const struct p3_ni *ni, uint32_t me, struct p3_dump *dump)
{
    dump->index = me;
    dump->entry = ni->view.me[me];
    dump->has_descriptor = dump->entry.md < ni->view.mds;
    if (dump->has_descriptor)
        dump->descriptor = ni->view.md[dump->entry.md];
}

static void print_id(const char *name, uint32_t value, uint32_t any)
{
    if (value == any)
        fprintf(stderr, " %s any", name);
    else
        fprintf(stderr, " %s %u", name, value);
}

static void print(const struct p3_ni *ni, const struct p3_dump *dump)
{
    const struct p3_md *md = &dump->descriptor;

    fprintf(stderr, "  match entry 0x%08x",
            p3_handle(P3_KIND_ME, ni->view.iface, dump->index, dump->entry.generation));
    print_id("nid", dump->entry.nid, PTL_NID_ANY);
    print_id("pid", dump->entry.pid, P3_PID_ANY);
    fprintf(stderr, " bits 0x%016llx ignored 0x%016llx %s\n",
            (unsigned long long)dump->entry.match_bits, (unsigned long long)dump->entry.ignore_bits,
            dump->entry.flags & P3_UNLINK ? "PTL_UNLINK" : "PTL_RETAIN");
    if (!dump->has_descriptor)
        return;
    fprintf(stderr,
            "    descriptor 0x%08x start 0x%llx length %llu threshold %d options 0x%x offset %llu"
            " busy %u%s %s\n",
            p3_handle(P3_KIND_MD, ni->view.iface, dump->entry.md, md->generation),
            (unsigned long long)md->start, (unsigned long long)md->length, md->threshold,
            md->options, (unsigned long long)md->offset, md->busy,
            md->flags & P3_INACTIVE ? " inactive" : "",
            md->flags & P3_UNLINK ? "PTL_UNLINK" : "PTL_RETAIN");
}

/* Copies of a whole list; *count entries. NULL without memory. */
static struct p3_dump *copy_list(struct p3_ni *ni, uint32_t pt_index, uint32_t *count)
{
    uint32_t me = ni->view.pt[pt_index].head;
    struct p3_dump *all;

    *count =
        ni->view.pt[pt_index].count < ni->view.mes ? ni->view.pt[pt_index].count : ni->view.mes;
    all = malloc(((size_t)*count + 1) * sizeof(*all));
    for (uint32_t i = 0; all != NULL && i < *count; i++) {
        if (me >= ni->view.mes) {
            *count = i;
            break;
        }
        take_copy(ni, me, &all[i]);
        me = ni->view.me[me].next;
    }
    return all;
}

int PtlTblDump(ptl_handle_ni_t ni_handle, int pt_index)
{
    struct p3_dump *all = NULL;
    uint32_t count = 0;
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (pt_index < 0 || (uint32_t)pt_index >= ni->view.pts) {
        code = p3_fail(PTL_PT_INDEX_INVALID, "PtlTblDump: portal index %d exceeds %u", pt_index,
                       ni->view.pts - 1);
    } else if ((code = p3_lock_own(ni)) == PTL_OK) {
        all = copy_list(ni, (uint32_t)pt_index, &count);
        p3_unlock_own(ni);
        if (all == NULL)
            code = p3_fail(PTL_NO_SPACE, "out of memory");
    }
    if (code == PTL_OK) {
        fprintf(stderr, "%u.%u portal index %d: %u match entries\n", ni->self.nid, ni->self.pid,
                pt_index, count);
        for (uint32_t i = 0; i < count; i++)
            print(ni, &all[i]);
    }
    free(all);
    p3_ni_leave(ni);
    return code;
}

int PtlMEDump(ptl_handle_me_t me_handle)
{
    struct p3_dump dump;
    struct p3_ni *ni;
    uint32_t me;
    int code = p3_ni_enter(me_handle, P3_KIND_ME, PTL_ME_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if ((code = p3_lock_own(ni)) == PTL_OK) {
        me = p3_me_find(ni, me_handle);
        if (me == P3_NONE)
            code = p3_fail(PTL_ME_INVALID, "PtlMEDump: no match entry 0x%08x", me_handle);
        else
            take_copy(ni, me, &dump);
        p3_unlock_own(ni);
    }
    if (code == PTL_OK)
        print(ni, &dump);
    p3_ni_leave(ni);
    return code;
}
