/* Constants that Java uses, compared with the headers'. */
#include "ofi_library.h"

#include <stddef.h>

#define LAYOUT(X)                                                                                  \
    X(VFI_MSG, FI_MSG)                                                                             \
    X(VFI_RMA, FI_RMA)                                                                             \
    X(VFI_ATOMIC, FI_ATOMIC)                                                                       \
    X(VFI_READ, FI_READ)                                                                           \
    X(VFI_WRITE, FI_WRITE)                                                                         \
    X(VFI_RECV, FI_RECV)                                                                           \
    X(VFI_SEND, FI_SEND)                                                                           \
    X(VFI_REMOTE_READ, FI_REMOTE_READ)                                                             \
    X(VFI_REMOTE_WRITE, FI_REMOTE_WRITE)                                                           \
    X(VFI_MR_LOCAL, FI_MR_LOCAL)                                                                   \
    X(VFI_MR_VIRT_ADDR, FI_MR_VIRT_ADDR)                                                           \
    X(VFI_MR_ENDPOINT, FI_MR_ENDPOINT)                                                             \
    X(VFI_EAGAIN, FI_EAGAIN)                                                                       \
    X(VFI_EAVAIL, FI_EAVAIL)                                                                       \
    X(VFI_ENODATA, FI_ENODATA)                                                                     \
    X(VFI_SOCKADDR_IN, FI_SOCKADDR_IN)                                                             \
    X(VFI_SOCKADDR_IN6, FI_SOCKADDR_IN6)                                                           \
    X(VFI_CQ_BYTES, sizeof(struct fi_cq_msg_entry))                                                \
    X(VFI_CQ_CONTEXT, offsetof(struct fi_cq_msg_entry, op_context))                                \
    X(VFI_CQ_LENGTH, offsetof(struct fi_cq_msg_entry, len))                                        \
    X(VFI_CONTEXT_BYTES, sizeof(struct fi_context2))

#define SAME(name, value) _Static_assert((uint64_t)(name) == (uint64_t)(value), #name);
LAYOUT(SAME)
#define ROW(name, value) {#name, (int64_t)(value)},
static const struct {
    const char *name;
    int64_t value;
} layout[] = {LAYOUT(ROW)};
#define ROWS ((int32_t)(sizeof(layout) / sizeof(*layout)))

const char *vfi_layout_name(int32_t row)
{
    return row >= 0 && row < ROWS ? layout[row].name : NULL;
}

int64_t vfi_layout_value(int32_t row)
{
    return row >= 0 && row < ROWS ? layout[row].value : -1;
}
