/*
 * The layout that the C compiler saw, so that Java can compare it with the constants it was
 * compiled with.
 */
#ifndef VERBENA_NATIVE_ACCESS_H
#define VERBENA_NATIVE_ACCESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of the layout table. */
int vna_layout_count(void);
const char *vna_layout_name(int row);
int64_t vna_layout_value(int row);

#ifdef __cplusplus
}
#endif
#endif
