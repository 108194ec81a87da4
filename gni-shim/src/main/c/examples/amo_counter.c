/*
 * Everybody draws numbers from a counter in rank 0's memory by fetching atomic additions; no number
 * is drawn twice. Then rank 0's memory is swapped once by whoever comes first.
 *
 *     cc amo_counter.c -lugni -lpmi -o amo_counter && gni-run -n 4 ./amo_counter
 */
#include "example.h"

#define DRAWS 1000

struct about {
    uint32_t address;
    uint64_t memory;
    gni_mem_handle_t handle;
};

/* What was there before. */
static uint64_t atomic(gni_ep_handle_t ep, gni_cq_handle_t cq, gni_post_descriptor_t *d,
                       gni_fma_cmd_type_t command, uint64_t first, uint64_t second)
{
    d->amo_cmd = command;
    d->first_operand = first;
    d->second_operand = second;
    CHECK(GNI_PostFma(ep, d));
    return *(uint64_t *)(uintptr_t)wait_post(cq)->local_addr;
}

int main(void)
{
    static uint64_t memory[3]
        __attribute__((aligned(64))); /* counter, first comer, what is fetched */
    struct job job;
    struct about about;
    gni_mem_handle_t handle;
    gni_cq_handle_t cq;
    gni_ep_handle_t ep;
    gni_post_descriptor_t d;
    uint64_t sum = 0, *sums, all = 0, last = 0;

    open_job(&job);
    CHECK(GNI_CqCreate(job.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &cq));
    CHECK(GNI_MemRegister(job.nic, address_of(memory), sizeof(memory), NULL, GNI_MEM_READWRITE,
                          (uint32_t)-1, &handle));
    memset(&about, 0, sizeof(about));
    about.address = job.address;
    about.memory = address_of(memory);
    about.handle = handle;
    PMI_Bcast(&about, sizeof(about));
    ep = bind_to(&job, cq, about.address, 0);
    memset(&d, 0, sizeof(d));
    d.type = GNI_POST_AMO;
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    d.local_addr = address_of(&memory[2]);
    d.local_mem_hndl = handle;
    d.remote_addr = about.memory;
    d.remote_mem_hndl = about.handle;
    d.length = sizeof(uint64_t);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t drawn = atomic(ep, cq, &d, GNI_FMA_ATOMIC_FADD, 1, 0);

        if (i > 0 && drawn <= last)
            PMI_Abort(1, "numbers must rise");
        last = drawn;
        sum += drawn;
    }
    d.remote_addr += sizeof(uint64_t);
    if (atomic(ep, cq, &d, GNI_FMA_ATOMIC_CSWAP, 0, (uint64_t)job.rank + 1) == 0)
        printf("rank %d came first\n", job.rank);
    sums = (uint64_t *)calloc((size_t)job.size, sizeof(*sums));
    PMI_Allgather(&sum, sums, sizeof(sum));
    for (int i = 0; i < job.size; i++)
        all += sums[i];
    uint64_t count = (uint64_t)job.size * DRAWS;
    if (all != count * (count - 1) / 2)
        PMI_Abort(1, "a number was drawn twice, or not at all");
    if (job.rank == 0)
        printf("%llu numbers, each drawn once; the counter is %llu\n", (unsigned long long)count,
               (unsigned long long)memory[0]);
    close_job(&job);
    free(sums);
    return 0;
}
