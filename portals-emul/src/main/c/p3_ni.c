/* An interface from opening to closing, apart from its place in the process's table. */
#include "p3_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define P3_PID_MAX 0xfffeu
#define P3_PID_TRIES 4096u
#define P3_LOCK_TIMEOUT_MS 200u
#define P3_FOLDER_TRIES 30
#define P3_FINI_WAIT_NS 2000000000ull

static int cut(const int *wanted, uint32_t most)
{
    if (wanted == NULL || *wanted > (int)most)
        return (int)most;
    return *wanted < 0 ? 0 : *wanted;
}

static void cut_limits(const ptl_ni_limits_t *d, ptl_ni_limits_t *limits)
{
    limits->max_mes = cut(d ? &d->max_mes : NULL, P3_MES_MAX);
    limits->max_mds = cut(d ? &d->max_mds : NULL, P3_MDS_MAX);
    limits->max_eqs = cut(d ? &d->max_eqs : NULL, P3_EQS_MAX);
    limits->max_ac_index = cut(d ? &d->max_ac_index : NULL, P3_AC_INDEX_MAX);
    limits->max_pt_index = cut(d ? &d->max_pt_index : NULL, P3_PT_INDEX_MAX);
    limits->max_md_iovecs = cut(d ? &d->max_md_iovecs : NULL, P3_IOVECS_MAX);
    limits->max_me_list = cut(d ? &d->max_me_list : NULL, P3_ME_LIST_MAX);
    limits->max_getput_md = cut(d ? &d->max_getput_md : NULL, P3_GETPUT_MAX);
}

static int open_code(int error)
{
    switch (error) {
    case -EEXIST:
        return PTL_PID_INVALID;
    case -ENOSPC:
    case -ENOMEM:
    case -EMFILE:
    case -ENFILE:
        return PTL_NO_SPACE;
    default:
        return PTL_FAIL;
    }
}

/* Opens the software NIC under the first free name; pid 0: any. */
static int open_nic(struct p3_ni *ni, const ptl_ext_options_t *options, char *why, size_t why_size)
{
    const char *job = options->job ? options->job : getenv("PTL_JOB");
    char name[SNIC_NAME_MAX];
    snic_options_t snic = {.directory = options->directory,
                           .job = job && *job ? job : "default",
                           .name = name,
                           .personality = SNIC_PORTALS,
                           .initiators_max = ni->view.intents,
                           .registrations_max = 1,
                           .foreign =
                               options->foreign_bounce ? SNIC_FOREIGN_BOUNCE : SNIC_FOREIGN_ATTACH,
                           .area_bytes = p3_area_bytes(&ni->geometry),
                           .area_reserved = p3_area_head(&ni->geometry)};
    uint32_t wanted = options->pid & 0xffffu;
    uint32_t tries = wanted == 0 || wanted == P3_PID_ANY ? P3_PID_TRIES : 1;
    uint32_t pid = tries == 1 ? wanted : (uint32_t)getpid() % P3_PID_MAX + 1;
    int error = -EEXIST;

    for (uint32_t i = 0; i < tries && error == -EEXIST; i++, pid = pid % P3_PID_MAX + 1) {
        if (tries > 1 && p3_rank_is(ni->self.nid, pid))
            continue; /* its process may start later */
        ni->self.pid = pid;
        snprintf(name, sizeof(name), "%u.%u", ni->self.nid, pid);
        /* Busy: many processes of the job open at once, and each has the folder for some ms. */
        for (int busy = 0; busy < P3_FOLDER_TRIES; busy++) {
            error = snic_open(&snic, &ni->nic, why, why_size);
            if (error != -EBUSY)
                break;
        }
    }
    return error;
}

/* The first part of every table that grows. */
static int reserve_first(struct p3_ni *ni, char *why, size_t why_size)
{
    int error = 0;

    for (int i = 0; i < P3_TABLES && error == 0; i++) {
        uint64_t offset, bytes;

        p3_table_extent(&ni->geometry, (enum p3_table)i, 0,
                        p3_table_next(&ni->geometry, (enum p3_table)i, 0), &offset, &bytes);
        error = snic_area_reserve(ni->nic, offset, bytes, why, why_size);
    }
    return error;
}

static void prepare_area(struct p3_ni *ni, uint32_t generation)
{
    struct p3_area *area = snic_area(ni->nic);
    uint32_t iface = ni->view.iface;

    p3_area_build(area, &ni->limits, &ni->geometry, generation * 37u);
    area->flavor = ni->flavor;
    area->iface = iface;
    area->nid = ni->self.nid;
    area->pid = ni->self.pid;
    area->uid = ni->self.uid;
    area->jid = ni->self.jid;
    area->incarnation = ni->self.incarnation;
    area->opened_ns = snic_now_ns();
    p3_view_open(&ni->view, area, snic_area_bytes(ni->nic));
    for (uint32_t i = 0; i < ni->view.acs; i++)
        ni->view.ac[i] = (struct p3_ac){.nid = PTL_NID_ANY,
                                        .pid = P3_PID_ANY,
                                        .uid = ni->self.uid,
                                        .jid = PTL_JID_ANY,
                                        .pt_index = PTL_PT_INDEX_ANY};
    atomic_store_explicit(&area->open, 1, memory_order_release);
}

static void ni_free(struct p3_ni *ni)
{
    p3_extents_free(&ni->slots);
    p3_extents_free(&ni->iovs);
    free(ni->handlers);
    free(ni->mds);
    pthread_mutex_destroy(&ni->objects);
    pthread_mutex_destroy(&ni->growth);
    pthread_mutex_destroy(&ni->peers_mutex);
    pthread_mutex_destroy(&ni->initiator);
    pthread_mutex_destroy(&ni->deferred_mutex);
    free(ni);
}

static struct p3_ni *ni_new(const struct p3_geometry *g)
{
    struct p3_ni *ni = calloc(1, sizeof(*ni));

    if (ni == NULL)
        return NULL;
    ni->geometry = *g;
    pthread_mutex_init(&ni->objects, NULL);
    pthread_mutex_init(&ni->growth, NULL);
    pthread_mutex_init(&ni->peers_mutex, NULL);
    pthread_mutex_init(&ni->initiator, NULL);
    pthread_mutex_init(&ni->deferred_mutex, NULL);
    ni->mds = calloc(g->mds ? g->mds : 1, sizeof(*ni->mds));
    ni->handlers = calloc(g->eqs ? g->eqs : 1, sizeof(*ni->handlers));
    if (ni->mds == NULL || ni->handlers == NULL || p3_extents_init(&ni->slots, g->slots) != 0 ||
        p3_extents_init(&ni->iovs, g->iovs) != 0) {
        ni_free(ni);
        return NULL;
    }
    return ni;
}

int p3_ni_open(const struct p3_ni_place *place, const ptl_ext_options_t *options,
               const ptl_ni_limits_t *desired, struct p3_ni **opened, char *why, size_t why_size)
{
    uint32_t timeout_ms = options->lock_timeout_ms ? options->lock_timeout_ms : P3_LOCK_TIMEOUT_MS;
    uint32_t events = options->event_slots ? options->event_slots
                                           : snic_setting("PTL_EVENT_SLOTS", P3_SLOTS_DEFAULT);
    uint32_t initiators = options->initiators_max ? options->initiators_max : P3_INITIATORS_DEFAULT;
    ptl_ni_limits_t limits;
    struct p3_geometry g;
    struct p3_ni *ni;
    int error;

    cut_limits(desired, &limits);
    g = (struct p3_geometry){.mes = (uint32_t)limits.max_mes,
                             .mds = (uint32_t)limits.max_mds,
                             .eqs = (uint32_t)limits.max_eqs,
                             .acs = (uint32_t)limits.max_ac_index + 1,
                             .pts = (uint32_t)limits.max_pt_index + 1,
                             .iovs = limits.max_md_iovecs ? P3_IOVS : 0,
                             .slots = events > P3_SLOTS_MAX ? P3_SLOTS_MAX : events,
                             .intents = initiators > 0xfff0u ? 0xfff0u : initiators};
    ni = ni_new(&g);
    if (ni == NULL)
        return p3_fail(PTL_NO_SPACE, "PtlNIInit: out of memory");
    ni->limits = limits;
    ni->is_program = place->is_program;
    p3_wire_init(ni, place->is_program);
    ni->flavor = options->flavor == PTL_EXT_CRAY ? P3_FLAVOR_CRAY : P3_FLAVOR_REF;
    ni->self.nid = options->nid ? options->nid : snic_setting("PTL_NID", 1);
    ni->self.uid = (uint32_t)geteuid();
    ni->lock_timeout_ns = (int64_t)timeout_ms * 1000000;
    ni->view.iface = place->iface;
    ni->view.intents = g.intents;
    error = open_nic(ni, options, why, why_size);
    if (error == 0 && (error = reserve_first(ni, why, why_size)) < 0)
        snic_close(ni->nic);
    if (error < 0) {
        ni_free(ni);
        return p3_fail(open_code(error), "PtlNIInit: %s", why);
    }
    ni->self.incarnation = snic_incarnation(ni->nic);
    ni->self.jid =
        options->jid ? options->jid
                     : snic_setting("PTL_JID", place->first_pid ? place->first_pid : ni->self.pid);
    prepare_area(ni, place->generation);
    error = snic_publish(ni->nic);
    if (error < 0) {
        snic_close(ni->nic);
        ni_free(ni);
        return p3_fail(PTL_FAIL, "PtlNIInit: the interface cannot be published: %s",
                       strerror(-error));
    }
    *opened = ni;
    return PTL_OK;
}

/* ---- growing ---- */

int p3_reserve(struct p3_ni *ni, enum p3_table table, uint32_t *ready, uint32_t to)
{
    char why[SNIC_WHY_MAX] = "";
    uint64_t offset, bytes;

    if (to <= *ready)
        return PTL_OK;
    p3_table_extent(&ni->geometry, table, *ready, to, &offset, &bytes);
    if (snic_area_reserve(ni->nic, offset, bytes, why, sizeof(why)) < 0)
        return p3_fail(PTL_NO_SPACE, "%s", why);
    *ready = to;
    return PTL_OK;
}

/* Under ni->growth. */
static int grow(struct p3_ni *ni, enum p3_table table)
{
    uint32_t ready = atomic_load_explicit(&ni->view.area->ready[table], memory_order_acquire);
    uint32_t to = p3_table_next(&ni->geometry, table, ready);
    uint32_t left;

    if (p3_lock_own(ni) != PTL_OK)
        return 0;
    left = p3_table_free(&ni->view, table);
    p3_unlock_own(ni);
    if (left != 0) /* another thread was first, or gave an entry back */
        return 1;
    if (to <= ready || p3_reserve(ni, table, &ready, to) != PTL_OK || p3_lock_own(ni) != PTL_OK)
        return 0;
    p3_table_grow(&ni->view, table, to);
    p3_unlock_own(ni);
    return 1;
}

int p3_grow(struct p3_ni *ni, enum p3_table table)
{
    int grown;

    pthread_mutex_lock(&ni->growth);
    grown = grow(ni, table);
    pthread_mutex_unlock(&ni->growth);
    return grown;
}

/* ---- closing ---- */

/* Waits for bytes that live peers are still moving to or from here; the caller may free that memory
 * as soon as PtlNIFini has returned. */
static void wait_for_movers(struct p3_ni *ni)
{
    uint64_t deadline = snic_now_ns() + P3_FINI_WAIT_NS;
    const struct timespec pause = {.tv_nsec = 100000};
    uint32_t high;

    do {
        uint32_t moving = 0;

        p3_reap(ni);
        high = atomic_load_explicit(&ni->view.area->intents_high, memory_order_acquire);
        for (uint32_t i = 0; i < high && i < ni->view.intents; i++)
            moving += atomic_load_explicit(&p3_view_intent(&ni->view, i)->phase,
                                           memory_order_acquire) != P3_IDLE;
        if (moving == 0)
            return;
        nanosleep(&pause, NULL);
    } while (snic_now_ns() < deadline);
}

static void close_peers(struct p3_ni *ni)
{
    for (uint32_t i = 0; i < P3_PEER_BUCKETS; i++) {
        struct p3_peer *peer = atomic_load_explicit(&ni->peers[i], memory_order_acquire);

        while (peer != NULL) {
            struct p3_peer *next = peer->next;

            p3_peer_drop(peer);
            pthread_mutex_destroy(&peer->mutex);
            free(peer);
            peer = next;
        }
    }
}

void p3_ni_close(struct p3_ni *ni)
{
    p3_wire_close(ni);
    wait_for_movers(ni);
    close_peers(ni);
    snic_close(ni->nic);
    for (uint32_t i = 0; i < ni->mds_high; i++)
        free(ni->mds[i].segments.iovs);
    p3_deferred_free(ni);
    ni_free(ni);
}
