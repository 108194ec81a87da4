/* Entries of completion queues: fields, names of their status (specification, sections 4.1-4.3). */
#include "gni_library.h"
#include <stdio.h>
#include <string.h>

#define FIELD(entry, shift, bits) (((entry) >> (shift)) & ((1ull << (bits)) - 1))

static void set_field(gni_cq_entry_t *entry, unsigned shift, unsigned bits, uint64_t value)
{
    uint64_t mask = ((1ull << bits) - 1) << shift;

    *entry = (*entry & ~mask) | (value << shift & mask);
}

uint64_t gni_cq_get_data(gni_cq_entry_t entry)
{
    return entry & GNI_ENTRY_DATA;
}

uint64_t gni_cq_get_source(gni_cq_entry_t entry)
{
    return FIELD(entry, 56, 3);
}

uint64_t gni_cq_get_status(gni_cq_entry_t entry)
{
    return FIELD(entry, 59, 4);
}

uint64_t gni_cq_get_info(gni_cq_entry_t entry)
{
    (void)entry; /* of Aries only */
    return 0;
}

uint64_t gni_cq_overrun(gni_cq_entry_t entry)
{
    return entry >> 63;
}

uint64_t gni_cq_rem_overrun(gni_cq_entry_t entry)
{
    (void)entry;
    return 0;
}

uint64_t gni_cq_get_inst_id(gni_cq_entry_t entry)
{
    return FIELD(entry, 0, 32);
}

uint64_t gni_cq_get_rem_inst_id(gni_cq_entry_t entry)
{
    return FIELD(entry, 0, 32);
}

uint64_t gni_cq_get_tid(gni_cq_entry_t entry)
{
    return FIELD(entry, 32, 22);
}

uint64_t gni_cq_get_msg_id(gni_cq_entry_t entry)
{
    return FIELD(entry, 0, 32);
}

uint64_t gni_cq_get_type(gni_cq_entry_t entry)
{
    return FIELD(entry, 54, 2);
}

/* Fields that only Aries' own messages and collectives have. */
#define NEVER(name)                                                                                \
    uint64_t name(gni_cq_entry_t entry)                                                            \
    {                                                                                              \
        (void)entry;                                                                               \
        return 0;                                                                                  \
    }
NEVER(gni_cq_get_block_id)
NEVER(gni_cq_get_unsuccessful_cnt)
NEVER(gni_cq_get_marker_id)
NEVER(gni_cq_get_failed_enqueue_cnt)
NEVER(gni_cq_get_trans_type)

/* Of a reduction's event: its channel, and the low 22 bits of what the leaves named it. */
uint64_t gni_cq_get_ce_id(gni_cq_entry_t entry)
{
    return gni_cq_get_source(entry) == GNI_SOURCE_CE ? FIELD(entry, 0, 32) : 0;
}

uint64_t gni_cq_get_reductn_id(gni_cq_entry_t entry)
{
    return gni_cq_get_source(entry) == GNI_SOURCE_CE ? FIELD(entry, 32, 22) : 0;
}

unsigned gni_cq_status_dla_overflow(gni_cq_entry_t entry)
{
    (void)entry;
    return 0;
}

unsigned gni_cq_bte_enq_status(gni_cq_entry_t entry)
{
    (void)entry;
    return 0;
}

void gni_cq_set_inst_id(gni_cq_entry_t *entry, uint64_t value)
{
    set_field(entry, 0, 32, value);
}

void gni_cq_set_rem_inst_id(gni_cq_entry_t *entry, uint64_t value)
{
    set_field(entry, 0, 32, value);
}

void gni_cq_set_tid(gni_cq_entry_t *entry, uint64_t value)
{
    set_field(entry, 32, 22, value);
}

void gni_cq_set_msg_id(gni_cq_entry_t *entry, uint64_t value)
{
    set_field(entry, 0, 32, value);
}

void gni_cq_set_type(gni_cq_entry_t *entry, uint64_t value)
{
    set_field(entry, 54, 2, value);
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
