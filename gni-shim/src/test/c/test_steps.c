/* Targets killed at every labelled step of what they do: whoever used them goes on, nothing
 * half-done is delivered, what they leave behind is sound, and their successor is reached. */
#define _GNU_SOURCE
#include "mailbox.h"
#include "area_check.h"
#include "gni_steps.h"
#include "softnic_layout.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 3u
#define CREDITS 4u
#define PIECE 256u

/* What each side tells the other one. */
enum flag { OPEN = 1, CONNECTED = 2, DONE = 3, LEAVE = 4 };

static struct node a, b;
static gni_ep_handle_t datagrams;
static const char *deadly_label;
static long deadly_count;
static int mapped;

static void die(const char *label)
{
    if (strcmp(label, deadly_label) == 0 && --deadly_count == 0)
        kill(getpid(), SIGKILL);
}

/* ---- the one who dies ---- */

static uint64_t received;

static void receive_all(void)
{
    gni_cq_entry_t entry;
    void *message;

    while (GNI_CqGetEvent(b.dst, &entry) == GNI_RC_SUCCESS)
        ;
    while (GNI_SmsgGetNext(b.ep, &message) == GNI_RC_SUCCESS) {
        received++;
        for (int i = 0; i < 128; i++) /* whole, and in order */
            if ((uint8_t)received != ((uint8_t *)message)[i])
                check_fail(__FILE__, __LINE__, "%s: message %u, byte %d is %u", deadly_label,
                           (unsigned)received, i, ((uint8_t *)message)[i]);
        OK(GNI_SmsgRelease(b.ep));
    }
}

static void exchange_one(void)
{
    uint8_t out[64], in[128];
    gni_post_state_t state = GNI_POST_PENDING;
    uint32_t pe, inst;

    memset(out, 9, sizeof(out));
    OK(GNI_EpPostData(datagrams, out, sizeof(out), in, sizeof(in)));
    for (int i = 0; i < 3000 && state == GNI_POST_PENDING; i++) {
        OK(GNI_EpPostDataTest(datagrams, &state, &pe, &inst));
        if (state == GNI_POST_PENDING)
            sleep_ms(1);
    }
    CHECK_EQ(GNI_POST_COMPLETED, state);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(8, in[i]);
}

/* The piece of each round, with an event that tells of it. */
static void put_one(uint32_t round)
{
    struct node far = {0};
    gni_post_descriptor_t d;

    far.memory = (uint8_t *)(uintptr_t)shared->number[1];
    far.handle = shared->handle[1];
    d = transaction(GNI_POST_RDMA_PUT, &b, &far, PIECE);
    d.local_addr += 131072;
    d.remote_addr += 131072 + round * PIECE;
    d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
    memset(b.memory + 131072, (int)(round + 1), PIECE);
    OK(post_and_wait(&b, &d));
}

static void send_one(uint32_t round)
{
    uint8_t text[128];
    gni_cq_entry_t entry;

    memset(text, (int)(100 + round), sizeof(text));
    OK(GNI_SmsgSend(b.ep, text, sizeof(text), NULL, 0, 1));
    OK(next_event(b.cq, &entry));
}

static void target(void)
{
    gni_smsg_attr_t mine;
    gni_mem_handle_t extra;

    node_open(&b, 2, 0, mapped);
    OK(GNI_EpBind(b.ep, b.pe, 1));
    OK(GNI_EpCreate(b.nic, NULL, &datagrams));
    OK(GNI_EpBind(datagrams, b.pe, 1));
    shared->handle[0] = b.handle;
    shared->number[0] = (uint64_t)(uintptr_t)b.memory;
    shared->attr[0] = mine = mailbox_at(&b, GNI_SMSG_TYPE_MBOX, 0, CREDITS, 128);
    set_flag(OPEN, 1);
    await_flag(CONNECTED, 1);
    OK(GNI_SmsgInit(b.ep, &mine, &shared->attr[1]));
    snic_step_hook = die;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)b.memory, 4096, b.dst, 0, (uint32_t)-1,
                           &extra));
        put_one(i);
        for (uint64_t until = received + 3; received < until;)
            receive_all();
        exchange_one();
        send_one(i);
        OK(GNI_MemDeregister(b.nic, &extra));
    }
    snic_step_hook = NULL;
    set_flag(DONE, 1);
    await_flag(LEAVE, 1);
}

/* ---- the one who goes on ---- */

static struct node far_node(void)
{
    struct node far = {0};

    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    far.handle = shared->handle[0];
    return far;
}

static uint64_t sent;
static int is_exchanging;
static uint8_t datagram_in[128];

static void fetch_all(void)
{
    gni_post_descriptor_t *done;
    gni_cq_entry_t entry;

    while (GNI_CqGetEvent(a.cq, &entry) != GNI_RC_NOT_DONE)
        if (gni_cq_get_type(entry) == GNI_CQ_EVENT_TYPE_POST)
            (void)GNI_GetCompleted(a.cq, entry, &done);
}

/* Whole, and in order. */
static uint64_t answers;

static void receive_answers(void)
{
    void *message;

    while (GNI_SmsgGetNext(a.ep, &message) == GNI_RC_SUCCESS) {
        for (int i = 0; i < 128; i++)
            CHECK_EQ(100 + answers, ((uint8_t *)message)[i]);
        answers++;
        OK(GNI_SmsgRelease(a.ep));
    }
}

/* One of each; answers whether the target is still there. */
static int use(void)
{
    struct node far = far_node();
    gni_post_descriptor_t d = transaction(GNI_POST_FMA_PUT, &a, &far, PIECE);
    gni_post_state_t state;
    uint8_t out[128];
    uint32_t pe, inst;
    gni_return_t code;

    fetch_all();
    receive_answers();
    d.remote_addr += 262144;
    d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
    code = post_and_wait(&a, &d);
    memset(out, (int)(uint8_t)(sent + 1), sizeof(out));
    if (GNI_SmsgSend(a.ep, out, 128, NULL, 0, 1) == GNI_RC_SUCCESS)
        sent++;
    memset(out, 8, sizeof(out));
    if (!is_exchanging && GNI_EpPostData(datagrams, out, 64, datagram_in, 128) == GNI_RC_SUCCESS)
        is_exchanging = 1;
    if (is_exchanging && GNI_EpPostDataTest(datagrams, &state, &pe, &inst) == GNI_RC_SUCCESS &&
        state != GNI_POST_PENDING) {
        is_exchanging = 0;
        for (int i = 0; state == GNI_POST_COMPLETED && i < 64; i++)
            CHECK_EQ(9, datagram_in[i]);
    }
    return code == GNI_RC_SUCCESS;
}

/* As many whole pieces as events told. */
static void look_at_pieces(void)
{
    gni_cq_entry_t entry;
    uint32_t told = 0;
    gni_return_t code;

    while ((code = GNI_CqGetEvent(a.dst, &entry)) != GNI_RC_NOT_DONE) {
        OK(code);
        /* Messages' credits come with events, too; the pieces come in order. */
        while (told < ROUNDS && a.memory[131072 + told * PIECE] == told + 1 &&
               a.memory[131072 + told * PIECE + PIECE - 1] == told + 1)
            told++;
    }
    for (uint32_t i = 0; i < told; i++)
        for (uint32_t k = 0; k < PIECE; k++)
            CHECK_EQ(i + 1, a.memory[131072 + i * PIECE + k]);
}

static uint8_t *map_file(const char *path, uint64_t *bytes)
{
    int fd = open(path, O_RDWR);
    struct stat st;
    void *at;

    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    *bytes = (uint64_t)st.st_size;
    at = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(at != MAP_FAILED);
    close(fd);
    return at;
}

/* The dead one's segment, as it lies there. */
static void look_at_remains(void)
{
    char path[512], ring_path[600], text[512] = "";
    struct gni_findings f = {text, sizeof(text), 0, 0};
    uint64_t bytes, ring_bytes;
    struct gni_view view;
    uint8_t *segment;

    snprintf(path, sizeof(path), "%s/verbena-%u/gni-%u-%08x/%x.2", getenv("GNI_SHIM_DIR"),
             (unsigned)geteuid(), PTAG, COOKIE, a.pe);
    segment = map_file(path, &bytes);
    CHECK_EQ(0, gni_view_open(&view, segment + ((struct snic_header *)(void *)segment)->area_offset,
                              ((struct snic_header *)(void *)segment)->area_bytes));
    gni_area_check(&view, &f);
    if (atomic_load(&view.mdh[0].generation) & 1) {
        struct gni_ring *ring;

        snprintf(ring_path, sizeof(ring_path), "%s+m%u", path, view.mdh[0].ring.memory & 0xffffu);
        ring = (struct gni_ring *)(void *)map_file(ring_path, &ring_bytes);
        gni_ring_check(ring, ring_bytes, &f);
        munmap(ring, ring_bytes);
    }
    munmap(segment, bytes);
    if (f.count != 0)
        check_fail(__FILE__, __LINE__, "%s: %s", deadly_label, text);
}

static void expect_sound(void)
{
    char text[512];

    if (nic_check(a.nic, text, sizeof(text)) != 0)
        check_fail(__FILE__, __LINE__, "%s: %s", deadly_label, text);
}

static void connect_to_it(void)
{
    gni_smsg_attr_t mine = mailbox_at(&a, GNI_SMSG_TYPE_MBOX, 0, CREDITS, 128);

    memset(a.memory, 0, MEMORY_BYTES);
    OK(GNI_EpCreate(a.nic, a.cq, &a.ep));
    OK(GNI_EpBind(a.ep, a.pe, 2));
    OK(GNI_EpCreate(a.nic, NULL, &datagrams));
    OK(GNI_EpBind(datagrams, a.pe, 2));
    shared->attr[1] = mine;
    shared->handle[1] = a.handle;
    shared->number[1] = (uint64_t)(uintptr_t)a.memory;
    OK(GNI_SmsgInit(a.ep, &mine, &shared->attr[0]));
    sent = answers = 0;
    is_exchanging = 0;
    set_flag(CONNECTED, 1);
}

/* Posts to the dead end with errors soon, and so do messages. */
static void expect_it_gone(void)
{
    gni_cq_entry_t entry;
    gni_return_t code;
    uint8_t out[8] = {0};
    int tries = 0;

    for (; use(); sleep_ms(1)) /* in mapped memory looked for twenty times a second */
        if (++tries > 5000)
            check_fail(__FILE__, __LINE__, "%s: still there", deadly_label);
    fetch_all();
    /* Without credits it is known to be gone when that is looked for. */
    while ((code = GNI_SmsgSend(a.ep, out, 8, NULL, 0, 1)) == GNI_RC_NOT_DONE && ++tries < 5000)
        sleep_ms(1);
    CODE(GNI_RC_SUCCESS, code);
    CODE(GNI_RC_TRANSACTION_ERROR, GNI_CqGetEvent(a.cq, &entry));
}

/* Answers whether the target died of its own hand. */
static int one_life(const char *label, long count)
{
    int state, died = 0;
    pid_t pid;

    deadly_label = label;
    deadly_count = count;
    for (int i = OPEN; i <= LEAVE; i++)
        set_flag(i, 0);
    pid = start(target);
    await_flag(OPEN, 1);
    connect_to_it();
    while (!died && !__atomic_load_n((uint32_t *)&shared->flag[DONE], __ATOMIC_ACQUIRE)) {
        (void)use();
        died = waitpid(pid, &state, WNOHANG) == pid;
    }
    set_flag(LEAVE, 1);
    if (!died)
        CHECK(waitpid(pid, &state, 0) == pid);
    CHECK(died ? WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL
               : WIFEXITED(state) && WEXITSTATUS(state) == 0);
    if (died) {
        look_at_remains();
        expect_it_gone();
    }
    look_at_pieces();
    expect_sound();
    OK(GNI_EpDestroy(a.ep));
    OK(GNI_EpDestroy(datagrams));
    fetch_all();
    expect_sound();
    return died;
}

#define LABEL(label) label,
static const char *const own_labels[] = {GNI_STEPS_OWN(LABEL) GNI_STEPS_REACH(LABEL)};
static const char *const softnic_labels[] = {
    "register.filled", "register.published", "deregister.revoked", "deregister.freed",
    "pin.stored",      "put.copied",         "lock.acquired",      "unlock.before",
    "unlock.after",    "ring.counted"};

static void target_killed_anywhere(void)
{
    int deaths = 0;

    node_open(&a, 1, 0, mapped);
    OK(GNI_EpDestroy(a.ep));
    for (unsigned i = 0; i < sizeof(own_labels) / sizeof(*own_labels); i++) {
        /* With memory that is mapped, the first time; with other memory, the second. */
        if (!one_life(own_labels[i], 2 - mapped))
            check_fail(__FILE__, __LINE__, "nobody passed %s", own_labels[i]);
    }
    for (unsigned i = 0; i < sizeof(softnic_labels) / sizeof(*softnic_labels); i++)
        deaths += one_life(softnic_labels[i], 1 + mapped);
    CHECK(deaths >= 7);
    CHECK_EQ(0, one_life("", 1)); /* and one that lives does everything */
    node_close(&a);
}

static void mapped_target(void)
{
    mapped = 1;
    target_killed_anywhere();
}

static void foreign_target(void)
{
    mapped = 0;
    target_killed_anywhere();
}

static const struct check_case cases[] = {
    {"", "mapped_target", mapped_target},
    {"", "foreign_target", foreign_target},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
