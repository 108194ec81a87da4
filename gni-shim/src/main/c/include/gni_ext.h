/* What this library offers beside uGNI. */
#ifndef GNI_EXT_H
#define GNI_EXT_H

#include "gni_pub.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Memory that peers map: a put into it is stores, where any other memory costs a system call for
 * each transfer. Zeroed, page aligned; freed with the NIC handle at the latest. */
gni_return_t GNI_ExtMemAlloc(gni_nic_handle_t nic_hndl, uint64_t length, void **address);
/* INVALID_STATE while registered. */
gni_return_t GNI_ExtMemFree(gni_nic_handle_t nic_hndl, void *address);
/* Why the last call of this thread that failed did so; never NULL. */
const char *GNI_ExtError(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
