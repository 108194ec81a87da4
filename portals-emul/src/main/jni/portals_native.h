/*
 * Portals calls with flat arguments, for Java: structures that Portals passes by value are taken
 * apart, results come back as the return value, and the outcome of a put or get comes with the
 * call.
 *
 * Every function returns a value >= 0, or the negated Portals code. Addresses travel as integers.
 */
#ifndef VERBENA_PORTALS_NATIVE_H
#define VERBENA_PORTALS_NATIVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- objects; the value is the handle ---- */

int64_t vpn_me_attach(uint32_t ni, uint32_t pt_index, uint32_t nid, uint32_t pid,
                      uint64_t match_bits, uint64_t ignore_bits, int32_t unlink, int32_t position);
/* The value is the portal index in the upper half, the handle in the lower half. */
int64_t vpn_me_attach_any(uint32_t ni, uint32_t nid, uint32_t pid, uint64_t match_bits,
                          uint64_t ignore_bits, int32_t unlink);
int64_t vpn_me_insert(uint32_t base, uint32_t nid, uint32_t pid, uint64_t match_bits,
                      uint64_t ignore_bits, int32_t unlink, int32_t position);
int64_t vpn_md_attach(uint32_t me, uint64_t start, uint64_t length, int32_t threshold,
                      uint64_t max_size, uint32_t options, uint64_t user_ptr, uint32_t eq,
                      int32_t unlink);
int64_t vpn_md_bind(uint32_t ni, uint64_t start, uint64_t length, int32_t threshold,
                    uint64_t max_size, uint32_t options, uint64_t user_ptr, uint32_t eq,
                    int32_t unlink);
int64_t vpn_md_update(uint32_t md, uint64_t start, uint64_t length, int32_t threshold,
                      uint64_t max_size, uint32_t options, uint64_t user_ptr, uint32_t eq,
                      uint32_t test_eq);
/* An entry and its descriptor in one step; the value is the entry's handle. `words` is the address
 * of eight 64-bit words: start, length, threshold, max_size, options, user_ptr, eq and unlink of
 * the descriptor. The first is replaced by the descriptor's handle. */
int64_t vpn_memd_attach(uint32_t ni, uint32_t pt_index, uint32_t nid, uint32_t pid,
                        uint64_t match_bits, uint64_t ignore_bits, int32_t unlink, int32_t position,
                        uint64_t words);
int64_t vpn_memd_insert(uint32_t base, uint32_t nid, uint32_t pid, uint64_t match_bits,
                        uint64_t ignore_bits, int32_t unlink, int32_t position, uint64_t words);
int64_t vpn_memd_post(uint32_t ni, uint32_t base, uint32_t nid, uint32_t pid, uint64_t match_bits,
                      uint64_t ignore_bits, int32_t unlink, int32_t position, uint64_t words,
                      uint32_t test_eq);
/* The threshold that is left (THRESH_INF: UINT32_MAX). */
int64_t vpn_md_threshold(uint32_t md);
int64_t vpn_eq_alloc(uint32_t ni, uint64_t count);
/* Fills three 64-bit words: address of the header, of the slots, capacity. */
int64_t vpn_eq_view(uint32_t eq, uint64_t view);
/* Takes an event through the C library; `event` is the address of a ptl_event_t. 0, or 1 when
 * events were dropped before it. */
int64_t vpn_eq_get(uint32_t eq, uint64_t event);

/* ---- data movement; the value is PTL_EXT_DELIVERED and friends; target is nid << 32 | pid ---- */

int32_t vpn_put(uint32_t md, uint64_t local_offset, uint64_t length, int32_t ack, uint64_t target,
                uint32_t pt_index, uint32_t ac_index, uint64_t match_bits, uint64_t remote_offset,
                uint64_t hdr_data);
int32_t vpn_get(uint32_t md, uint64_t local_offset, uint64_t length, uint64_t target,
                uint32_t pt_index, uint32_t ac_index, uint64_t match_bits, uint64_t remote_offset);
int32_t vpn_get_put(uint32_t get_md, uint32_t put_md, uint64_t target, uint32_t pt_index,
                    uint32_t ac_index, uint64_t match_bits, uint64_t remote_offset,
                    uint64_t hdr_data);
/* `length` bytes of both descriptors. */
int32_t vpn_get_put_region(uint32_t get_md, uint64_t get_offset, uint32_t put_md,
                           uint64_t put_offset, uint64_t length, uint64_t target, uint32_t pt_index,
                           uint32_t ac_index, uint64_t match_bits, uint64_t remote_offset,
                           uint64_t hdr_data);

/* ---- the interface ---- */

/* nid << 32 | pid */
int64_t vpn_id(uint32_t ni);
int64_t vpn_uid(uint32_t ni);
int64_t vpn_jid(uint32_t ni);
/* Low 63 bits of the register. */
int64_t vpn_status(uint32_t ni, uint32_t sr_index);
int64_t vpn_distance(uint32_t ni, uint64_t target);
int64_t vpn_ac_entry(uint32_t ni, uint32_t ac_index, uint32_t nid, uint32_t pid, uint32_t uid,
                     uint32_t jid, uint32_t pt_index);
int64_t vpn_memory_alloc(uint32_t ni, uint64_t length, uint32_t flags);
int64_t vpn_memory_free(uint32_t ni, uint64_t address);
int64_t vpn_doorbell(uint32_t ni);
/* Writes 64 bits to the address. */
int64_t vpn_incarnation(uint32_t ni, uint64_t to);
/* PTL_EXT_ALIVE and friends; writes the incarnation, 64 bits, to the address. */
int64_t vpn_peer_state(uint32_t ni, uint64_t target, uint64_t to);
int64_t vpn_peer_pin(uint32_t ni, uint64_t target, uint64_t incarnation);
int64_t vpn_peer_forget(uint32_t ni, uint64_t target);

#ifdef __cplusplus
}
#endif
#endif
