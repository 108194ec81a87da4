/* What every one of these programs begins with: its rank, and a NIC handle in the protection domain
 * that the launcher names in the environment. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <gni_pub.h>
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    int rank, size;
    uint32_t address; /* of the NIC */
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
};

static inline void check(gni_return_t code, const char *what)
{
    if (code == GNI_RC_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", what, gni_err_str[code]);
    PMI_Abort(1, what);
}
#define CHECK(call) check(call, #call)

static inline uint64_t address_of(const void *memory)
{
    return (uint64_t)(uintptr_t)memory;
}

/* Of several values, separated by colons, the first. */
static inline unsigned long from_environment(const char *name)
{
    const char *text = getenv(name);

    if (text == NULL) {
        fprintf(stderr, "%s is not set: start this program by gni-run\n", name);
        exit(2);
    }
    return strtoul(text, NULL, 10);
}

static inline void join_job(struct job *job)
{
    int spawned;

    from_environment("PMI_GNI_PTAG");
    if (PMI_Init(&spawned) != PMI_SUCCESS || PMI_Get_rank(&job->rank) != PMI_SUCCESS ||
        PMI_Get_size(&job->size) != PMI_SUCCESS)
        exit(2);
}

static inline void attach(struct job *job, uint32_t instance)
{
    uint8_t ptag = (uint8_t)from_environment("PMI_GNI_PTAG");
    uint32_t cookie = (uint32_t)from_environment("PMI_GNI_COOKIE");

    CHECK(GNI_CdmCreate(instance, ptag, cookie, GNI_CDM_MODE_FORK_FULLCOPY, &job->cdm));
    CHECK(GNI_CdmAttach(job->cdm, (uint32_t)from_environment("PMI_GNI_DEV_ID"), &job->address,
                        &job->nic));
}

/* The instance is the rank. */
static inline void open_job(struct job *job)
{
    join_job(job);
    attach(job, (uint32_t)job->rank);
}

static inline void close_job(struct job *job)
{
    PMI_Barrier(); /* nobody needs our memory any more */
    CHECK(GNI_CdmDestroy(job->cdm));
    PMI_Finalize();
}

/* The next event, slept for at most a minute. */
static inline gni_cq_entry_t wait_event(gni_cq_handle_t cq)
{
    gni_cq_entry_t entry = 0;

    CHECK(GNI_CqWaitEvent(cq, 60000, &entry));
    return entry;
}

/* The post that the next event of a source queue is about. */
static inline gni_post_descriptor_t *wait_post(gni_cq_handle_t cq)
{
    gni_post_descriptor_t *done = NULL;

    CHECK(GNI_GetCompleted(cq, wait_event(cq), &done));
    return done;
}

/* An endpoint bound to that instance at that address. */
static inline gni_ep_handle_t bind_to(struct job *job, gni_cq_handle_t cq, uint32_t address,
                                      uint32_t instance)
{
    gni_ep_handle_t ep;

    CHECK(GNI_EpCreate(job->nic, cq, &ep));
    CHECK(GNI_EpBind(ep, address, instance));
    return ep;
}

/* In memory of its own, of messages of 64 bytes. Each rings `arrived`, if that is not NULL. */
static inline gni_smsg_attr_t make_mailbox(struct job *job, uint16_t credits,
                                           gni_cq_handle_t arrived)
{
    gni_smsg_attr_t mailbox;
    unsigned size;

    memset(&mailbox, 0, sizeof(mailbox));
    mailbox.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
    mailbox.mbox_maxcredit = credits;
    mailbox.msg_maxsize = 64;
    CHECK(GNI_SmsgBufferSizeNeeded(&mailbox, &size));
    mailbox.buff_size = size;
    mailbox.msg_buffer = calloc(1, size);
    CHECK(GNI_MemRegister(job->nic, address_of(mailbox.msg_buffer), size, arrived,
                          GNI_MEM_READWRITE, (uint32_t)-1, &mailbox.mem_hndl));
    return mailbox;
}

#endif
