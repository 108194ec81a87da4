/* Prototypes of the calls that portals3.h shows in the CRAY flavour only; the library itself is
 * compiled as REF. */
#ifndef P3_CRAY_H
#define P3_CRAY_H

#include "include/portals3.h"

#pragma GCC visibility push(default)

int PtlGetPutRegion(ptl_handle_md_t get_md_handle, ptl_size_t local_offset_get,
                    ptl_handle_md_t put_md_handle, ptl_size_t local_offset_put, ptl_size_t length,
                    ptl_process_id_t target_id, ptl_pt_index_t pt_index, ptl_ac_index_t ac_index,
                    ptl_match_bits_t match_bits, ptl_size_t remote_offset, ptl_hdr_data_t hdr_data);
int PtlMEMDAttach(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, ptl_process_id_t match_id,
                  ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t me_unlink,
                  ptl_ins_pos_t position, ptl_md_t md, ptl_unlink_t md_unlink,
                  ptl_handle_me_t *me_handle, ptl_handle_md_t *md_handle);
int PtlMEMDInsert(ptl_handle_me_t base, ptl_process_id_t match_id, ptl_match_bits_t match_bits,
                  ptl_match_bits_t ignore_bits, ptl_unlink_t me_unlink, ptl_ins_pos_t position,
                  ptl_md_t md, ptl_unlink_t md_unlink, ptl_handle_me_t *me_handle,
                  ptl_handle_md_t *md_handle);
int PtlMEMDPost(ptl_handle_ni_t ni_handle, ptl_handle_me_t base, ptl_process_id_t match_id,
                ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t me_unlink,
                ptl_ins_pos_t position, ptl_md_t md, ptl_unlink_t md_unlink,
                ptl_handle_me_t *me_handle, ptl_handle_md_t *md_handle, ptl_handle_eq_t testeq);
int PtlEQPeek(ptl_handle_eq_t eq_handle, ptl_event_t *event);
int PtlNIInit_cray(ptl_interface_t iface, uint16_t pid, ptl_ni_limits_t *desired,
                   ptl_ni_limits_t *actual, ptl_handle_ni_t *ni_handle);

#pragma GCC visibility pop

#endif
