/* Rows of the layout table: what Java reads and writes in shared segments. */
#ifndef VERBENA_LAYOUT_FIELDS_H
#define VERBENA_LAYOUT_FIELDS_H
#include "softnic.h"

/* S(name, struct) its size; F(name, struct, field) a field's offset; C(name, value) a constant */
#define VERBENA_LAYOUT(S, F, C)                                                                    \
    S(OPTIONS_BYTES, struct snic_options)                                                          \
    S(KEY_BYTES, struct snic_key)                                                                  \
    F(KEY_SLOT, struct snic_key, slot)                                                             \
    F(KEY_GENERATION, struct snic_key, generation)                                                 \
    F(KEY_SECRET, struct snic_key, secret)                                                         \
    S(LOCATION_BYTES, struct snic_location)                                                        \
    F(LOCATION_KIND, struct snic_location, kind)                                                   \
    F(LOCATION_MEMORY, struct snic_location, memory)                                               \
    F(LOCATION_OFFSET, struct snic_location, offset)                                               \
    F(LOCATION_LENGTH, struct snic_location, length)

#endif
