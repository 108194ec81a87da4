/* The process's table of interfaces: entering, leaving, opening and closing them by handle. */
#include "p3_library.h"

#include "p3_cray.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define P3_PUBLIC_IFACES 4 /* PtlInit's answer; the extension opens up to P3_IFACES */

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

int p3_ni_enter_to(ptl_handle_ni_t handle, const void *to, const char *what, struct p3_ni **ni)
{
    int code = p3_ni_enter(handle, P3_KIND_NI, PTL_NI_INVALID, ni);

    if (code == PTL_OK && to == NULL) {
        p3_ni_leave(*ni);
        code = p3_fail(PTL_SEGV, "%s is NULL", what);
    }
    return code;
}

void p3_ni_leave(struct p3_ni *ni)
{
    atomic_fetch_sub(&library.slot[ni->view.iface].users, 1);
}

ptl_handle_ni_t p3_ni_handle(const struct p3_ni *ni)
{
    return p3_handle(
        P3_KIND_NI, ni->view.iface, 0,
        atomic_load_explicit(&library.slot[ni->view.iface].generation, memory_order_relaxed));
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

int p3_ni_whole(const struct p3_ni *ni)
{
    char why[SNIC_WHY_MAX];

    return snic_damage(ni->nic, why, sizeof(why)) == 0 ? PTL_OK : p3_fail(PTL_FAIL, "%s", why);
}

/* ---- opening ---- */

static int slot_open(const ptl_ext_options_t *options, int is_program,
                     const ptl_ni_limits_t *desired, ptl_handle_ni_t *handle, char *why,
                     size_t why_size)
{
    for (uint32_t i = 0; i < P3_IFACES; i++) {
        struct p3_ni_slot *slot = &library.slot[i];
        uint32_t closed = P3_CLOSED;
        struct p3_ni_place place;
        int code;

        if (!atomic_compare_exchange_strong(&slot->state, &closed, P3_OPENING))
            continue;
        place =
            (struct p3_ni_place){i, atomic_load(&slot->generation), library.first_pid, is_program};
        code = p3_ni_open(&place, options, desired, &slot->ni, why, why_size);
        if (code == PTL_OK && library.first_pid == 0)
            library.first_pid = slot->ni->self.pid;
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
        code = slot_open(options, 0, desired, ni_handle, text, sizeof(text));
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

/* Under library.mutex. */
static int is_open_here(uint32_t nid, uint32_t pid)
{
    for (uint32_t i = 0; i < P3_IFACES; i++)
        if (p3_iface_is_open(i) && library.slot[i].ni->self.nid == nid &&
            library.slot[i].ni->self.pid == pid)
            return 1;
    return 0;
}

/* The maps say where this process's rank is: there its peers look for it. */
static void take_rank(ptl_ext_options_t *options)
{
    uint32_t nid, pid;

    if (!p3_rank_own(&nid, &pid))
        return;
    if (options->pid == P3_PID_ANY && !is_open_here(nid, pid))
        options->pid = pid <= 0xffffu ? pid : 0;
    if (options->pid == pid)
        options->nid = nid;
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
    take_rank(&options);
    if (library.have_default) {
        *ni_handle = library.default_ni;
        give_limits(*ni_handle, actual);
        code = flavor == PTL_EXT_CRAY ? 26 /* PTL_IFACE_DUP */ : PTL_OK;
    } else if (options.pid == 0 || (pid != PTL_PID_ANY && pid > 0xffffu)) {
        code = p3_fail(PTL_PID_INVALID, "PtlNIInit: pid %u is not in 1..65534", pid);
    } else {
        code = slot_open(&options, 1, desired, ni_handle, text, sizeof(text));
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
    p3_ni_close(ni);
    pthread_mutex_lock(&library.mutex);
    if (library.have_default && library.default_ni == ni_handle)
        library.have_default = 0;
    slot->ni = NULL;
    atomic_fetch_add(&slot->generation, 1);
    atomic_store(&slot->state, P3_CLOSED);
    pthread_mutex_unlock(&library.mutex);
    return PTL_OK;
}
