/* The checker says nothing of what is right, and something of everything that is not. */
#define _GNU_SOURCE
#include "check.h"
#include "area_check.h"
#include "gni_library.h"
#include <stdlib.h>

static struct node a, b;
static struct gni_nic *nic;
static char text[2048];

static int findings(void)
{
    return nic_check(a.nic, text, sizeof(text));
}

#define WRONG(what, lvalue, value)                                                                 \
    do {                                                                                           \
        __typeof__(lvalue) kept_ = (lvalue);                                                       \
        (lvalue) = (value);                                                                        \
        if (findings() <= 0)                                                                       \
            check_fail(__FILE__, __LINE__, "not noticed: %s", what);                               \
        (lvalue) = kept_;                                                                          \
        if (findings() != 0)                                                                       \
            check_fail(__FILE__, __LINE__, "after %s: %s", what, text);                            \
    } while (0)

static void set_up(void)
{
    gni_mem_segment_t segments[2];
    gni_mem_handle_t pieces;
    gni_post_descriptor_t d;
    gni_cq_entry_t entry;
    gni_ep_handle_t open;
    uint8_t bytes[8];

    pair_open(&a, &b, 0, 0);
    nic = gni_handle_find(a.nic, GNI_KIND_NIC);
    for (int i = 0; i < 2; i++)
        segments[i] = (gni_mem_segment_t){(uint64_t)(uintptr_t)a.memory + i * 4096, 128};
    OK(GNI_MemRegisterSegments(a.nic, segments, 2, NULL, 0, (uint32_t)-1, &pieces));
    OK(GNI_EpCreate(a.nic, NULL, &open));
    OK(GNI_EpPostDataWId(open, bytes, 8, bytes, 8, 5));
    OK(GNI_EpPostData(a.ep, bytes, 8, bytes, 8));
    for (int i = 0; i < 3; i++) {
        d = transaction(GNI_POST_FMA_PUT, &b, &a, 8);
        d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
        OK(GNI_PostFma(b.ep, &d));
    }
    OK(GNI_CqGetEvent(a.dst, &entry));
    if (findings() != 0)
        check_fail(__FILE__, __LINE__, "before anything was wrong: %s", text);
}

static void what_is_shared(void)
{
    struct gni_mdh *mdh;
    struct gni_segment *piece;
    struct gni_datagram *waiting;

    set_up();
    mdh = nic->view.mdh;
    piece = nic->view.segment;
    waiting = nic->view.datagram;
    WRONG("magic", nic->view.area->magic, 1);
    WRONG("bytes", nic->view.area->bytes, 1);
    WRONG("generation", mdh[0].generation, mdh[0].generation + 2);
    WRONG("never made", mdh[9].generation, 1);
    WRONG("flags", mdh[0].flags, 8);
    WRONG("address", mdh[0].address, mdh[0].address + 1);
    WRONG("length", mdh[0].length, UINT64_MAX);
    WRONG("base", mdh[0].base, UINT64_MAX);
    WRONG("key", mdh[0].key.slot, 1u << 30);
    WRONG("secret", mdh[0].key.secret, mdh[0].key.secret ^ 1);
    WRONG("ring", mdh[0].ring.length, 8);
    WRONG("places", mdh[0].ring_slots, 3);
    WRONG("too many places", mdh[0].ring_slots, 1ull << 60);
    WRONG("first piece", mdh[1].segment_first, GNI_SEGMENTS);
    WRONG("pieces", mdh[1].segment_count, GNI_SEGMENTS + 1);
    WRONG("piece's place", piece[1].offset, 7);
    WRONG("piece's length", piece[1].length, 1ull << 40);
    WRONG("piece's key", piece[0].key.generation, 2);
    WRONG("records", nic->view.area->datagrams_high, 0);
    WRONG("more records", nic->view.area->datagrams_high, GNI_DATAGRAMS + 1);
    WRONG("state", waiting[0].state, 9);
    WRONG("datagram's length", waiting[0].local_length, 129);
    WRONG("identified", waiting[0].has_id, 2);
}

static void a_ring(void)
{
    struct gni_cq *cq;
    struct gni_ring *ring;
    _Atomic uint64_t *words;

    set_up();
    cq = gni_handle_find(a.dst, GNI_KIND_CQ);
    ring = cq->ring;
    words = (_Atomic uint64_t *)(void *)((uint8_t *)ring + GNI_RING_HEADER);
    WRONG("slots", ring->slots, 5);
    WRONG("capacity", ring->capacity, ring->slots + 1);
    WRONG("head", ring->head, ring->tail + 1);
    WRONG("tail", ring->tail, ring->head + ring->capacity + 1);
    WRONG("overrun", ring->overrun, 2);
    WRONG("an event lost", words[1], gni_ring_empty(1));
    WRONG("an event too many", words[9], 5ull << 56);
    WRONG("another round's place", words[9], gni_ring_empty(9 + 2 * ring->slots));
}

static void what_is_its_own(void)
{
    struct gni_cq *cq;
    struct gni_ep *ep;

    set_up();
    cq = gni_handle_find(a.cq, GNI_KIND_CQ);
    ep = gni_handle_find(a.ep, GNI_KIND_EP);
    WRONG("used", nic->mdh_used, 7);
    WRONG("marked", nic->segment_used[77], 1);
    WRONG("endpoints", cq->eps, 0);
    WRONG("registrations", cq->memories, 1);
    WRONG("a request", cq->requests[3].kind, GNI_REQUEST_SMSG);
    WRONG("free requests", cq->free_count, cq->free_count - 1);
    WRONG("outstanding", ep->outstanding, 1);
    WRONG("undelivered", nic->undelivered, 9);
    WRONG("left", nic->datagrams_left, 1);
    WRONG("endpoint of a datagram", nic->datagrams[0].ep, (struct gni_ep *)(void *)&a);
    ep->smsg.is_ready = 1;
    ep->smsg.out.credits = 2;
    WRONG("sent", ep->smsg.sent, 3);
    WRONG("returned", ep->smsg.returned, 1);
    CHECK_EQ(-1, nic_check(NULL, text, sizeof(text)));
    CHECK_EQ(0, nic_check(a.nic, NULL, 0));
    ep->outstanding = 1; /* a text that is too short is cut */
    memset(text, 'x', sizeof(text));
    CHECK_EQ(1, nic_check(a.nic, text, 8));
    CHECK(strnlen(text, 8) == 7 && text[8] == 'x');
}

static const struct check_case cases[] = {
    {"", "what_is_shared", what_is_shared},
    {"", "a_ring", a_ring},
    {"", "what_is_its_own", what_is_its_own},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
