/* The attributes of a mailbox in the memory of a NIC handle. */
#ifndef MAILBOX_H
#define MAILBOX_H
#include "check.h"

static inline gni_smsg_attr_t mailbox_at(const struct node *n, gni_smsg_type_t type,
                                         uint32_t offset, uint16_t credits, uint32_t maxsize)
{
    gni_smsg_attr_t attr;

    memset(&attr, 0, sizeof(attr));
    attr.msg_type = type;
    attr.msg_buffer = n->memory;
    attr.buff_size = MEMORY_BYTES;
    attr.mem_hndl = n->handle;
    attr.mbox_offset = offset;
    attr.mbox_maxcredit = credits;
    attr.msg_maxsize = maxsize;
    return attr;
}

#endif
