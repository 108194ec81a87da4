/* Writes the Java class of layout constants to standard output; runs at build time. */
#include "native_access.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    printf(
        "package dev.verbena.softnic.bindings;\n\n"
        "/** Sizes, offsets and constants as the C compiler saw them. Generated: do not edit. */\n"
        "public final class Layout {\n    private Layout() {}\n\n");
    for (int row = 0; row < vna_layout_count(); row++) {
        int64_t value = vna_layout_value(row);
        int small = value >= INT32_MIN && value <= INT32_MAX;
        printf("    public static final %s %s = %" PRId64 "%s;\n", small ? "int" : "long",
               vna_layout_name(row), value, small ? "" : "L");
    }
    printf("}\n");
    return ferror(stdout) ? 1 : 0;
}
