/* The shm personality's view of its peers: one attachment for all connections to a peer. */
#define _GNU_SOURCE
#include "shm_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int attachment_check(struct shm_attachment *at, char *why, size_t why_size)
{
    struct shm_area *area = snic_peer_area(at->peer);
    uint64_t bytes = snic_peer_area_bytes(at->peer);
    if (bytes < SHM_AREA_BYTES || area->magic != SHM_AREA_MAGIC ||
        area->version != SHM_AREA_VERSION) {
        SNIC_WHY("%s: area magic or version %u differ (this program knows version %u)", at->name,
                 bytes < SHM_AREA_BYTES ? 0 : area->version, SHM_AREA_VERSION);
        return -EPROTO;
    }
    at->area = area;
    at->connections_max = area->connections_max;
    at->credits = area->credits;
    at->message_max = area->message_max;
    at->slot_bytes = area->slot_bytes;
    at->credit_bytes = area->credit_bytes;
    at->ring_bytes = area->ring_bytes;
    uint64_t connections = area->connections_offset, rings = area->rings_offset;
    if (at->connections_max == 0 || at->connections_max > SHM_CONNECTIONS_LIMIT ||
        at->credits == 0 || at->credits > SHM_CREDITS_LIMIT || (at->credits & (at->credits - 1)) ||
        at->message_max > SHM_MESSAGE_LIMIT || at->slot_bytes != SHM_SLOT_BYTES(at->message_max) ||
        at->credit_bytes != SHM_CREDIT_BYTES(at->credits) ||
        at->ring_bytes != at->credit_bytes + (uint64_t)at->credits * at->slot_bytes ||
        connections % 64 || rings % 64 || connections > bytes || rings > bytes ||
        at->connections_max > (bytes - connections) / SHM_CONNECTION_BYTES ||
        at->connections_max > (bytes - rings) / at->ring_bytes) {
        SNIC_WHY("%s: the geometry of its connections is damaged", at->name);
        return -EPROTO;
    }
    at->connections = (struct shm_connection *)((uint8_t *)area + connections);
    at->rings = (uint8_t *)area + rings;
    return 0;
}

int shm_attachment_get(shm_t *s, const char *name, uint64_t incarnation,
                       struct shm_attachment **out, char *why, size_t why_size)
{
    struct shm_attachment *spare = NULL;
    for (uint32_t i = 0; i < s->connections_max; i++) {
        struct shm_attachment *at = &s->attachments[i];
        if (!at->peer)
            spare = spare ? spare : at;
        else if (strcmp(at->name, name) == 0 && snic_peer_is_open(at->peer) &&
                 (incarnation == 0 || incarnation == at->incarnation) &&
                 snic_peer_liveness(at->peer) != SNIC_DEAD) {
            at->users++;
            *out = at;
            return 0;
        }
    }
    if (!spare)
        return -EAGAIN;
    memset(spare, 0, sizeof *spare);
    int rc = snic_attach(s->nic, name, incarnation, &spare->peer, why, why_size);
    if (rc != 0)
        return rc;
    snprintf(spare->name, sizeof spare->name, "%s", name);
    rc = attachment_check(spare, why, why_size);
    if (rc != 0) {
        snic_detach(spare->peer);
        spare->peer = NULL;
        return rc;
    }
    spare->incarnation = snic_peer_incarnation(spare->peer);
    spare->users = 1;
    *out = spare;
    return 0;
}

void shm_attachment_put(struct shm_attachment *at)
{
    if (at && --at->users == 0) {
        snic_detach(at->peer);
        at->peer = NULL;
    }
}
