/* The functions of libfabric that its headers do not define inline, and how objects are named. */
#ifndef VERBENA_OFI_LIBRARY_H
#define VERBENA_OFI_LIBRARY_H

#include "ofi_native.h"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <signal.h>

#define AT(type, address) ((type *)(uintptr_t)(address))
#define NUMBER(pointer) ((int64_t)(uintptr_t)(pointer))
#define API FI_VERSION(1, 17)

/* clang-format off */
#define VFI_FUNCTIONS(X) \
    X(fi_getinfo) X(fi_freeinfo) X(fi_dupinfo) X(fi_fabric) X(fi_version) X(fi_strerror)
/* clang-format on */

#define VFI_POINTER(name) __typeof__(&name) name;
struct vfi_functions {
    VFI_FUNCTIONS(VFI_POINTER)
};
#undef VFI_POINTER

extern struct vfi_functions vfi;

/* Providers may set signal handlers when they start; the JVM needs its own. */
#define SIGNALS 8
struct vfi_signals {
    struct sigaction was[SIGNALS];
};
void vfi_keep_signals(struct vfi_signals *signals);
void vfi_restore_signals(const struct vfi_signals *signals);

#endif
