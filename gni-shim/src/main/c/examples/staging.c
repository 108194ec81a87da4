/*
 * A staging service as codes for Cray machines have it: simulations hand their data to servers, and
 * others read it there. Ranks 0 and 1 serve. Every other rank hands in the blocks of a version,
 * waits for all others, reads what its neighbour handed in, and checks each byte.
 *
 * - Requests are short messages. Two processes have a system endpoint (barriers, the end) and a
 *   data endpoint, each with a mailbox at both sides; one loop waits for five completion queues.
 * - Blocks are moved by the server: it gets what a client hands in and puts what a client reads, by
 *   FMA up to 4 KiB, by BTE above.
 * - An endpoint is bound with a number of the program's own. The instance is the process id.
 * - A mailbox is given as many bytes as its messages have, and no more.
 *
 *     cc staging.c -lugni -lpmi -o staging && gni-run -n 6 ./staging [BYTES [SEED [VERSIONS]]]
 */
#include "example.h"
#include <unistd.h>

#define SERVERS 2
#define BLOCKS 12 /* of a client in each version */
#define FMA_MAX 4096
#define CREDITS 8
#define MESSAGE_MAX 128
#define MAILBOX_BYTES (CREDITS * MESSAGE_MAX)
#define OUTBOX 64 /* messages that wait for a credit, or for their event */
#define GUARD 8   /* bytes behind a block, which nobody may write */

enum kind { SYSTEM, DATA, KINDS };
/* The queues of arrivals and of sent messages are in the order of the kinds. */
enum queue { ARRIVED, SENT = ARRIVED + KINDS, BULK = SENT + KINDS, QUEUES };
enum command { HAND_IN, READ, MOVED, AT_BARRIER, GO_ON, END };

struct message {
    enum command command;
    int owner, number;        /* of the block */
    uint64_t address, length; /* of the client's memory */
    gni_mem_handle_t handle;
};

/* One endpoint. out[] is a ring: what was sent stays there until its event has come. */
struct channel {
    gni_ep_handle_t ep;
    struct message out[OUTBOX];
    unsigned queued, sent, done;
};

struct block {
    unsigned char *bytes;
    uint64_t length;
    gni_mem_handle_t handle;
    /* At a server: who asked for it to be moved, and the post that moves it. */
    int client;
    gni_post_descriptor_t d;
};

struct staging {
    struct job job;
    int clients, versions;
    uint64_t bytes_max, seed;
    gni_cq_handle_t queue[QUEUES];
    gni_smsg_attr_t mailbox[KINDS];
    struct channel *channel; /* of each rank and kind */
    struct block *stored;    /* a server's, of each client and number */
    int waiting;             /* a client's: blocks that are not moved yet */
    int arrived, ended;      /* rank 0: at the barrier; a server: clients that need it no more */
    int may_go_on;
};

struct about {
    int rank;
    uint32_t address;
    gni_smsg_attr_t mailbox[KINDS];
};

static void require(int condition, const char *what)
{
    if (!condition)
        PMI_Abort(1, what);
}

/* Zeroed. */
static void *allocate(uint64_t count, uint64_t bytes)
{
    void *memory = calloc(count, bytes);

    require(memory != NULL, "no memory");
    return memory;
}

/* ---- what a block contains ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x7fb5d329728ea185ull;
    return (x ^ x >> 27) * 0x81dadef4bc2dd44dull;
}

static uint64_t key_of(const struct staging *s, int version, int owner, int number)
{
    return mix(s->seed * 1000003 + (uint64_t)((version * 4096 + owner) * BLOCKS + number) + 1);
}

static unsigned char byte_of(uint64_t key, uint64_t i)
{
    return (unsigned char)(mix(key + i) >> 32);
}

/* The first block of each client is a small one. */
static uint64_t length_of(const struct staging *s, int version, int owner, int number)
{
    return 1 + key_of(s, version, owner, number) % (number == 0 ? 64 : s->bytes_max);
}

/* A get moves whole words: room for the last one, then the guard. */
static uint64_t words_of(uint64_t length)
{
    return (length + 3) & ~(uint64_t)3;
}

static void make_block(struct staging *s, struct block *b, uint64_t length)
{
    b->length = length;
    b->bytes = (unsigned char *)allocate(1, words_of(length) + GUARD);
    memset(b->bytes, 0xee, words_of(length) + GUARD);
    CHECK(GNI_MemRegister(s->job.nic, address_of(b->bytes), words_of(length), NULL,
                          GNI_MEM_READWRITE, (uint32_t)-1, &b->handle));
}

static void free_block(struct staging *s, struct block *b)
{
    if (b->bytes == NULL)
        return;
    CHECK(GNI_MemDeregister(s->job.nic, &b->handle));
    free(b->bytes);
}

/* ---- endpoints ---- */

/* The mailboxes of one kind, for all ranks one behind the other. */
static void make_mailboxes(struct staging *s, int kind)
{
    gni_smsg_attr_t *box = &s->mailbox[kind];
    size_t bytes = (size_t)s->job.size * MAILBOX_BYTES;

    CHECK(
        GNI_CqCreate(s->job.nic, 4096, 0, GNI_CQ_BLOCKING, NULL, NULL, &s->queue[ARRIVED + kind]));
    CHECK(GNI_CqCreate(s->job.nic, 512, 0, GNI_CQ_BLOCKING, NULL, NULL, &s->queue[SENT + kind]));
    box->msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
    box->mbox_maxcredit = CREDITS;
    box->msg_maxsize = MESSAGE_MAX;
    box->buff_size = MAILBOX_BYTES;
    box->msg_buffer = allocate(1, bytes);
    CHECK(GNI_MemRegister(s->job.nic, address_of(box->msg_buffer), bytes, s->queue[ARRIVED + kind],
                          GNI_MEM_READWRITE, (uint32_t)-1, &box->mem_hndl));
}

static struct channel *channel_to(struct staging *s, int rank, int kind)
{
    return &s->channel[rank * KINDS + kind];
}

/* Any number that is not all ones will do, as long as the program finds its way by it. */
static uint32_t bind_id(const struct staging *s, int rank, int kind)
{
    return (uint32_t)(100 * s->job.rank + rank + 50 * kind);
}

/* Events at the peer carry our rank. */
static void connect_to(struct staging *s, const struct about *peer, int kind)
{
    struct channel *c = channel_to(s, peer->rank, kind);
    gni_smsg_attr_t mine = s->mailbox[kind], theirs = peer->mailbox[kind];
    uint32_t id = bind_id(s, peer->rank, kind);

    mine.mbox_offset = (uint32_t)peer->rank * MAILBOX_BYTES;
    theirs.mbox_offset = (uint32_t)s->job.rank * MAILBOX_BYTES;
    c->ep = bind_to(&s->job, s->queue[SENT + kind], peer->address, id);
    CHECK(GNI_EpSetEventData(c->ep, id, (uint32_t)s->job.rank));
    CHECK(GNI_SmsgInit(c->ep, &mine, &theirs));
}

static void connect_all(struct staging *s)
{
    struct about mine, *all = (struct about *)allocate((uint64_t)s->job.size, sizeof(mine));

    s->channel = (struct channel *)allocate((uint64_t)(s->job.size * KINDS), sizeof(*s->channel));
    s->stored = (struct block *)allocate((uint64_t)(s->clients * BLOCKS), sizeof(*s->stored));
    memset(&mine, 0, sizeof(mine));
    mine.rank = s->job.rank;
    mine.address = s->job.address;
    for (int kind = 0; kind < KINDS; kind++) {
        make_mailboxes(s, kind);
        mine.mailbox[kind] = s->mailbox[kind];
    }
    CHECK(GNI_CqCreate(s->job.nic, 512, 0, GNI_CQ_BLOCKING, NULL, NULL, &s->queue[BULK]));
    PMI_Allgather(&mine, all, sizeof(mine));
    for (int i = 0; i < s->job.size; i++)
        for (int kind = 0; kind < KINDS && all[i].rank != s->job.rank; kind++)
            connect_to(s, &all[i], kind);
    free(all);
    PMI_Barrier();
}

/* ---- messages ---- */

/* Sends what there are credits for. */
static void flush(struct channel *c, uint32_t id)
{
    while (c->sent != c->queued) {
        gni_return_t code =
            GNI_SmsgSend(c->ep, &c->out[c->sent % OUTBOX], sizeof(struct message), NULL, 0, id);

        if (code == GNI_RC_NOT_DONE)
            return; /* the next event may bring credits */
        check(code, "GNI_SmsgSend");
        c->sent++;
    }
}

static void send_to(struct staging *s, int rank, int kind, const struct message *m)
{
    struct channel *c = channel_to(s, rank, kind);

    require(c->queued - c->done < OUTBOX, "the outbox is full");
    c->out[c->queued++ % OUTBOX] = *m;
    flush(c, (uint32_t)(rank * KINDS + kind));
}

static void send_command(struct staging *s, int rank, int kind, enum command command)
{
    struct message m;

    memset(&m, 0, sizeof(m));
    m.command = command;
    send_to(s, rank, kind, &m);
}

/* ---- the server's part ---- */

/* Gets a block that a client hands in, or puts one that a client reads. */
static void move_block(struct staging *s, int client, const struct message *request)
{
    struct block *b = &s->stored[request->owner * BLOCKS + request->number];
    gni_ep_handle_t ep = channel_to(s, client, DATA)->ep;
    int is_get = request->command == HAND_IN, is_small = request->length <= FMA_MAX;

    if (is_get) {
        free_block(s, b);
        make_block(s, b, request->length);
    }
    require(b->length == request->length, "another block");
    b->client = client;
    memset(&b->d, 0, sizeof(b->d));
    b->d.type = is_get ? (is_small ? GNI_POST_FMA_GET : GNI_POST_RDMA_GET)
                       : (is_small ? GNI_POST_FMA_PUT : GNI_POST_RDMA_PUT);
    b->d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    b->d.post_id = address_of(b);
    b->d.local_addr = address_of(b->bytes);
    b->d.local_mem_hndl = b->handle;
    b->d.remote_addr = request->address;
    b->d.remote_mem_hndl = request->handle;
    b->d.length = is_get ? words_of(request->length) : request->length;
    b->d.src_cq_hndl = s->queue[BULK]; /* FMA uses the endpoint's queue */
    CHECK(is_small ? GNI_PostFma(ep, &b->d) : GNI_PostRdma(ep, &b->d));
}

static void on_moved(struct staging *s, gni_cq_handle_t queue, gni_cq_entry_t entry)
{
    gni_post_descriptor_t *d = NULL;

    CHECK(GNI_GetCompleted(queue, entry, &d));
    struct block *b = (struct block *)(uintptr_t)d->post_id;
    require(GNI_CQ_GET_INST_ID(entry) == bind_id(s, b->client, DATA), "another endpoint's event");
    send_command(s, b->client, DATA, MOVED);
}

/* ---- one loop for all ---- */

static void on_message(struct staging *s, int from, const struct message *m)
{
    if (m->command == HAND_IN || m->command == READ)
        move_block(s, from, m);
    else if (m->command == MOVED)
        s->waiting--;
    else if (m->command == GO_ON)
        s->may_go_on = 1;
    else if (m->command == END)
        s->ended++;
    else if (++s->arrived % s->clients == 0) /* the last one at the barrier lets all go on */
        for (int i = 0; i < s->clients; i++)
            send_command(s, SERVERS + i, SYSTEM, GO_ON);
}

static void read_mailbox(struct staging *s, int from, int kind)
{
    gni_ep_handle_t ep = channel_to(s, from, kind)->ep;
    struct message m;
    gni_return_t code;
    void *at;

    /* There may be none: credits have come back, or an event before had told of it. */
    while ((code = GNI_SmsgGetNext(ep, &at)) == GNI_RC_SUCCESS) {
        memcpy(&m, at, sizeof(m));
        CHECK(GNI_SmsgRelease(ep));
        on_message(s, from, &m);
    }
    require(code == GNI_RC_NOT_DONE, "GNI_SmsgGetNext");
}

static void on_event(struct staging *s, uint32_t which, gni_cq_entry_t entry)
{
    if (which < SENT)
        read_mailbox(s, (int)GNI_CQ_GET_REM_INST_ID(entry), (int)which - ARRIVED);
    else if (GNI_CQ_GET_TYPE(entry) == GNI_CQ_EVENT_TYPE_SMSG)
        s->channel[GNI_CQ_GET_MSG_ID(entry)].done++;
    else
        on_moved(s, s->queue[which], entry);
    for (int i = 0; i < s->job.size * KINDS; i++)
        flush(&s->channel[i], (uint32_t)i);
}

/* A client takes the event at once; a server asks which queue has one, and then takes it. */
static void wait_one(struct staging *s)
{
    gni_cq_entry_t entry;
    uint32_t which;

    if (s->job.rank < SERVERS) {
        CHECK(GNI_CqVectorMonitor(s->queue, QUEUES, 60000, &which));
        CHECK(GNI_CqGetEvent(s->queue[which], &entry));
    } else {
        CHECK(GNI_CqVectorWaitEvent(s->queue, QUEUES, 60000, &entry, &which));
    }
    on_event(s, which, entry);
}

/* Until every message of ours was sent. */
static void finish_sending(struct staging *s)
{
    for (int i = 0; i < s->job.size * KINDS; i++)
        while (s->channel[i].done != s->channel[i].queued)
            wait_one(s);
}

/* ---- the client's part ---- */

static void wait_for_all(struct staging *s)
{
    s->may_go_on = 0;
    send_command(s, 0, SYSTEM, AT_BARRIER);
    while (!s->may_go_on)
        wait_one(s);
}

/* Asks for all blocks at once, which are dealt out to the servers. */
static void request_blocks(struct staging *s, enum command command, int owner,
                           const struct block *blocks)
{
    for (int i = 0; i < BLOCKS; i++) {
        struct message m;

        memset(&m, 0, sizeof(m));
        m.command = command;
        m.owner = owner;
        m.number = i;
        m.address = address_of(blocks[i].bytes);
        m.length = blocks[i].length;
        m.handle = blocks[i].handle;
        s->waiting++;
        send_to(s, (owner + i) % SERVERS, DATA, &m);
    }
    while (s->waiting > 0)
        wait_one(s);
}

/* A version of ours handed in, or one of our neighbour read and checked. */
static void pass_blocks(struct staging *s, enum command command, int owner, int version)
{
    struct block blocks[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        make_block(s, &blocks[i], length_of(s, version, owner, i));
        for (uint64_t k = 0; k < blocks[i].length && command == HAND_IN; k++)
            blocks[i].bytes[k] = byte_of(key_of(s, version, owner, i), k);
    }
    request_blocks(s, command, owner, blocks);
    for (int i = 0; i < BLOCKS; i++) {
        for (uint64_t k = 0; k < words_of(blocks[i].length) + GUARD; k++)
            require(blocks[i].bytes[k] ==
                        (k < blocks[i].length ? byte_of(key_of(s, version, owner, i), k) : 0xee),
                    "a byte is not what was handed in");
        free_block(s, &blocks[i]);
    }
}

static void compute(struct staging *s)
{
    int me = s->job.rank - SERVERS;

    for (int version = 0; version < s->versions; version++) {
        pass_blocks(s, HAND_IN, me, version);
        wait_for_all(s);
        pass_blocks(s, READ, (me + 1) % s->clients, version);
        wait_for_all(s); /* before anybody's next version replaces this one */
    }
    for (int server = 0; server < SERVERS; server++)
        send_command(s, server, SYSTEM, END);
}

/* By rank 0 when all clients have ended: a wrong byte would have ended the job. */
static void report(const struct staging *s)
{
    uint64_t bytes = 0;

    for (int i = 0; i < s->versions * s->clients * BLOCKS; i++)
        bytes += length_of(s, i / BLOCKS / s->clients, i / BLOCKS % s->clients, i % BLOCKS);
    printf("%d clients read %d blocks, %llu bytes, from %d servers: every byte was right\n",
           s->clients, s->versions * s->clients * BLOCKS, (unsigned long long)bytes, SERVERS);
}

static void close_all(struct staging *s)
{
    for (int i = 0; i < s->clients * BLOCKS; i++)
        free_block(s, &s->stored[i]);
    close_job(&s->job);
    for (int kind = 0; kind < KINDS; kind++)
        free(s->mailbox[kind].msg_buffer);
    free(s->stored);
    free(s->channel);
}

int main(int argc, char **argv)
{
    struct staging s;

    memset(&s, 0, sizeof(s));
    s.bytes_max = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    s.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    s.versions = argc > 3 ? atoi(argv[3]) : 4;
    join_job(&s.job);
    attach(&s.job, (uint32_t)getpid());
    s.clients = s.job.size - SERVERS;
    require(s.clients > 0 && s.bytes_max > 0, "two servers, at least one client, and bytes");
    connect_all(&s);
    if (s.job.rank >= SERVERS)
        compute(&s);
    while (s.job.rank < SERVERS && s.ended < s.clients)
        wait_one(&s);
    finish_sending(&s);
    PMI_Barrier();
    if (s.job.rank == 0)
        report(&s);
    close_all(&s);
    return 0;
}
