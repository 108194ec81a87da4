/* Portals calls with flat arguments, for Java. */
#include "portals_native.h"

#include "portals3.h"
#include "portals3_ext.h"

#include "../c/p3_cray.h"

static int64_t result(int code, uint32_t handle)
{
    return code == PTL_OK ? (int64_t)handle : -(int64_t)code;
}

static ptl_process_id_t process(uint32_t nid, uint32_t pid)
{
    return (ptl_process_id_t){.nid = nid, .pid = pid};
}

static ptl_process_id_t process_of(uint64_t target)
{
    return process((uint32_t)(target >> 32), (uint32_t)target);
}

static ptl_md_t descriptor(uint64_t start, uint64_t length, int32_t threshold, uint64_t max_size,
                           uint32_t options, uint64_t user_ptr, uint32_t eq)
{
    return (ptl_md_t){.start = (void *)(uintptr_t)start,
                      .length = length,
                      .threshold = threshold,
                      .max_size = max_size,
                      .options = options,
                      .user_ptr = (void *)(uintptr_t)user_ptr,
                      .eq_handle = eq};
}

int64_t vpn_me_attach(uint32_t ni, uint32_t pt_index, uint32_t nid, uint32_t pid,
                      uint64_t match_bits, uint64_t ignore_bits, int32_t unlink, int32_t position)
{
    ptl_handle_me_t me = 0;
    int code = PtlMEAttach(ni, pt_index, process(nid, pid), match_bits, ignore_bits,
                           (ptl_unlink_t)unlink, (ptl_ins_pos_t)position, &me);

    return result(code, me);
}

int64_t vpn_me_attach_any(uint32_t ni, uint32_t nid, uint32_t pid, uint64_t match_bits,
                          uint64_t ignore_bits, int32_t unlink)
{
    ptl_handle_me_t me = 0;
    ptl_pt_index_t pt_index = 0;
    int code = PtlMEAttachAny(ni, &pt_index, process(nid, pid), match_bits, ignore_bits,
                              (ptl_unlink_t)unlink, &me);

    return code == PTL_OK ? (int64_t)pt_index << 32 | me : -(int64_t)code;
}

int64_t vpn_me_insert(uint32_t base, uint32_t nid, uint32_t pid, uint64_t match_bits,
                      uint64_t ignore_bits, int32_t unlink, int32_t position)
{
    ptl_handle_me_t me = 0;
    int code = PtlMEInsert(base, process(nid, pid), match_bits, ignore_bits, (ptl_unlink_t)unlink,
                           (ptl_ins_pos_t)position, &me);

    return result(code, me);
}

int64_t vpn_md_attach(uint32_t me, uint64_t start, uint64_t length, int32_t threshold,
                      uint64_t max_size, uint32_t options, uint64_t user_ptr, uint32_t eq,
                      int32_t unlink)
{
    ptl_handle_md_t md = 0;
    int code =
        PtlMDAttach(me, descriptor(start, length, threshold, max_size, options, user_ptr, eq),
                    (ptl_unlink_t)unlink, &md);

    return result(code, md);
}

static ptl_md_t descriptor_of(const uint64_t *words)
{
    return descriptor(words[0], words[1], (int32_t)words[2], words[3], (uint32_t)words[4], words[5],
                      (uint32_t)words[6]);
}

static int64_t both(int code, ptl_handle_me_t me, ptl_handle_md_t md, uint64_t *words)
{
    if (code == PTL_OK)
        words[0] = md;
    return result(code, me);
}

int64_t vpn_memd_attach(uint32_t ni, uint32_t pt_index, uint32_t nid, uint32_t pid,
                        uint64_t match_bits, uint64_t ignore_bits, int32_t unlink, int32_t position,
                        uint64_t words)
{
    uint64_t *w = (uint64_t *)(uintptr_t)words;
    ptl_handle_me_t me = 0;
    ptl_handle_md_t md = 0;
    int code = PtlMEMDAttach(ni, pt_index, process(nid, pid), match_bits, ignore_bits,
                             (ptl_unlink_t)unlink, (ptl_ins_pos_t)position, descriptor_of(w),
                             (ptl_unlink_t)w[7], &me, &md);

    return both(code, me, md, w);
}

int64_t vpn_memd_insert(uint32_t base, uint32_t nid, uint32_t pid, uint64_t match_bits,
                        uint64_t ignore_bits, int32_t unlink, int32_t position, uint64_t words)
{
    uint64_t *w = (uint64_t *)(uintptr_t)words;
    ptl_handle_me_t me = 0;
    ptl_handle_md_t md = 0;
    int code =
        PtlMEMDInsert(base, process(nid, pid), match_bits, ignore_bits, (ptl_unlink_t)unlink,
                      (ptl_ins_pos_t)position, descriptor_of(w), (ptl_unlink_t)w[7], &me, &md);

    return both(code, me, md, w);
}

int64_t vpn_memd_post(uint32_t ni, uint32_t base, uint32_t nid, uint32_t pid, uint64_t match_bits,
                      uint64_t ignore_bits, int32_t unlink, int32_t position, uint64_t words,
                      uint32_t test_eq)
{
    uint64_t *w = (uint64_t *)(uintptr_t)words;
    ptl_handle_me_t me = 0;
    ptl_handle_md_t md = 0;
    int code = PtlMEMDPost(ni, base, process(nid, pid), match_bits, ignore_bits,
                           (ptl_unlink_t)unlink, (ptl_ins_pos_t)position, descriptor_of(w),
                           (ptl_unlink_t)w[7], &me, &md, test_eq);

    return both(code, me, md, w);
}

int64_t vpn_md_bind(uint32_t ni, uint64_t start, uint64_t length, int32_t threshold,
                    uint64_t max_size, uint32_t options, uint64_t user_ptr, uint32_t eq,
                    int32_t unlink)
{
    ptl_handle_md_t md = 0;
    int code = PtlMDBind(ni, descriptor(start, length, threshold, max_size, options, user_ptr, eq),
                         (ptl_unlink_t)unlink, &md);

    return result(code, md);
}

int64_t vpn_md_update(uint32_t md, uint64_t start, uint64_t length, int32_t threshold,
                      uint64_t max_size, uint32_t options, uint64_t user_ptr, uint32_t eq,
                      uint32_t test_eq)
{
    ptl_md_t update = descriptor(start, length, threshold, max_size, options, user_ptr, eq);

    return -(int64_t)PtlMDUpdate(md, NULL, &update, test_eq);
}

int64_t vpn_md_threshold(uint32_t md)
{
    ptl_md_t now = {0};
    int code = PtlMDUpdate(md, &now, NULL, PTL_EQ_NONE);

    return result(code, (uint32_t)now.threshold);
}

int64_t vpn_eq_alloc(uint32_t ni, uint64_t count)
{
    ptl_handle_eq_t eq = 0;
    int code = PtlEQAlloc(ni, count, PTL_EQ_HANDLER_NONE, &eq);

    return result(code, eq);
}

int64_t vpn_eq_view(uint32_t eq, uint64_t view)
{
    ptl_ext_eq_view_t seen = {0};
    int code = PtlExtEQView(eq, &seen);

    if (code == PTL_OK) {
        uint64_t *words = (uint64_t *)(uintptr_t)view;

        words[0] = (uint64_t)(uintptr_t)seen.header;
        words[1] = (uint64_t)(uintptr_t)seen.slots;
        words[2] = seen.capacity;
    }
    return -(int64_t)code;
}

int64_t vpn_eq_get(uint32_t eq, uint64_t event)
{
    int code = PtlEQGet(eq, (ptl_event_t *)(uintptr_t)event);

    return code == PTL_OK ? 0 : code == PTL_EQ_DROPPED ? 1 : -(int64_t)code;
}

int32_t vpn_put(uint32_t md, uint64_t local_offset, uint64_t length, int32_t ack, uint64_t target,
                uint32_t pt_index, uint32_t ac_index, uint64_t match_bits, uint64_t remote_offset,
                uint64_t hdr_data)
{
    int code = PtlPutRegion(md, local_offset, length, (ptl_ack_req_t)ack, process_of(target),
                            pt_index, ac_index, match_bits, remote_offset, hdr_data);

    return code == PTL_OK ? PtlExtLastOutcome() : -code;
}

int32_t vpn_get(uint32_t md, uint64_t local_offset, uint64_t length, uint64_t target,
                uint32_t pt_index, uint32_t ac_index, uint64_t match_bits, uint64_t remote_offset)
{
    int code = PtlGetRegion(md, local_offset, length, process_of(target), pt_index, ac_index,
                            match_bits, remote_offset);

    return code == PTL_OK ? PtlExtLastOutcome() : -code;
}

int32_t vpn_get_put(uint32_t get_md, uint32_t put_md, uint64_t target, uint32_t pt_index,
                    uint32_t ac_index, uint64_t match_bits, uint64_t remote_offset,
                    uint64_t hdr_data)
{
    int code = PtlGetPut(get_md, put_md, process_of(target), pt_index, ac_index, match_bits,
                         remote_offset, hdr_data);

    return code == PTL_OK ? PtlExtLastOutcome() : -code;
}

int32_t vpn_get_put_region(uint32_t get_md, uint64_t get_offset, uint32_t put_md,
                           uint64_t put_offset, uint64_t length, uint64_t target, uint32_t pt_index,
                           uint32_t ac_index, uint64_t match_bits, uint64_t remote_offset,
                           uint64_t hdr_data)
{
    int code = PtlGetPutRegion(get_md, get_offset, put_md, put_offset, length, process_of(target),
                               pt_index, ac_index, match_bits, remote_offset, hdr_data);

    return code == PTL_OK ? PtlExtLastOutcome() : -code;
}

int64_t vpn_id(uint32_t ni)
{
    ptl_process_id_t id = {0};
    int code = PtlGetId(ni, &id);

    return code == PTL_OK ? (int64_t)id.nid << 32 | id.pid : -(int64_t)code;
}

int64_t vpn_uid(uint32_t ni)
{
    ptl_uid_t uid = 0;
    int code = PtlGetUid(ni, &uid);

    return result(code, uid);
}

int64_t vpn_jid(uint32_t ni)
{
    ptl_jid_t jid = 0;
    int code = PtlGetJid(ni, &jid);

    return result(code, jid);
}

int64_t vpn_status(uint32_t ni, uint32_t sr_index)
{
    ptl_sr_value_t value = 0;
    int code = PtlNIStatus(ni, sr_index, &value);

    return code == PTL_OK ? (int64_t)(value & INT64_MAX) : -(int64_t)code;
}

int64_t vpn_distance(uint32_t ni, uint64_t target)
{
    unsigned long distance = 0;
    int code = PtlNIDist(ni, process_of(target), &distance);

    return code == PTL_OK ? (int64_t)distance : -(int64_t)code;
}

int64_t vpn_ac_entry(uint32_t ni, uint32_t ac_index, uint32_t nid, uint32_t pid, uint32_t uid,
                     uint32_t jid, uint32_t pt_index)
{
    return -(int64_t)PtlACEntry(ni, ac_index, process(nid, pid), uid, jid, pt_index);
}

int64_t vpn_memory_alloc(uint32_t ni, uint64_t length, uint32_t flags)
{
    void *address = NULL;
    int code = PtlExtMemoryAlloc(ni, length, flags, &address);

    return code == PTL_OK ? (int64_t)(uintptr_t)address : -(int64_t)code;
}

int64_t vpn_memory_free(uint32_t ni, uint64_t address)
{
    return -(int64_t)PtlExtMemoryFree(ni, (void *)(uintptr_t)address);
}

int64_t vpn_doorbell(uint32_t ni)
{
    uint32_t seen = 0;
    int code = PtlExtDoorbell(ni, &seen);

    return result(code, seen);
}

int64_t vpn_incarnation(uint32_t ni, uint64_t to)
{
    return -(int64_t)PtlExtIncarnation(ni, (uint64_t *)(uintptr_t)to);
}

int64_t vpn_peer_state(uint32_t ni, uint64_t target, uint64_t to)
{
    int state = 0;
    int code = PtlExtPeerState(ni, process_of(target), &state, (uint64_t *)(uintptr_t)to);

    return result(code, (uint32_t)state);
}

int64_t vpn_peer_pin(uint32_t ni, uint64_t target, uint64_t incarnation)
{
    return -(int64_t)PtlExtPeerPin(ni, process_of(target), incarnation);
}

int64_t vpn_peer_forget(uint32_t ni, uint64_t target)
{
    return -(int64_t)PtlExtPeerForget(ni, process_of(target));
}
