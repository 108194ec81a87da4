/*
 * Initiator and target killed at every labelled step, at every passage of it. The labels are read
 * from portals3_steps.h (steps-check holds that against the sources), so that a new step which no
 * story here passes is a failure. What must hold afterwards: nothing is left busy, every START has
 * its END, an unfinished operation ends as a failure, the invariant checker finds nothing, and the
 * others go on.
 */
#include "crash.h"

#include <sys/wait.h>
#include <unistd.h>

#define LABELS_MAX 80
#define LABEL_SIZE 32

static char labels[LABELS_MAX][LABEL_SIZE];
static int label_count, struck[LABELS_MAX];

/* Steps of softnic that Portals comes to. */
static const char *const softnic_labels[] = {
    "lock.acquired", "unlock.before",  "unlock.after",  "ring.counted",  "ring.woken",
    "attach.before", "attach.claimed", "attach.filled", "attach.in_use",
};

static void add_label(const char *label, size_t length)
{
    CHECK(label_count < LABELS_MAX && length < LABEL_SIZE);
    memcpy(labels[label_count], label, length);
    labels[label_count++][length] = '\0';
}

static void read_labels(int with_softnic)
{
    char line[512];
    FILE *file = fopen(PTL_STEPS_FILE, "r");

    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL)
        for (char *at = strstr(line, "\"ptl."); at != NULL; at = strstr(at, "\"ptl.")) {
            size_t length = strcspn(++at, "\"");

            add_label(at, length);
            at += length + 1;
        }
    fclose(file);
    CHECK(label_count > 20);
    for (size_t i = 0; with_softnic && i < sizeof(softnic_labels) / sizeof(softnic_labels[0]); i++)
        add_label(softnic_labels[i], strlen(softnic_labels[i]));
}

static void expect_every_label_struck(void)
{
    int all = 0;

    for (int i = 0; i < label_count; i++) {
        if (struck[i] == 0)
            check_fail(__FILE__, __LINE__, "nobody was killed at step %s: no story passes it",
                       labels[i]);
        all += struck[i];
    }
    printf("# %d steps, %d kills\n", label_count, all);
}

/* ---- two that need a third one ---- */

static void wait_at(const char *label)
{
    if (strcmp(label, fatal_label) == 0) {
        set_flag(1, 1);
        await_flag(2, 1);
    }
}

static void i_wait_in_put(void)
{
    fatal_label = "ptl.put.copy";
    snic_step_hook = wait_at;
    i_one_put_unhooked();
}

static void i_wait_in_getput(void)
{
    fatal_label = "ptl.getput.read";
    snic_step_hook = wait_at;
    i_one_getput_unhooked();
}

/* At the spinning for the exchange lock the getput that holds it is let go. */
static void strike_behind(const char *label)
{
    if (strcmp(label, "lock.spin") == 0)
        set_flag(2, 1);
    strike(label);
}

static void i_put_behind(void)
{
    snic_step_hook = strike_behind;
    i_one_put_unhooked();
}

/* first waits in its operation; second is killed at the label, while or after it waits for first.
 * Returns whether it was. */
static int kill_beside(void (*first)(void), void (*second)(void), const char *label, int passage)
{
    ptl_handle_md_t md;
    pid_t waiting;
    int died;

    set_flag(1, 0);
    set_flag(2, 0);
    md = post_at(PORTAL, BITS, make_md(bytes, sizeof(bytes), -1, BOTH | PTL_MD_MANAGE_REMOTE, eq),
                 PTL_UNLINK, NULL);
    waiting = initiator_start(first);
    await_flag(1, 1);
    fatal_label = label;
    fatal_passage = passage;
    died = initiator_join(initiator_start(second));
    set_flag(2, 1);
    CHECK_EQ(0, initiator_join(waiting));
    initiator_run(i_clean_put);
    await_quiet();
    expect_sound();
    for (struct tally t = drain(eq); t.starts != t.ends;)
        check_fail(__FILE__, __LINE__, "%s: %d STARTs, %d ENDs", label, t.starts, t.ends);
    OK(PtlMDUnlink(md));
    expect_sound();
    return died != 0;
}

/* ---- the initiator ---- */

static void initiator_killed_at_every_step(void)
{
    static void (*const bodies[])(void) = {i_one_put, i_long_put, i_one_get, i_one_getput};

    check_lock_timeout_ms = CHECK_PATIENT_MS;
    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
    post_at(PORTAL, BITS + 1,
            make_md(own_bytes, sizeof(own_bytes), -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE),
            PTL_RETAIN, NULL);
    read_labels(1);
    for (int i = 0; i < label_count; i++) {
        for (size_t k = 0; k < 2 * sizeof(bodies) / sizeof(bodies[0]); k++) {
            with_own_queue = k % 2 == 1;
            for (int passage = 1; kill_at(bodies[k / 2], labels[i], passage, passage % 2);
                 passage++)
                struck[i]++;
        }
        with_own_queue = 0;
        if (strcmp(labels[i], "ptl.getput.wait") == 0)
            struck[i] += kill_beside(i_wait_in_put, i_one_getput, labels[i], 2);
        if (strcmp(labels[i], "ptl.request.behind") == 0)
            struck[i] += kill_beside(i_wait_in_getput, i_put_behind, labels[i], 1);
    }
    expect_every_label_struck();
    CHECK_EQ(1, status(PTL_SR_MDS_CUR));
    CHECK_EQ(1, status(PTL_SR_MES_CUR));
}

/* ---- the target ---- */

/* Puts, gets and getputs to itself, so that it dies in its own segment, with its own lock, while
 * others put into it. */
static void be_killed_in_own_calls(void)
{
    ptl_handle_eq_t queue = new_eq(64);
    ptl_handle_md_t put_md = bind(own_bytes, 64, -1, PTL_RETAIN, queue);
    ptl_handle_md_t get_md = bind(own_bytes + 64, 64, -1, PTL_RETAIN, queue);

    post_at(PORTAL, BITS, make_md(bytes, 4096, -1, BOTH | PTL_MD_MANAGE_REMOTE, queue), PTL_RETAIN,
            NULL);
    post_at(PORTAL, BITS + 1, make_md(bytes, 4096, -1, BOTH | PTL_MD_MANAGE_REMOTE, queue),
            PTL_RETAIN, NULL);
    shared->id[1] = own_id;
    set_flag(1, 1);
    await_flag(2, 1);
    snic_step_hook = strike;
    for (int i = 0; i < 3; i++) {
        ptl_handle_me_t me;

        OK(PtlMEAttach(ni, PORTAL, ANY_ID, BITS + 3, 0, PTL_UNLINK, PTL_INS_BEFORE, &me));
        OK(PtlMDAttach(me, make_md(bytes, 64, 1, PTL_MD_OP_PUT, queue), PTL_UNLINK, NULL));
        (void)PtlPut(put_md, PTL_ACK_REQ, own_id, PORTAL, 0, BITS + 3, 0, 0);
        (void)PtlGet(get_md, own_id, PORTAL, 0, BITS, 0);
        (void)PtlGetPut(get_md, put_md, own_id, PORTAL, 0, BITS, 0, 0);
    }
}

/* Puts until the target is gone; every call comes back, every put has its SEND_END. */
static void i_put_until_it_is_gone(void)
{
    ptl_process_id_t survivor = target_id;
    ptl_handle_eq_t queue = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 64, -1, PTL_RETAIN, queue);
    int failed = 0;

    target_id = shared->id[1];
    set_flag(3 + (int)shared->number[1], 1);
    while (!failed) {
        int code = put(md, PTL_NO_ACK_REQ);

        if (code == PTL_NO_SPACE)
            continue; /* the lock's owner is being killed, or has just begun to be dead */
        OK(code);
        take(queue, PTL_EVENT_SEND_START);
        failed = take(queue, PTL_EVENT_SEND_END).ni_fail_type != PTL_NI_OK;
        if (!failed && shared->flag[5] != 0)
            failed = 2; /* the story was over before the label came */
    }
    target_id = survivor;
    OK(put_to(md, PTL_NO_ACK_REQ, BITS + 1, 0, 0));
    take(queue, PTL_EVENT_SEND_START);
    CHECK_EQ(PTL_NI_OK, take(queue, PTL_EVENT_SEND_END).ni_fail_type);
}

static int kill_target_at(const char *label, int passage)
{
    pid_t victim, other[2];
    int died;

    for (int i = 1; i < 6; i++)
        set_flag(i, 0);
    fatal_label = label;
    fatal_passage = passage;
    victim = initiator_start(be_killed_in_own_calls);
    await_flag(1, 1);
    for (int i = 0; i < 2; i++) {
        shared->number[1] = (uint64_t)i;
        other[i] = initiator_start(i_put_until_it_is_gone);
        await_flag(3 + i, 1);
    }
    set_flag(2, 1);
    died = initiator_join(victim);
    set_flag(5, 1);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, initiator_join(other[i]));
    expect_sound();
    return died != 0;
}

static void target_killed_at_every_step(void)
{
    check_lock_timeout_ms = CHECK_PATIENT_MS;
    open_interface(PTL_EXT_REF);
    post_at(PORTAL, BITS + 1,
            make_md(own_bytes, sizeof(own_bytes), -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE),
            PTL_RETAIN, NULL);
    read_labels(1);
    for (int i = 0; i < label_count; i++) {
        /* Only those who wait for another come there: the others, by chance. */
        if (strcmp(labels[i], "ptl.getput.wait") == 0 ||
            strcmp(labels[i], "ptl.request.behind") == 0)
            struck[i] = 1;
        for (int passage = 1; passage <= 2; passage++)
            struck[i] += kill_target_at(labels[i], passage);
    }
    expect_every_label_struck();
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "initiator_killed_at_every_step", initiator_killed_at_every_step},
        {"88", "target_killed_at_every_step", target_killed_at_every_step},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
