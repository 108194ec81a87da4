/* The process's table of interfaces; opening and closing; the calls about an interface. */
#include "p3_library.h"

#include "p3_cray.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define P3_PUBLIC_IFACES 4 /* PtlInit's answer; the extension opens up to P3_IFACES */
#define P3_PID_MAX 0xfffeu
#define P3_PID_TRIES 4096u
#define P3_LOCK_TIMEOUT_MS 200u
#define P3_FOLDER_TRIES 5
#define P3_FINI_WAIT_NS 2000000000ull

/* Portals is a process-wide interface by its own definition: this table is the one global. */
static struct {
    pthread_mutex_t mutex;
    _Atomic uint32_t initialised;
    uint32_t first_pid;
    uint32_t have_default;
    ptl_handle_ni_t default_ni;
    struct p3_ni_slot slot[P3_IFACES];
} library = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static _Thread_local char error_text[SNIC_WHY_MAX];
static _Thread_local int last_outcome;

int p3_fail(int code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error_text, sizeof(error_text), format, arguments);
    va_end(arguments);
    return code;
}

const char *PtlExtError(void)
{
    return error_text;
}

void p3_outcome(int outcome)
{
    last_outcome = outcome;
}

int PtlExtLastOutcome(void)
{
    return last_outcome;
}

uint64_t p3_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

uint64_t p3_coarse_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

int p3_initialised(void)
{
    return (int)atomic_load_explicit(&library.initialised, memory_order_acquire);
}

/* ---- life of the table ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&library.mutex);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&library.mutex);
}

/* The segments belong to the parent: the child starts with nothing open. */
static void after_fork_child(void)
{
    for (uint32_t i = 0; i < P3_IFACES; i++) {
        struct p3_ni_slot *slot = &library.slot[i];

        atomic_store(&slot->state, P3_CLOSED);
        atomic_store(&slot->users, 0);
        atomic_fetch_add(&slot->generation, 1);
        slot->ni = NULL;
    }
    library.have_default = 0;
    library.first_pid = 0;
    atomic_store(&library.initialised, 0);
    pthread_mutex_unlock(&library.mutex);
}

static void install_fork_handlers(void)
{
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

int PtlInit(int *max_interfaces)
{
    if (max_interfaces == NULL)
        return p3_fail(PTL_SEGV, "PtlInit: max_interfaces is NULL");
    pthread_once(&fork_once, install_fork_handlers);
    atomic_store_explicit(&library.initialised, 1, memory_order_release);
    *max_interfaces = P3_PUBLIC_IFACES;
    return PTL_OK;
}

void PtlFini(void)
{
    for (uint32_t i = 0; i < P3_IFACES; i++) {
        struct p3_ni_slot *slot = &library.slot[i];

        if (atomic_load(&slot->state) == P3_OPEN)
            PtlNIFini(p3_handle(P3_KIND_NI, i, 0, atomic_load(&slot->generation)));
    }
    atomic_store_explicit(&library.initialised, 0, memory_order_release);
}

int p3_ni_enter(ptl_handle_any_t handle, enum p3_kind kind, int invalid, struct p3_ni **ni)
{
    uint32_t iface = p3_handle_iface(handle);
    struct p3_ni_slot *slot;

    if (!p3_initialised())
        return p3_fail(PTL_NO_INIT, "PtlInit was not called (or PtlFini was)");
    if (iface >= P3_IFACES || p3_handle_kind(handle) != (uint32_t)kind)
        return p3_fail(invalid, "handle 0x%08x does not name such an object", handle);
    slot = &library.slot[iface];
    /* seq_cst twice: either PtlNIFini sees this user, or the user sees it closing. */
    atomic_fetch_add(&slot->users, 1);
    if (atomic_load(&slot->state) != P3_OPEN ||
        (kind == P3_KIND_NI && (p3_handle_index(handle) != 0 ||
                                (atomic_load_explicit(&slot->generation, memory_order_relaxed) &
                                 P3_GENERATION_MASK) != p3_handle_generation(handle)))) {
        atomic_fetch_sub(&slot->users, 1);
        return p3_fail(invalid, "handle 0x%08x: its interface is not open", handle);
    }
    *ni = slot->ni;
    return PTL_OK;
}

void p3_ni_leave(struct p3_ni *ni)
{
    atomic_fetch_sub(&library.slot[ni->view.iface].users, 1);
}

int p3_iface_is_open(uint32_t iface)
{
    return iface < P3_IFACES &&
           atomic_load_explicit(&library.slot[iface].state, memory_order_acquire) == P3_OPEN;
}

int p3_ni_is_open(const struct p3_ni *ni)
{
    return p3_iface_is_open(ni->view.iface);
}

/* ---- opening ---- */

static uint32_t number_of(const char *variable, uint32_t otherwise)
{
    const char *text = getenv(variable);
    char *end;
    unsigned long value;

    if (text == NULL || *text == '\0')
        return otherwise;
    errno = 0;
    value = strtoul(text, &end, 0);
    return errno != 0 || *end != '\0' || value > 0xffffffffu ? otherwise : (uint32_t)value;
}

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
static int open_nic(struct p3_ni *ni, const ptl_ext_options_t *options, uint64_t bytes, char *why,
                    size_t why_size)
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
                           .area_bytes = bytes};
    uint32_t wanted = options->pid & 0xffffu;
    uint32_t tries = wanted == 0 || wanted == P3_PID_ANY ? P3_PID_TRIES : 1;
    uint32_t pid = tries == 1 ? wanted : (uint32_t)getpid() % P3_PID_MAX + 1;
    int error = -EEXIST;

    for (uint32_t i = 0; i < tries && error == -EEXIST; i++) {
        ni->pid = pid;
        snprintf(name, sizeof(name), "%u.%u", ni->nid, pid);
        /* Busy: many processes of the job open at once, and each has the folder for some ms. */
        for (int busy = 0; busy < P3_FOLDER_TRIES; busy++) {
            error = snic_open(&snic, &ni->nic, why, why_size);
            if (error != -EBUSY)
                break;
        }
        pid = pid % P3_PID_MAX + 1;
    }
    return error;
}

static void prepare_area(struct p3_ni *ni, const struct p3_geometry *g, uint32_t generation)
{
    struct p3_area *area = snic_area(ni->nic);
    uint32_t iface = ni->view.iface;

    p3_area_build(area, &ni->limits, g, generation * 37u);
    area->flavor = ni->flavor;
    area->iface = iface;
    area->nid = ni->nid;
    area->pid = ni->pid;
    area->uid = ni->uid;
    area->jid = ni->jid;
    area->incarnation = ni->incarnation;
    p3_view_open(&ni->view, area, snic_area_bytes(ni->nic));
    for (uint32_t i = 0; i < ni->view.acs; i++)
        ni->view.ac[i] = (struct p3_ac){.nid = PTL_NID_ANY,
                                        .pid = P3_PID_ANY,
                                        .uid = ni->uid,
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
    pthread_mutex_destroy(&ni->peers_mutex);
    pthread_mutex_destroy(&ni->deferred_mutex);
    free(ni);
}

static struct p3_ni *ni_new(const struct p3_geometry *g)
{
    struct p3_ni *ni = calloc(1, sizeof(*ni));

    if (ni == NULL)
        return NULL;
    pthread_mutex_init(&ni->objects, NULL);
    pthread_mutex_init(&ni->peers_mutex, NULL);
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

/* With the library's mutex held and the slot OPENING. */
static int ni_open(struct p3_ni_slot *slot, const ptl_ext_options_t *options,
                   const ptl_ni_limits_t *desired, char *why, size_t why_size)
{
    uint32_t timeout_ms = options->lock_timeout_ms ? options->lock_timeout_ms : P3_LOCK_TIMEOUT_MS;
    uint32_t events = options->event_slots ? options->event_slots
                                           : number_of("PTL_EVENT_SLOTS", P3_SLOTS_DEFAULT);
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
    ni->flavor = options->flavor == PTL_EXT_CRAY ? P3_FLAVOR_CRAY : P3_FLAVOR_REF;
    ni->nid = options->nid ? options->nid : number_of("PTL_NID", 1);
    ni->uid = (uint32_t)geteuid();
    ni->lock_timeout_ns = (int64_t)timeout_ms * 1000000;
    ni->view.iface = (uint32_t)(slot - library.slot);
    ni->view.intents = g.intents;
    error = open_nic(ni, options, p3_area_bytes(&g), why, why_size);
    if (error < 0) {
        ni_free(ni);
        return p3_fail(open_code(error), "PtlNIInit: %s", why);
    }
    ni->incarnation = snic_incarnation(ni->nic);
    if (library.first_pid == 0)
        library.first_pid = ni->pid;
    ni->jid = options->jid ? options->jid : number_of("PTL_JID", library.first_pid);
    prepare_area(ni, &g, atomic_load(&slot->generation));
    error = snic_publish(ni->nic);
    if (error < 0) {
        snic_close(ni->nic);
        ni_free(ni);
        return p3_fail(PTL_FAIL, "PtlNIInit: the interface cannot be published: %s",
                       strerror(-error));
    }
    slot->ni = ni;
    return PTL_OK;
}

static int slot_open(const ptl_ext_options_t *options, const ptl_ni_limits_t *desired,
                     ptl_handle_ni_t *handle, char *why, size_t why_size)
{
    for (uint32_t i = 0; i < P3_IFACES; i++) {
        struct p3_ni_slot *slot = &library.slot[i];
        uint32_t closed = P3_CLOSED;
        int code;

        if (!atomic_compare_exchange_strong(&slot->state, &closed, P3_OPENING))
            continue;
        code = ni_open(slot, options, desired, why, why_size);
        /* Partner: the load in p3_ni_enter; publishes slot->ni. */
        atomic_store(&slot->state, code == PTL_OK ? P3_OPEN : P3_CLOSED);
        if (code == PTL_OK)
            *handle = p3_handle(P3_KIND_NI, i, 0, atomic_load(&slot->generation));
        return code;
    }
    return p3_fail(PTL_NO_SPACE, "PtlNIInit: this process has %u interfaces open already",
                   P3_IFACES);
}

static void give_limits(ptl_handle_ni_t handle, ptl_ni_limits_t *actual)
{
    if (actual != NULL)
        *actual = library.slot[p3_handle_iface(handle)].ni->limits;
}

int PtlExtNIOpen(const ptl_ext_options_t *options, const ptl_ni_limits_t *desired,
                 ptl_ni_limits_t *actual, ptl_handle_ni_t *ni_handle, char *why, size_t why_size)
{
    char text[SNIC_WHY_MAX] = "";
    int code;

    if (options == NULL || ni_handle == NULL) {
        code = p3_fail(PTL_SEGV, "PtlExtNIOpen: options or ni_handle is NULL");
    } else if (!p3_initialised()) {
        code = p3_fail(PTL_NO_INIT, "PtlInit was not called");
    } else {
        pthread_mutex_lock(&library.mutex);
        code = slot_open(options, desired, ni_handle, text, sizeof(text));
        if (code == PTL_OK)
            give_limits(*ni_handle, actual);
        pthread_mutex_unlock(&library.mutex);
    }
    if (code != PTL_OK && why != NULL && why_size > 0)
        snprintf(why, why_size, "%s", error_text);
    return code;
}

static int known_interface(ptl_interface_t iface)
{
    /* PTL_IFACE_DEFAULT and the values of IFACE_FROM_BRIDGE_AND_NALID. */
    return iface == (ptl_interface_t)-1 || iface == 0x10001u || iface == 0x20001u;
}

static int ni_init(ptl_interface_t iface, uint32_t pid, ptl_ni_limits_t *desired,
                   ptl_ni_limits_t *actual, ptl_handle_ni_t *ni_handle, uint32_t flavor)
{
    ptl_ext_options_t options = {.flavor = flavor, .pid = pid & 0xffffu};
    char text[SNIC_WHY_MAX] = "";
    int code;

    if (!p3_initialised())
        return p3_fail(PTL_NO_INIT, "PtlInit was not called");
    if (ni_handle == NULL)
        return p3_fail(PTL_SEGV, "PtlNIInit: ni_handle is NULL");
    if (!known_interface(iface))
        return p3_fail(PTL_IFACE_INVALID, "PtlNIInit: no interface %u", iface);
    pthread_mutex_lock(&library.mutex);
    if (library.have_default) {
        *ni_handle = library.default_ni;
        give_limits(*ni_handle, actual);
        code = flavor == PTL_EXT_CRAY ? 26 /* PTL_IFACE_DUP */ : PTL_OK;
    } else if (options.pid == 0 || (pid != PTL_PID_ANY && pid > 0xffffu)) {
        code = p3_fail(PTL_PID_INVALID, "PtlNIInit: pid %u is not in 1..65534", pid);
    } else {
        code = slot_open(&options, desired, ni_handle, text, sizeof(text));
        if (code == PTL_OK) {
            library.have_default = 1;
            library.default_ni = *ni_handle;
            give_limits(*ni_handle, actual);
        }
    }
    pthread_mutex_unlock(&library.mutex);
    return code;
}

int PtlNIInit(ptl_interface_t iface, ptl_pid_t pid, ptl_ni_limits_t *desired,
              ptl_ni_limits_t *actual, ptl_handle_ni_t *ni_handle)
{
    return ni_init(iface, pid, desired, actual, ni_handle, PTL_EXT_REF);
}

/* What PtlNIInit is called in the object files of CRAY programs; their pid has 16 bits. */
int PtlNIInit_cray(ptl_interface_t iface, uint16_t pid, ptl_ni_limits_t *desired,
                   ptl_ni_limits_t *actual, ptl_handle_ni_t *ni_handle)
{
    return ni_init(iface, pid, desired, actual, ni_handle, PTL_EXT_CRAY);
}

/* ---- closing ---- */

/* Waits for bytes that live peers are still moving to or from here; the caller may free that memory
 * as soon as PtlNIFini has returned. */
static void wait_for_movers(struct p3_ni *ni)
{
    uint64_t deadline = p3_now_ns() + P3_FINI_WAIT_NS;
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
    } while (p3_now_ns() < deadline);
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

int PtlNIFini(ptl_handle_ni_t ni_handle)
{
    const struct timespec pause = {.tv_nsec = 50000};
    uint32_t open = P3_OPEN;
    struct p3_ni_slot *slot;
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    slot = &library.slot[ni->view.iface];
    if (!atomic_compare_exchange_strong(&slot->state, &open, P3_CLOSING)) {
        p3_ni_leave(ni);
        return p3_fail(PTL_NI_INVALID, "PtlNIFini: being closed by another thread");
    }
    if (p3_lock_own(ni) == PTL_OK) {
        atomic_store_explicit(&ni->view.area->open, 0, memory_order_release);
        p3_unlock_own(ni);
    } else { /* a stopped peer sits on the lock: he finds it closed when he wakes */
        atomic_store_explicit(&ni->view.area->open, 0, memory_order_release);
    }
    p3_ni_leave(ni);
    while (atomic_load(&slot->users) != 0) {
        snic_ring_self(ni->nic);
        nanosleep(&pause, NULL);
    }
    wait_for_movers(ni);
    close_peers(ni);
    snic_close(ni->nic);
    for (uint32_t i = 0; i < ni->mds_high; i++)
        free(ni->mds[i].iovs);
    p3_deferred_free(ni);
    ni_free(ni);
    pthread_mutex_lock(&library.mutex);
    if (library.have_default && library.default_ni == ni_handle)
        library.have_default = 0;
    slot->ni = NULL;
    atomic_fetch_add(&slot->generation, 1);
    atomic_store(&slot->state, P3_CLOSED);
    pthread_mutex_unlock(&library.mutex);
    return PTL_OK;
}

/* ---- asking ---- */

static int register_known(ptl_sr_index_t index)
{
    return index <= PTL_SR_SEND_LENGTH || index == PTL_SR_MES_MAX || index == PTL_SR_MES_CUR ||
           index == PTL_SR_MDS_MAX || index == PTL_SR_MDS_CUR || index == PTL_SR_EQS_MAX ||
           index == PTL_SR_EQS_CUR;
}

int PtlNIStatus(ptl_handle_ni_t ni_handle, ptl_sr_index_t register_index, ptl_sr_value_t *status)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (status == NULL)
        code = p3_fail(PTL_SEGV, "PtlNIStatus: status is NULL");
    else if (!register_known(register_index))
        code = p3_fail(PTL_SR_INDEX_INVALID, "PtlNIStatus: no register %u", register_index);
    else
        *status = atomic_load_explicit(&ni->view.area->sr[register_index], memory_order_relaxed);
    p3_ni_leave(ni);
    return code;
}

int PtlNIDist(ptl_handle_ni_t ni_handle, ptl_process_id_t process, unsigned long *distance)
{
    struct p3_ni *ni;
    uint32_t pid = process.pid & 0xffffu;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (distance == NULL)
        code = p3_fail(PTL_SEGV, "PtlNIDist: distance is NULL");
    else if (process.nid == PTL_NID_ANY || pid == P3_PID_ANY || pid == 0)
        code = p3_fail(PTL_PROCESS_INVALID, "PtlNIDist: %u.%u names no process", process.nid, pid);
    else if (process.nid != ni->nid)
        *distance = 2;
    else
        *distance = pid == ni->pid ? 0 : 1;
    p3_ni_leave(ni);
    return code;
}

int PtlNIHandle(ptl_handle_any_t handle, ptl_handle_ni_t *ni_handle)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(handle, (enum p3_kind)p3_handle_kind(handle), PTL_HANDLE_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (ni_handle == NULL)
        code = p3_fail(PTL_SEGV, "PtlNIHandle: ni_handle is NULL");
    else
        *ni_handle = p3_handle(
            P3_KIND_NI, ni->view.iface, 0,
            atomic_load_explicit(&library.slot[ni->view.iface].generation, memory_order_relaxed));
    p3_ni_leave(ni);
    return code;
}

int PtlGetUid(ptl_handle_ni_t ni_handle, ptl_uid_t *uid)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (uid == NULL)
        code = p3_fail(PTL_SEGV, "PtlGetUid: uid is NULL");
    else
        *uid = ni->uid;
    p3_ni_leave(ni);
    return code;
}

int PtlGetId(ptl_handle_ni_t ni_handle, ptl_process_id_t *id)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (id == NULL)
        code = p3_fail(PTL_SEGV, "PtlGetId: id is NULL");
    else
        *id = (ptl_process_id_t){.nid = ni->nid, .pid = ni->pid};
    p3_ni_leave(ni);
    return code;
}

int PtlGetJid(ptl_handle_ni_t ni_handle, ptl_jid_t *jid)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (jid == NULL)
        code = p3_fail(PTL_SEGV, "PtlGetJid: jid is NULL");
    else
        *jid = ni->jid;
    p3_ni_leave(ni);
    return code;
}

int PtlACEntry(ptl_handle_ni_t ni_handle, ptl_ac_index_t ac_index, ptl_process_id_t match_id,
               ptl_uid_t user_id, ptl_jid_t job_id, ptl_pt_index_t pt_index)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (ac_index >= ni->view.acs) {
        code = p3_fail(PTL_AC_INDEX_INVALID, "PtlACEntry: index %u exceeds %u", ac_index,
                       ni->view.acs - 1);
    } else if (pt_index != PTL_PT_INDEX_ANY && pt_index >= ni->view.pts) {
        code = p3_fail(PTL_PT_INDEX_INVALID, "PtlACEntry: portal index %u exceeds %u", pt_index,
                       ni->view.pts - 1);
    } else if ((code = p3_lock_own(ni)) == PTL_OK) {
        ni->view.ac[ac_index] = (struct p3_ac){.nid = match_id.nid,
                                               .pid = match_id.pid & 0xffffu,
                                               .uid = user_id,
                                               .jid = job_id,
                                               .pt_index = pt_index};
        p3_unlock_own(ni);
    }
    p3_ni_leave(ni);
    return code;
}
