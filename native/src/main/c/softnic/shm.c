/* The shm personality: creation, closing, addresses. */
#define _GNU_SOURCE
#include "shm_private.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_PERIOD_NS 50000000ull
#define LOOK_PERIOD_MIN_NS 500000ull

static int options_check(const shm_options_t *o, struct shm *s, char *why, size_t why_size)
{
    s->message_max = o->message_max ? o->message_max : 4096;
    s->credits = o->credits ? o->credits : 16;
    s->connections_max = o->connections_max ? o->connections_max : 256;
    uint32_t slots = o->receive_slots ? o->receive_slots : 4096;
    s->peer_timeout_ns = o->peer_timeout_ns ? o->peer_timeout_ns : 5000000000ull;
    if (s->message_max > SHM_MESSAGE_LIMIT) {
        SNIC_WHY("message_max %u is above %u", s->message_max, SHM_MESSAGE_LIMIT);
        return -EINVAL;
    }
    if (s->credits > SHM_CREDITS_LIMIT || (s->credits & (s->credits - 1)) != 0) {
        SNIC_WHY("credits %u is not a power of two up to %u", s->credits, SHM_CREDITS_LIMIT);
        return -EINVAL;
    }
    if (slots < s->credits) {
        SNIC_WHY("receive_slots %u are too few for the %u credits of one connection", slots,
                 s->credits);
        return -EINVAL;
    }
    if (s->connections_max > slots / s->credits)
        s->connections_max = slots / s->credits;
    if (s->connections_max > SHM_CONNECTIONS_LIMIT)
        s->connections_max = SHM_CONNECTIONS_LIMIT;
    s->slot_bytes = SHM_SLOT_BYTES(s->message_max);
    s->credit_bytes = SHM_CREDIT_BYTES(s->credits);
    s->ring_bytes = s->credit_bytes + (uint64_t)s->credits * s->slot_bytes;
    s->look_period_ns =
        s->peer_timeout_ns / 4 < LOOK_PERIOD_NS ? s->peer_timeout_ns / 4 : LOOK_PERIOD_NS;
    if (s->look_period_ns < LOOK_PERIOD_MIN_NS)
        s->look_period_ns = LOOK_PERIOD_MIN_NS;
    return 0;
}

static void free_shm(shm_t *s)
{
    for (uint32_t i = 0; s->links && i < s->connections_max; i++) {
        free(s->links[i].slots);
        free(s->links[i].is_out);
    }
    free(s->links);
    free(s->attachments);
    free(s->open);
    free(s->request_data);
    free(s);
}

static int allocate_tables(shm_t *s)
{
    s->links = calloc(s->connections_max, sizeof *s->links);
    s->attachments = calloc(s->connections_max, sizeof *s->attachments);
    s->open = calloc(s->connections_max, sizeof *s->open);
    s->request_data = calloc(s->connections_max, SHM_PRIVATE_MAX);
    if (!s->links || !s->attachments || !s->open || !s->request_data)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->connections_max; i++) {
        s->links[i].slots = calloc(s->credits, sizeof *s->links[i].slots);
        s->links[i].is_out = calloc(s->credits, 1);
        if (!s->links[i].slots || !s->links[i].is_out)
            return -ENOMEM;
    }
    return 0;
}

int shm_create(const shm_options_t *options, shm_t **out, char *why, size_t why_size)
{
    shm_t *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    int rc = options_check(options, s, why, why_size);
    if (rc == 0)
        rc = allocate_tables(s);
    if (rc != 0) {
        free_shm(s);
        return rc;
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t rings_offset =
        (SHM_AREA_BYTES + (uint64_t)s->connections_max * SHM_CONNECTION_BYTES + page - 1) / page *
        page;
    snic_options_t o = {.directory = options->directory,
                        .job = options->job,
                        .name = options->name,
                        .personality = SNIC_SHM,
                        .foreign = options->foreign,
                        .initiators_max = options->initiators_max,
                        .registrations_max = options->registrations_max,
                        .area_bytes = rings_offset + s->connections_max * s->ring_bytes};
    rc = snic_open(&o, &s->nic, why, why_size);
    if (rc != 0) {
        free_shm(s);
        return rc;
    }
    s->area = snic_area(s->nic);
    s->connections = (struct shm_connection *)((uint8_t *)s->area + SHM_AREA_BYTES);
    s->rings = (uint8_t *)s->area + rings_offset;
    s->area->magic = SHM_AREA_MAGIC;
    s->area->version = SHM_AREA_VERSION;
    s->area->connections_max = s->connections_max;
    s->area->credits = s->credits;
    s->area->message_max = s->message_max;
    s->area->slot_bytes = s->slot_bytes;
    s->area->credit_bytes = s->credit_bytes;
    s->area->connections_offset = SHM_AREA_BYTES;
    s->area->rings_offset = rings_offset;
    s->area->ring_bytes = s->ring_bytes;
    for (uint32_t i = 0; i < s->connections_max; i++)
        s->links[i].own_ring = s->rings + i * s->ring_bytes;
    snic_publish(s->nic);
    *out = s;
    return 0;
}

int shm_close(shm_t *s)
{
    if (snic_is_forked(s->nic))
        return -ECHILD;
    atomic_store_explicit(&s->area->listening, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < s->connections_max; i++)
        if (s->links[i].state != LINK_NONE) {
            s->links[i].out = 0;
            shm_disconnect(s, shm_handle(s, &s->links[i]));
        }
    int rc = snic_close(s->nic);
    free_shm(s);
    return rc;
}

snic_t *shm_nic(shm_t *s)
{
    return s->nic;
}

uint32_t shm_connections_max(const shm_t *s)
{
    return s->connections_max;
}

struct shm_link *shm_find(shm_t *s, int64_t handle)
{
    uint32_t index = (uint32_t)(handle & 0xffff) - 1u;
    if (handle <= 0 || index >= s->connections_max)
        return NULL;
    struct shm_link *link = &s->links[index];
    if (link->state == LINK_NONE || link->serial != (uint32_t)((uint64_t)handle >> 16))
        return NULL;
    return link;
}

snic_peer_t *shm_peer(shm_t *s, int64_t connection)
{
    struct shm_link *link = shm_find(s, connection);
    return link && link->at ? link->at->peer : NULL;
}

int shm_view(shm_t *s, int64_t connection, shm_view_t *view)
{
    struct shm_link *link = shm_find(s, connection);
    if (!link || !link->at || link->state == LINK_REQUESTED || link->state == LINK_CONNECTING)
        return -ENOTCONN;
    struct shm_attachment *at = link->at;
    view->own_ring = link->own_ring;
    view->peer_ring = link->peer_ring;
    view->own_credits = s->credits;
    view->own_slot_bytes = s->slot_bytes;
    view->own_credit_bytes = s->credit_bytes;
    view->own_message_max = s->message_max;
    view->peer_credits = at->credits;
    view->peer_slot_bytes = at->slot_bytes;
    view->peer_credit_bytes = at->credit_bytes;
    view->peer_message_max = at->message_max;
    view->own_control = &s->connections[shm_index(s, link)].control;
    view->peer_control = &at->connections[link->peer_record].control;
    view->control_bell = &s->area->control_bell;
    snic_peer_view(at->peer, &view->peer);
    return 0;
}
