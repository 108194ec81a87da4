/* Entries of completion queues: fields, names of their status (specification, sections 4.1-4.3). */
#include "gni_library.h"
#include <stdio.h>
#include <string.h>

#define FIELD(entry, shift, bits) (((entry) >> (shift)) & ((1ull << (bits)) - 1))
#define READS(name, shift, bits)                                                                   \
    uint64_t name(gni_cq_entry_t entry)                                                            \
    {                                                                                              \
        return FIELD(entry, shift, bits);                                                          \
    }
#define WRITES(name, shift, bits)                                                                  \
    void name(gni_cq_entry_t *entry, uint64_t value)                                               \
    {                                                                                              \
        set_field(entry, shift, bits, value);                                                      \
    }
/* Fields that only Aries' own messages and collectives have. */
#define NEVER(type, name)                                                                          \
    type name(gni_cq_entry_t entry)                                                                \
    {                                                                                              \
        (void)entry;                                                                               \
        return 0;                                                                                  \
    }

static void set_field(gni_cq_entry_t *entry, unsigned shift, unsigned bits, uint64_t value)
{
    uint64_t mask = ((1ull << bits) - 1) << shift;

    *entry = (*entry & ~mask) | (value << shift & mask);
}

READS(gni_cq_get_data, 0, 56)
READS(gni_cq_get_inst_id, 0, 32)
READS(gni_cq_get_rem_inst_id, 0, 32)
READS(gni_cq_get_msg_id, 0, 32)
READS(gni_cq_get_tid, 32, 22)
READS(gni_cq_get_type, 54, 2)
READS(gni_cq_get_source, 56, 3)
READS(gni_cq_get_status, 59, 4)
READS(gni_cq_overrun, 63, 1)

WRITES(gni_cq_set_inst_id, 0, 32)
WRITES(gni_cq_set_rem_inst_id, 0, 32)
WRITES(gni_cq_set_msg_id, 0, 32)
WRITES(gni_cq_set_tid, 32, 22)
WRITES(gni_cq_set_type, 54, 2)

NEVER(uint64_t, gni_cq_get_info)
NEVER(uint64_t, gni_cq_rem_overrun)
NEVER(uint64_t, gni_cq_get_block_id)
NEVER(uint64_t, gni_cq_get_unsuccessful_cnt)
NEVER(uint64_t, gni_cq_get_marker_id)
NEVER(uint64_t, gni_cq_get_failed_enqueue_cnt)
NEVER(uint64_t, gni_cq_get_trans_type)
NEVER(unsigned, gni_cq_status_dla_overflow)
NEVER(unsigned, gni_cq_bte_enq_status)

/* Of a reduction's event: its channel, and the low 22 bits of what the leaves named it. */
uint64_t gni_cq_get_ce_id(gni_cq_entry_t entry)
{
    return gni_cq_get_source(entry) == GNI_SOURCE_CE ? gni_cq_get_inst_id(entry) : 0;
}

uint64_t gni_cq_get_reductn_id(gni_cq_entry_t entry)
{
    return gni_cq_get_source(entry) == GNI_SOURCE_CE ? gni_cq_get_tid(entry) : 0;
}

void gni_cq_clr_status(gni_cq_entry_t *entry)
{
    set_field(entry, 59, 4, 0);
}

/* ---- errors ---- */

static const char *const source_name[] = {"empty", "SSID_SREQ", "SSID_DREQ", "SSID_SRSP",
                                          "BTE",   "RMT_SREQ",  "RMT_DREQ",  "RMT_SRSP"};
static const char *const status_name[] = {"OKAY",
                                          "MISROUTED_PKT",
                                          "UNCORRECTABLE_ERR",
                                          "INV_CMD",
                                          "MALFORMED_PKT",
                                          "UNCORRECTABLE_TRANSLATION_ERR",
                                          "VMDH_INV",
                                          "MDD_INV",
                                          "PROTECTION_VIOLATION",
                                          "MEM_BOUNDS_ERR",
                                          "WRITE_PERMISSION_ERR",
                                          "REQUEST_TIMEOUT",
                                          "SOURCE_DEPENDENT_12",
                                          "SOURCE_DEPENDENT_13",
                                          "SOURCE_DEPENDENT_14",
                                          "SOURCE_DEPENDENT_15"};

gni_return_t GNI_CqErrorStr(gni_cq_entry_t entry, void *buffer, uint32_t len)
{
    char text[128];
    int length;

    if (buffer == NULL)
        return GNI_RC_INVALID_PARAM;
    length =
        snprintf(text, sizeof(text), "%s:%s%s", source_name[gni_cq_get_source(entry)],
                 status_name[gni_cq_get_status(entry)], gni_cq_overrun(entry) ? ":OVERRUN" : "");
    if (length < 0 || (uint32_t)length + 1 > len)
        return GNI_RC_SIZE_ERROR;
    memcpy(buffer, text, (size_t)length + 1);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_CqErrorRecoverable(gni_cq_entry_t entry, uint32_t *recoverable)
{
    uint64_t status = gni_cq_get_status(entry);

    if (recoverable == NULL)
        return GNI_RC_INVALID_PARAM;
    if (status == 0 || status == 1 || status == 15)
        return GNI_RC_INVALID_STATE;
    *recoverable = status == 10 || status == 11 || status == 13;
    return GNI_RC_SUCCESS;
}
