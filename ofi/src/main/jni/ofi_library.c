/* Opens libfabric, and keeps what it must not change in this process. */
#include "ofi_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vfi_functions vfi;

struct row {
    const char *name;
    size_t at;
};
#define VFI_ROW(name) {#name, offsetof(struct vfi_functions, name)},
static const struct row rows[] = {VFI_FUNCTIONS(VFI_ROW)};

static const int kept[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                  SIGTERM, SIGINT, SIGHUP, SIGQUIT};

void vfi_keep_signals(struct vfi_signals *signals)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(kept[i], NULL, &signals->was[i]);
}

void vfi_restore_signals(const struct vfi_signals *signals)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(kept[i], &signals->was[i], NULL);
}

static int32_t refuse(void *library, char *why, uint32_t why_size, const char *what)
{
    snprintf(why, why_size, "%s", what);
    if (library != NULL)
        dlclose(library);
    return -FI_ENOSYS;
}

/*
 * Of the layer rxm. Over verbs an endpoint that closes posts buffers to queue pairs that it has
 * closed, and crashes (1.17), unless one receive queue serves all peers; over tcp it always does.
 * Unless told, that queue holds 4,096 buffers of 16 KiB, which each endpoint clears and pins: 64
 * MiB. They are made 1,024 at a time. Fewer than that cost no less; a message that finds none
 * waits. A completion queue of a software RDMA device (Soft-RoCE) has at most 32,767 places, and
 * the layer asks for more than that for the number of peers that it expects, 256 unless told.
 * FI_OFI_RXM_DEF_TCP_WAIT_OBJ=pollfd would make a short message over tcp an eighth faster. But then
 * nothing wakes a sleeper (1.17): the descriptor of a queue with FI_WAIT_FD stays silent while 1
 * MiB puts arrive, and the one that FI_WAIT_POLLFD answers is always readable.
 */
static void set_up_rxm(void)
{
    glob_t found;

    setenv("FI_OFI_RXM_USE_SRX", "1", 0);
    if (glob("/sys/class/infiniband/*/parent", GLOB_NOSORT, NULL, &found) == 0) {
        setenv("FI_UNIVERSE_SIZE", "64", 0);
        setenv("FI_OFI_RXM_MSG_RX_SIZE", "256", 0);
        globfree(&found);
    }
    setenv("FI_OFI_RXM_MSG_RX_SIZE", "1000", 0);
}

/*
 * The library stays open: its objects and threads may outlive every object of ours. Two variables
 * keep the PSM libraries, which it loads, from signal handlers and from files *.btr in the working
 * folder; they are read by C only, so they are set here.
 */
int32_t vfi_open(const char *path, char *why, uint32_t why_size)
{
    struct vfi_signals signals;
    struct vfi_functions found;
    void *library;
    char text[128];

    setenv("HFI_NO_BACKTRACE", "1", 0);
    setenv("IPATH_NO_BACKTRACE", "1", 0);
    set_up_rxm();
    vfi_keep_signals(&signals);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    vfi_restore_signals(&signals);
    if (library == NULL) {
        const char *error = dlerror();

        return refuse(NULL, why, why_size, error ? error : path);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *function = dlsym(library, rows[i].name);

        if (function == NULL) {
            snprintf(text, sizeof(text), "%s has no %s", path, rows[i].name);
            return refuse(library, why, why_size, text);
        }
        memcpy((char *)&found + rows[i].at, &function, sizeof(function));
    }
    if (FI_VERSION_LT(found.fi_version(), API)) {
        snprintf(text, sizeof(text), "%s has version %u.%u; 1.17 or newer is needed", path,
                 FI_MAJOR(found.fi_version()), FI_MINOR(found.fi_version()));
        return refuse(library, why, why_size, text);
    }
    vfi = found;
    return (int32_t)vfi.fi_version();
}

const char *vfi_error_text(int32_t code)
{
    return vfi.fi_strerror == NULL ? "" : vfi.fi_strerror(code < 0 ? -code : code);
}
