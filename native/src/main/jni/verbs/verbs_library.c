/*
 * libibverbs and librdmacm, opened when a program asks for them instead of when the JNI library is
 * loaded: a machine without them loads this library all the same and is told what is missing, and
 * an older one works as far as it goes.
 *
 * Each function of theirs exists here as one jump through a slot. So the headers' inline functions
 * and the generated bindings call them by their own names. A slot leads to what says "not
 * supported" until vv_open has filled it, and ever after if the library lacks the function.
 */
#define _GNU_SOURCE
#include "verbs_calls.h"
#include "verbs_symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

static void *missing_P(void)
{
    errno = EOPNOTSUPP;
    return NULL;
}

static int missing_E(void)
{
    errno = EOPNOTSUPP;
    return EOPNOTSUPP;
}

static int missing_M(void)
{
    errno = EOPNOTSUPP;
    return -1;
}

static ssize_t missing_L(void)
{
    return -EOPNOTSUPP;
}

static uint64_t missing_V(void)
{
    return 0;
}

#if defined(__x86_64__)
#define VV_JUMP(name) "    endbr64\n    jmp *vv_slot_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define VV_JUMP(name)                                                                              \
    "    hint #34\n    adrp x16, vv_slot_" #name "\n    ldr x16, [x16, :lo12:vv_slot_" #name       \
    "]\n    br x16\n"
#else
#error "one jump instruction through memory is needed for this processor"
#endif

#define VV_TRAMPOLINE(kind, name)                                                                  \
    __attribute__((visibility("hidden"), used)) void *vv_slot_##name = (void *)missing_##kind;     \
    __asm__(".text\n.balign 16\n.globl " #name "\n.hidden " #name "\n.type " #name                 \
            ", %function\n" #name ":\n" VV_JUMP(name) ".size " #name ", .-" #name "\n");

VV_IBVERBS(VV_TRAMPOLINE)
VV_RDMACM(VV_TRAMPOLINE)

struct slot {
    const char *name;
    void **slot;
};

#define VV_SLOT(kind, name) {#name, &vv_slot_##name},
static const struct slot ibverbs_slots[] = {VV_IBVERBS(VV_SLOT)};
static const struct slot rdmacm_slots[] = {VV_RDMACM(VV_SLOT)};
#define COUNT(array) ((int)(sizeof array / sizeof array[0]))

/* mlx5 cards may put up to 64 received or read bytes into the completion, from where the provider
 * copies them, with the processor, to the address in the request. Regions may have other addresses
 * in requests than in this process, so that would write anywhere. Providers look at this when a
 * device is opened or a queue pair made: both are behind the opening of the library, which happens
 * once in a process. Who has set it keeps it, and then nothing is written: setenv is not safe
 * beside threads of other native code that read the environment. */
static void keep_bytes_out_of_completions(void)
{
    setenv("MLX5_SCATTER_TO_CQE", "0", 0);
}

/* The functions found, or -errno. The library stays open: providers keep threads and fork handlers
 * that must outlive every object. */
static int open_library(const char *path, const struct slot *slots, int count, char *why,
                        size_t why_size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        snprintf(why, why_size, "%s", text ? text : path);
        return -ENOENT;
    }
    int found = 0;
    for (int i = 0; i < count; i++) {
        void *function = dlsym(library, slots[i].name);
        if (function) {
            *slots[i].slot = function;
            found++;
        }
    }
    if (!found) {
        snprintf(why, why_size, "%s has no function of the %d that are needed", path, count);
        dlclose(library);
        return -ENOSYS;
    }
    return found;
}

int vv_open_ibverbs(const char *path, char *why, size_t why_size)
{
    keep_bytes_out_of_completions();
    return open_library(path, ibverbs_slots, COUNT(ibverbs_slots), why, why_size);
}

int vv_open_rdmacm(const char *path, char *why, size_t why_size)
{
    return open_library(path, rdmacm_slots, COUNT(rdmacm_slots), why, why_size);
}

int vv_symbol_count(void)
{
    return COUNT(ibverbs_slots) + COUNT(rdmacm_slots);
}

const char *vv_symbol_name(int row)
{
    if (row < 0 || row >= vv_symbol_count())
        return NULL;
    return row < COUNT(ibverbs_slots) ? ibverbs_slots[row].name
                                      : rdmacm_slots[row - COUNT(ibverbs_slots)].name;
}
