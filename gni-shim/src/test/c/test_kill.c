/* Initiators killed at every labelled step of what they do: nothing half-done is seen, nobody else
 * is kept from anything. */
#define _GNU_SOURCE
#include "mailbox.h"
#include "softnic.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 4u
#define DONE_PUTS 1
#define DONE_AMOS 2
#define DONE_SENDS 3

static struct node target;
static const char *deadly_label;
static long deadly_count;
static uint32_t instance;

static void step(const char *label)
{
    if (strcmp(label, deadly_label) == 0 && --deadly_count == 0)
        kill(getpid(), SIGKILL);
}

static void counted(int what)
{
    __atomic_fetch_add(&shared->number[what], 1, __ATOMIC_RELEASE);
}

/* Puts, adds, sends, and a datagram. Each is counted once it is done. */
static void script(void)
{
    struct node me, far = {0};
    gni_smsg_attr_t mine;
    gni_post_state_t state;
    uint8_t message[128], in[128];
    uint32_t pe, inst;

    far.handle = shared->handle[0];
    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    node_open(&me, instance, 0, 0);
    OK(GNI_EpBind(me.ep, me.pe, 1));
    mine = mailbox_at(&me, GNI_SMSG_TYPE_MBOX, 4096, TIMES, 128);
    shared->attr[instance] = mine;
    OK(GNI_SmsgInit(me.ep, &mine, &shared->attr[0]));
    snic_step_hook = step;
    for (uint32_t i = 0; i < TIMES; i++) {
        gni_post_descriptor_t d = transaction(GNI_POST_RDMA_PUT, &me, &far, 512);

        memset(me.memory, (int)(instance * 16 + i), 512);
        d.remote_addr += 65536;
        d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
        OK(post_and_wait(&me, &d));
        counted(DONE_PUTS);
    }
    for (uint32_t i = 0; i < TIMES; i++) {
        gni_post_descriptor_t d = transaction(GNI_POST_AMO, &me, &far, 8);

        d.amo_cmd = GNI_FMA_ATOMIC_ADD;
        d.first_operand = 1;
        OK(post_and_wait(&me, &d));
        counted(DONE_AMOS);
    }
    for (uint32_t i = 0; i < TIMES; i++) {
        gni_cq_entry_t entry;

        memset(message, (int)(i + 1), sizeof(message));
        OK(GNI_SmsgSend(me.ep, message, 128, NULL, 0, i));
        OK(next_event(me.cq, &entry));
        counted(DONE_SENDS);
    }
    OK(GNI_EpPostData(me.ep, message, 100, in, 128));
    OK(GNI_EpPostDataWait(me.ep, 30000, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
    snic_step_hook = NULL;
    node_close(&me);
}

/* What the initiator `inst` left: whole messages in order, whole puts, as many as were told. */
static void look_at(gni_ep_handle_t ep, uint64_t adds_before, int was_killed)
{
    uint64_t adds = *(uint64_t *)(void *)target.memory - adds_before;
    uint64_t puts = shared->number[DONE_PUTS], sends = 0, slack = was_killed ? 1 : 0;
    uint64_t events = 0;
    gni_cq_entry_t entry;
    gni_return_t code;
    void *message;

    CHECK(adds == shared->number[DONE_AMOS] || adds == shared->number[DONE_AMOS] + slack);
    while (GNI_SmsgGetNext(ep, &message) == GNI_RC_SUCCESS) {
        for (int k = 0; k < 128; k++)
            CHECK_EQ(sends + 1, ((uint8_t *)message)[k]);
        sends++;
        OK(GNI_SmsgRelease(ep));
    }
    CHECK(sends == shared->number[DONE_SENDS] || sends == shared->number[DONE_SENDS] + slack);
    while ((code = GNI_CqGetEvent(target.dst, &entry)) != GNI_RC_NOT_DONE) {
        OK(code);
        events++;
    }
    CHECK(events >= puts + shared->number[DONE_SENDS] && events <= puts + sends + slack);
}

/* One initiator; returns whether it died of its own hand. */
static int round_of(uint32_t inst)
{
    uint64_t adds = *(uint64_t *)(void *)target.memory;
    gni_ep_handle_t ep, open;
    gni_smsg_attr_t mine =
        mailbox_at(&target, GNI_SMSG_TYPE_MBOX, 131072 + inst % 2 * 65536, TIMES, 128);
    uint8_t in[128];
    int state, died;
    pid_t pid;

    instance = inst;
    memset(target.memory + mine.mbox_offset, 0, 65536);
    memset(shared->number + 1, 0, 3 * sizeof(*shared->number));
    shared->attr[0] = mine;
    OK(GNI_EpCreate(target.nic, NULL, &ep));
    OK(GNI_EpBind(ep, target.pe, inst));
    OK(GNI_EpCreate(target.nic, NULL, &open));
    OK(GNI_EpPostDataWId(open, in, 100, in, 128, inst));
    pid = start(script);
    CHECK(waitpid(pid, &state, 0) == pid);
    died = WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL;
    CHECK(died || (WIFEXITED(state) && WEXITSTATUS(state) == 0));
    OK(GNI_SmsgInit(ep, &mine, &shared->attr[inst]));
    look_at(ep, adds, died);
    OK(GNI_EpDestroy(open));
    OK(GNI_EpDestroy(ep));
    return died;
}

static void killed_anywhere(void)
{
    static const char *const label[] = {
        "pin.stored",          "pin.checked",       "put.copied",       "put.unpinned",
        "gni.post.moved",      "gni.event.stored",  "ring.counted",     "gni.amo.read",
        "lock.acquired",       "unlock.before",     "gni.smsg.written", "gni.smsg.published",
        "gni.datagram.filled", "gni.datagram.state"};
    int deaths = 0;

    node_open(&target, 1, 0, 0);
    shared->handle[0] = target.handle;
    shared->number[0] = (uint64_t)(uintptr_t)target.memory;
    for (unsigned i = 0; i < sizeof(label) / sizeof(*label); i++)
        for (long n = 1; n <= 3; n += 2) {
            deadly_label = label[i];
            deadly_count = n;
            deaths += round_of(2);
        }
    CHECK(deaths >= (int)(sizeof(label) / sizeof(*label)));
    deadly_label = "";
    CHECK_EQ(0, round_of(3)); /* and nothing keeps the next one from anything */
    node_close(&target);
}

static const struct check_case cases[] = {
    {"", "killed_anywhere", killed_anywhere},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
