/* How flat calls reach the table, and answer. */
#ifndef VERBENA_GNI_CALL_H
#define VERBENA_GNI_CALL_H

#include "gni_functions.h"
#include "gni_native.h"

#include <stddef.h>

#define CALL(name, ...) (vgn.name != NULL ? (int32_t)vgn.name(__VA_ARGS__) : VGN_MISSING)
#define AT(type, address) ((type *)(uintptr_t)(address))
#define HANDLE(type, value) ((type)(uintptr_t)(value))
#define NIC(value) HANDLE(gni_nic_handle_t, value)
#define EP(value) HANDLE(gni_ep_handle_t, value)
#define CQ(value) HANDLE(gni_cq_handle_t, value)

static inline int64_t result(int32_t code, const void *handle)
{
    return code == GNI_RC_SUCCESS ? (int64_t)(uintptr_t)handle : -(int64_t)code;
}

static inline int64_t number(int32_t code, uint64_t value)
{
    return code == GNI_RC_SUCCESS ? (int64_t)(value & INT64_MAX) : -(int64_t)code;
}

/* Calls with flat arguments that are one call: a row says their name, their parameters and that
 * call. What a call answers by an address it stores in `value`. */
#define DOES(name, parameters, call)                                                               \
    int32_t name parameters                                                                        \
    {                                                                                              \
        return -(call);                                                                            \
    }
#define TELLS(name, parameters, type, call)                                                        \
    int64_t name parameters                                                                        \
    {                                                                                              \
        type value = 0;                                                                            \
        int32_t code = (call);                                                                     \
                                                                                                   \
        return number(code, (uint64_t)value);                                                      \
    }
#define MAKES(name, parameters, type, call)                                                        \
    int64_t name parameters                                                                        \
    {                                                                                              \
        type value = NULL;                                                                         \
        int32_t code = (call);                                                                     \
                                                                                                   \
        return result(code, value);                                                                \
    }

#endif
