/*
 * Writes the Java class of verbs layout constants to standard output; runs at build time. Names: of
 * "struct ibv_send_wr.wr.rdma.rkey" SEND_WR_WR_RDMA_RKEY, of "sizeof(struct ibv_wc)" WC_SIZEOF; of
 * "struct rdma_cm_event.id" RDMA_CM_EVENT_ID; a constant keeps its own.
 */
#include "verbs_calls.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_name(const char *c)
{
    int is_size = !strncmp(c, "sizeof(", 7);
    const char *space = strchr(c, ' ');
    const char *type = space ? space + 1 : c;
    if (space && !strncmp(type, "ibv_", 4))
        type += 4;
    for (const char *at = type; *at && *at != ')'; at++)
        putchar(*at == '.' ? '_' : toupper((unsigned char)*at));
    if (is_size)
        printf("_SIZEOF");
}

int main(void)
{
    printf(
        "package dev.verbena.rdma.calls;\n\n"
        "/** Sizes, offsets and constants of ibverbs as the C compiler saw them. Generated: do not "
        "edit. */\npublic final class VerbsLayout {\n    private VerbsLayout() {}\n\n");
    for (int row = 0; row < vv_layout_count(); row++) {
        printf("    public static final int ");
        print_name(vv_layout_name(row));
        printf(" = %" PRId64 ";\n", vv_layout_value(row));
    }
    printf("}\n");
    return ferror(stdout) ? 1 : 0;
}
