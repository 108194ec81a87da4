/* The layout table inside the JNI library; VerbsAccess compares it with the Java constants. */
#include "cm_layout_fields.h"
#include "verbs_calls.h"
#include "verbs_layout_fields.h"

#define S(type) {"sizeof(" #type ")", (int64_t)sizeof(type)},
#define F(type, field) {#type "." #field, (int64_t)offsetof(type, field)},
#define C(value) {#value, (int64_t)(value)},

static const struct {
    const char *name;
    int64_t value;
} rows[] = {VV_LAYOUT(S, F, C) VV_CM_LAYOUT(S, F, C)};

int vv_layout_count(void)
{
    return (int)(sizeof rows / sizeof rows[0]);
}

const char *vv_layout_name(int row)
{
    return row >= 0 && row < vv_layout_count() ? rows[row].name : NULL;
}

int64_t vv_layout_value(int row)
{
    return row >= 0 && row < vv_layout_count() ? rows[row].value : -1;
}
