/* Layouts that Java writes and reads, compared with the compiler's. */
#include "gni_call.h"

#define POST(field) offsetof(gni_post_descriptor_t, field)
#define SMSG(field) offsetof(gni_smsg_attr_t, field)
#define ERROR(field) offsetof(gni_error_event_t, field)
#define LAYOUT(X)                                                                                  \
    X(VGN_POST_BYTES, sizeof(gni_post_descriptor_t))                                               \
    X(VGN_POST_ID, POST(post_id))                                                                  \
    X(VGN_POST_STATUS, POST(status))                                                               \
    X(VGN_POST_COMPLETE, POST(cq_mode_complete))                                                   \
    X(VGN_POST_TYPE, POST(type))                                                                   \
    X(VGN_POST_CQ_MODE, POST(cq_mode))                                                             \
    X(VGN_POST_DLVR_MODE, POST(dlvr_mode))                                                         \
    X(VGN_POST_LOCAL_ADDR, POST(local_addr))                                                       \
    X(VGN_POST_LOCAL_HNDL, POST(local_mem_hndl))                                                   \
    X(VGN_POST_REMOTE_ADDR, POST(remote_addr))                                                     \
    X(VGN_POST_REMOTE_HNDL, POST(remote_mem_hndl))                                                 \
    X(VGN_POST_LENGTH, POST(length))                                                               \
    X(VGN_POST_RDMA_MODE, POST(rdma_mode))                                                         \
    X(VGN_POST_SRC_CQ, POST(src_cq_hndl))                                                          \
    X(VGN_POST_SYNC_VALUE, POST(sync_flag_value))                                                  \
    X(VGN_POST_SYNC_ADDR, POST(sync_flag_addr))                                                    \
    X(VGN_POST_AMO_CMD, POST(amo_cmd))                                                             \
    X(VGN_POST_FIRST, POST(first_operand))                                                         \
    X(VGN_POST_SECOND, POST(second_operand))                                                       \
    X(VGN_POST_CQWRITE, POST(cqwrite_value))                                                       \
    X(VGN_POST_CE_CMD, POST(ce_cmd))                                                               \
    X(VGN_POST_CE_MODE, POST(ce_mode))                                                             \
    X(VGN_POST_CE_ID, POST(ce_red_id))                                                             \
    X(VGN_SMSG_BYTES, sizeof(gni_smsg_attr_t))                                                     \
    X(VGN_SMSG_TYPE, SMSG(msg_type))                                                               \
    X(VGN_SMSG_BUFFER, SMSG(msg_buffer))                                                           \
    X(VGN_SMSG_SIZE, SMSG(buff_size))                                                              \
    X(VGN_SMSG_HNDL, SMSG(mem_hndl))                                                               \
    X(VGN_SMSG_OFFSET, SMSG(mbox_offset))                                                          \
    X(VGN_SMSG_CREDITS, SMSG(mbox_maxcredit))                                                      \
    X(VGN_SMSG_MAX, SMSG(msg_maxsize))                                                             \
    X(VGN_ERROR_BYTES, sizeof(gni_error_event_t))                                                  \
    X(VGN_ERROR_CODE, ERROR(error_code))                                                           \
    X(VGN_ERROR_CATEGORY, ERROR(error_category))                                                   \
    X(VGN_ERROR_PTAG, ERROR(ptag))                                                                 \
    X(VGN_ERROR_SERIAL, ERROR(serial_number))                                                      \
    X(VGN_ERROR_TIME, ERROR(timestamp))                                                            \
    X(VGN_ERROR_INFO, ERROR(info_mmrs))

#define SAME(name, value) _Static_assert(name == (value), #name);
LAYOUT(SAME)
#define ROW(name, value) {#name, (int64_t)(value)},
static const struct {
    const char *name;
    int64_t value;
} layout[] = {LAYOUT(ROW)};
#define ROWS ((int32_t)(sizeof(layout) / sizeof(*layout)))

const char *vgn_layout_name(int32_t row)
{
    return row >= 0 && row < ROWS ? layout[row].name : NULL;
}

int64_t vgn_layout_value(int32_t row)
{
    return row >= 0 && row < ROWS ? layout[row].value : -1;
}
