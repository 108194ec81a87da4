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

static inline void free_mailbox(struct job *job, gni_smsg_attr_t *mailbox)
{
    CHECK(GNI_MemDeregister(job->nic, &mailbox->mem_hndl));
    free(mailbox->msg_buffer);
}

#endif
