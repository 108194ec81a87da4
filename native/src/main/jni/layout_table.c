/* The layout table inside the JNI library; NativeAccess compares it with the Java constants. */
#include "layout_fields.h"
#include "native_access.h"

#include <stddef.h>

#define S(name, type) {#name, (int64_t)sizeof(type)},
#define F(name, type, field) {#name, (int64_t)offsetof(type, field)},
#define C(name, value) {#name, (int64_t)(value)},

static const struct {
    const char *name;
    int64_t value;
} rows[] = {VERBENA_LAYOUT(S, F, C)};

int vna_layout_count(void)
{
    return (int)(sizeof rows / sizeof rows[0]);
}

const char *vna_layout_name(int row)
{
    return row >= 0 && row < vna_layout_count() ? rows[row].name : NULL;
}

int64_t vna_layout_value(int row)
{
    return row >= 0 && row < vna_layout_count() ? rows[row].value : -1;
}
