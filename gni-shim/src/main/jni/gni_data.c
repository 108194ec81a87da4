/* uGNI calls with flat arguments: memory, completion queues, posts, short messages. */
#include "gni_call.h"

/* ---- memory ---- */

#define NO_VMDH 0xffffffffu

DOES(vgn_mem_register,
     (uint64_t nic, uint64_t address, uint64_t length, uint64_t cq, uint32_t flags,
      uint64_t handle),
     CALL(GNI_MemRegister, NIC(nic), address, length, CQ(cq), flags, NO_VMDH,
          AT(gni_mem_handle_t, handle)))
DOES(vgn_mem_register_segments,
     (uint64_t nic, uint64_t segments, uint32_t count, uint64_t cq, uint32_t flags,
      uint64_t handle),
     CALL(GNI_MemRegisterSegments, NIC(nic), AT(gni_mem_segment_t, segments), count, CQ(cq), flags,
          NO_VMDH, AT(gni_mem_handle_t, handle)))
DOES(vgn_mem_deregister, (uint64_t nic, uint64_t handle),
     CALL(GNI_MemDeregister, NIC(nic), AT(gni_mem_handle_t, handle)))

int32_t vgn_mem_attribute(uint64_t handle, uint32_t attribute)
{
    int yes = 0;
    int32_t code = CALL(GNI_MemHndlQueryAttr, AT(gni_mem_handle_t, handle),
                        (gni_mem_handle_attr_t)attribute, &yes);

    return (int32_t)number(code, yes != 0);
}

/* ---- completion queues ---- */

MAKES(vgn_cq_create, (uint64_t nic, uint32_t entries, uint32_t mode), gni_cq_handle_t,
      CALL(GNI_CqCreate, NIC(nic), entries, 0, mode, NULL, NULL, &value))
DOES(vgn_cq_destroy, (uint64_t cq), CALL(GNI_CqDestroy, CQ(cq)))
DOES(vgn_cq_get, (uint64_t cq, uint64_t entry),
     CALL(GNI_CqGetEvent, CQ(cq), AT(gni_cq_entry_t, entry)))
DOES(vgn_cq_test, (uint64_t cq), CALL(GNI_CqTestEvent, CQ(cq)))
DOES(vgn_cq_wait, (uint64_t cq, uint64_t timeout_ms, uint64_t entry),
     CALL(GNI_CqWaitEvent, CQ(cq), timeout_ms, AT(gni_cq_entry_t, entry)))
DOES(vgn_cq_vector_wait,
     (uint64_t cqs, uint32_t count, uint64_t timeout_ms, uint64_t entry, uint64_t which),
     CALL(GNI_CqVectorWaitEvent, AT(gni_cq_handle_t, cqs), count, timeout_ms,
          AT(gni_cq_entry_t, entry), AT(uint32_t, which)))
DOES(vgn_cq_error, (uint64_t entry, uint64_t text, uint32_t size),
     CALL(GNI_CqErrorStr, entry, AT(void, text), size))

int32_t vgn_cq_recoverable(uint64_t entry)
{
    uint32_t recoverable = 0;
    int32_t code = CALL(GNI_CqErrorRecoverable, entry, &recoverable);

    return (int32_t)number(code, recoverable != 0);
}

int64_t vgn_cq_field(uint64_t entry, uint32_t field)
{
    uint64_t (*const read[])(gni_cq_entry_t) = {
        vgn.gni_cq_get_data,    vgn.gni_cq_get_source, vgn.gni_cq_get_status, vgn.gni_cq_get_type,
        vgn.gni_cq_get_inst_id, vgn.gni_cq_get_tid,    vgn.gni_cq_get_msg_id, vgn.gni_cq_overrun};

    if (field >= sizeof(read) / sizeof(*read) || read[field] == NULL)
        return -VGN_MISSING;
    return (int64_t)read[field](entry);
}

/* ---- posts ---- */

DOES(vgn_post_rdma, (uint64_t ep, uint64_t post),
     CALL(GNI_PostRdma, EP(ep), AT(gni_post_descriptor_t, post)))
DOES(vgn_post_fma, (uint64_t ep, uint64_t post),
     CALL(GNI_PostFma, EP(ep), AT(gni_post_descriptor_t, post)))
DOES(vgn_post_cqwrite, (uint64_t ep, uint64_t post),
     CALL(GNI_PostCqWrite, EP(ep), AT(gni_post_descriptor_t, post)))

int32_t vgn_completed(uint64_t cq, uint64_t entry, uint64_t post)
{
    gni_post_descriptor_t *descriptor = NULL;
    int32_t code = CALL(GNI_GetCompleted, CQ(cq), entry, &descriptor);

    *AT(uint64_t, post) = (uint64_t)(uintptr_t)descriptor;
    return -code;
}

/* ---- short messages ---- */

TELLS(vgn_smsg_size, (uint64_t attributes), unsigned int,
      CALL(GNI_SmsgBufferSizeNeeded, AT(gni_smsg_attr_t, attributes), &value))
DOES(vgn_smsg_init, (uint64_t ep, uint64_t local, uint64_t remote),
     CALL(GNI_SmsgInit, EP(ep), AT(gni_smsg_attr_t, local), AT(gni_smsg_attr_t, remote)))
DOES(vgn_smsg_send,
     (uint64_t ep, uint64_t header, uint32_t header_length, uint64_t data, uint32_t data_length,
      uint32_t id, uint32_t tag),
     CALL(GNI_SmsgSendWTag, EP(ep), AT(void, header), header_length, AT(void, data), data_length,
          id, (uint8_t)tag))

int32_t vgn_smsg_next(uint64_t ep, uint32_t tag, uint64_t words)
{
    uint8_t seen = (uint8_t)tag;
    void *message = NULL;
    int32_t code = CALL(GNI_SmsgGetNextWTag, EP(ep), &message, &seen);

    *AT(uint64_t, words) = (uint64_t)(uintptr_t)message;
    return code == GNI_RC_SUCCESS ? (int32_t)seen : -code;
}

DOES(vgn_smsg_release, (uint64_t ep), CALL(GNI_SmsgRelease, EP(ep)))
