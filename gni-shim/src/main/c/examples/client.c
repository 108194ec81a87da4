/* A client of service.c, where it is said how to start both. */
#include "service.h"

int main(void)
{
    static uint64_t numbers[NUMBERS];
    struct job job;
    struct greeting mine, theirs;
    gni_cq_handle_t posted, arrived;
    gni_ep_handle_t ep;
    gni_post_state_t state;
    gni_return_t code;
    uint64_t sum = 0, told;
    uint32_t pe, inst;
    void *message;

    open_job(&job);
    for (int i = 0; i < NUMBERS; i++)
        sum += numbers[i] = (uint64_t)(job.rank * 1000 + i);
    CHECK(GNI_CqCreate(job.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &posted));
    CHECK(GNI_CqCreate(job.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &arrived));
    memset(&mine, 0, sizeof(mine));
    mine.mailbox = make_mailbox(&job, 4, arrived);
    mine.numbers = address_of(numbers);
    CHECK(GNI_MemRegister(job.nic, mine.numbers, sizeof(numbers), NULL, GNI_MEM_READ_ONLY,
                          (uint32_t)-1, &mine.handle));
    ep = bind_to(&job, posted, job.address, 0); /* the service is instance 0 */
    CHECK(GNI_EpPostData(ep, &mine, sizeof(mine), &theirs, sizeof(theirs)));
    CHECK(GNI_EpPostDataWait(ep, 60000, &state, &pe, &inst));
    if (state != GNI_POST_COMPLETED)
        PMI_Abort(1, "the service did not answer");
    CHECK(GNI_SmsgInit(ep, &mine.mailbox, &theirs.mailbox));
    while ((code = GNI_SmsgGetNext(ep, &message)) == GNI_RC_NOT_DONE)
        wait_event(arrived);
    check(code, "GNI_SmsgGetNext");
    memcpy(&told, message, sizeof(told));
    if (told != sum)
        PMI_Abort(1, "another sum");
    printf("client %d was told %llu\n", job.rank, (unsigned long long)told);
    close_job(&job);
    return 0;
}
