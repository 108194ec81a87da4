/*
 * libFuzzer target: whatever bytes lie in a segment, attaching, polling, sending, putting and
 * closing give errors and nothing else. The first byte chooses: a header to be checked, or writes
 * into the live segments of two connected NICs, with operations in between.
 */
#define _GNU_SOURCE
#include "shm_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char why[SNIC_WHY_MAX];

static void fuzz_header(const uint8_t *data, size_t size)
{
    struct snic_header header;
    struct snic_segment segment;
    memset(&header, 0, sizeof header);
    header.magic = SNIC_MAGIC;
    header.layout_version = SNIC_LAYOUT_VERSION;
    header.endianness = SNIC_ENDIAN;
    header.page_size = (uint32_t)sysconf(_SC_PAGESIZE);
    if (size < 8)
        return;
    uint64_t bytes;
    memcpy(&bytes, data, 8);
    memcpy((uint8_t *)&header + 56, data + 8, size - 8 < 200 ? size - 8 : 200);
    if (snic_segment_check(&header, bytes, 0, &segment, why, sizeof why) != 0)
        return;
    /* Accepted: then every table must lie inside the file. */
    uint64_t ends[] = {
        header.initiators_offset + (uint64_t)segment.initiators_max * SNIC_INITIATOR_BYTES,
        header.registrations_offset + (uint64_t)segment.registrations_max * SNIC_REGISTRATION_BYTES,
        header.memories_offset + (uint64_t)segment.memories_max * SNIC_MEMORY_BYTES,
        header.area_offset + segment.area_bytes};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends[i] > bytes)
            abort();
}

struct pair {
    shm_t *s[2];
    int64_t c[2];
    snic_key_t key;
    uint8_t *m;
};

static shm_t *open_one(const char *name)
{
    shm_t *s;
    shm_options_t o = {.job = "fuzz",
                       .name = name,
                       .initiators_max = 8,
                       .registrations_max = 64,
                       .credits = 4,
                       .message_max = 100,
                       .connections_max = 3,
                       .receive_slots = 12,
                       .peer_timeout_ns = 1000000};
    if (shm_create(&o, &s, why, sizeof why) != 0) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    shm_listen(s);
    return s;
}

static void open_pair(struct pair *p)
{
    shm_event_t e;
    void *m;
    p->s[0] = open_one("a");
    p->s[1] = open_one("b");
    p->c[0] = shm_connect(p->s[0], "b", 0, "x", 1, 0, -1, why, sizeof why);
    while (shm_poll(p->s[1], &e, 1) == 0)
        ;
    p->c[1] = e.connection;
    shm_accept(p->s[1], p->c[1], 0);
    while (shm_poll(p->s[0], &e, 1) == 0)
        ;
    if (snic_memory_alloc(shm_nic(p->s[1]), 4096, 0, &m, why, sizeof why) != 0 ||
        snic_register(shm_nic(p->s[1]), m, 4096, 7, &p->key, why, sizeof why) != 0) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    p->m = m;
}

static void poll_one(shm_t *s, uint64_t *sum)
{
    shm_event_t e[4];
    int n = shm_poll(s, e, 4);
    for (int i = 0; i < n; i++) {
        if (e[i].type == SHM_EVENT_MESSAGE || e[i].type == SHM_EVENT_CONNECT_REQUEST)
            for (uint64_t k = 0; k < e[i].length; k++)
                *sum += ((const uint8_t *)e[i].data)[k];
        if (e[i].type == SHM_EVENT_MESSAGE)
            shm_release(s, e[i].token);
        if (e[i].type == SHM_EVENT_CONNECT_REQUEST)
            shm_accept(s, e[i].connection, 0);
    }
}

static void operate(struct pair *p, uint8_t what)
{
    static uint8_t data[128];
    static uint64_t sum;
    uint64_t before;
    snic_peer_t *peer;
    int i = what & 1;
    switch ((what >> 1) % 8) {
    case 0:
        shm_send(p->s[i], p->c[i], data, what % 101);
        break;
    case 1:
        shm_put_notify(p->s[0], p->c[0], &p->key, what, data, 100, what);
        break;
    case 2:
        if ((peer = shm_peer(p->s[0], p->c[0])) != NULL) {
            snic_get(peer, &p->key, what, data, 100);
            snic_fetch_add(peer, &p->key, 8, 1, &before);
        }
        break;
    case 3:
        p->c[i] = shm_connect(p->s[i], i ? "a" : "b", 0, "y", 1, 0, 1, why, sizeof why);
        break;
    case 4:
        shm_disconnect(p->s[i], p->c[i]);
        break;
    case 5:
        snic_check(NULL, "fuzz", why, sizeof why);
        break;
    default:
        poll_one(p->s[i], &sum);
    }
}

/* Nine bytes each: where (which segment and region in 1, offset in 2), value in 6. */
static void damage(struct pair *p, const uint8_t *d)
{
    struct snic_segment *s = &p->s[d[0] & 1]->nic->segment;
    uint8_t *regions[] = {(uint8_t *)s->header + 64,
                          (uint8_t *)s->initiators,
                          (uint8_t *)s->registrations,
                          (uint8_t *)s->memories,
                          s->area,
                          s->area + SHM_AREA_BYTES,
                          s->area + 4096};
    static const size_t lengths[] = {696, 1024, 256, 256, 504, 1536, 4096 - 8};
    int i = (d[0] >> 1) % 7;
    uint64_t value = 0;
    memcpy(&value, d + 3, 6);
    size_t at = (size_t)(d[1] | d[2] << 8) % lengths[i];
    if (d[0] & 0x80)
        memcpy(regions[i] + at / 4 * 4, &value, 4);
    else
        memcpy(regions[i] + at / 8 * 8, &value, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    if (data[0] & 1) {
        fuzz_header(data + 1, size - 1);
        return 0;
    }
    struct pair p;
    open_pair(&p);
    for (size_t at = 1; at + 10 <= size && at < 400; at += 10) {
        damage(&p, data + at);
        operate(&p, data[at + 9]);
    }
    /* A segment whose close gives up would stay behind and keep its name taken. */
    for (int i = 0; i < 2; i++)
        if (shm_close(p.s[i]) != 0)
            abort();
    return 0;
}
