/* What service.c and client.c say to each other. */
#ifndef SERVICE_H
#define SERVICE_H

#include "example.h"

#define NUMBERS 1024

struct greeting { /* 80 bytes: a datagram takes 128 */
    gni_smsg_attr_t mailbox;
    uint64_t numbers;
    gni_mem_handle_t handle;
};

static inline gni_smsg_attr_t make_mailbox(struct job *job, gni_cq_handle_t arrived)
{
    gni_smsg_attr_t mailbox;
    unsigned size;

    memset(&mailbox, 0, sizeof(mailbox));
    mailbox.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
    mailbox.mbox_maxcredit = 4;
    mailbox.msg_maxsize = 64;
    CHECK(GNI_SmsgBufferSizeNeeded(&mailbox, &size));
    mailbox.buff_size = size;
    mailbox.msg_buffer = calloc(1, size);
    CHECK(GNI_MemRegister(job->nic, address_of(mailbox.msg_buffer), size, arrived,
                          GNI_MEM_READWRITE, (uint32_t)-1, &mailbox.mem_hndl));
    return mailbox;
}

static inline void free_mailbox(struct job *job, gni_smsg_attr_t *mailbox)
{
    CHECK(GNI_MemDeregister(job->nic, &mailbox->mem_hndl));
    free(mailbox->msg_buffer);
}

#endif
