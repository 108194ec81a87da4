/* Which library the calls go to. */
#define _GNU_SOURCE
#include "gni_functions.h"
#include "gni_native.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define VGN_LINKED(name) .name = name,
static const struct vgn_functions linked = {VGN_FUNCTIONS(VGN_LINKED)};
struct vgn_functions vgn = {VGN_FUNCTIONS(VGN_LINKED)};

struct row {
    const char *name;
    size_t at;
};
#define VGN_ROW(name) {#name, offsetof(struct vgn_functions, name)},
static const struct row rows[] = {VGN_FUNCTIONS(VGN_ROW)};
#define ROWS ((int32_t)(sizeof(rows) / sizeof(*rows)))
static const char *const needed[] = {"GNI_CdmCreate", "GNI_CdmAttach", "GNI_EpCreate",
                                     "GNI_CqGetEvent", "GNI_PostFma"};

/* The library stays open: its objects and threads may outlive every object of ours. */
int32_t vgn_open(const char *path, char *why, uint32_t why_size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct vgn_functions found;
    int32_t count = 0;

    if (library == NULL) {
        const char *text = dlerror();

        snprintf(why, why_size, "%s", text ? text : path);
        return -ENOENT;
    }
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (dlsym(library, needed[i]) == NULL) {
            snprintf(why, why_size, "%s has no %s: it is not a libugni", path, needed[i]);
            dlclose(library);
            return -ENOSYS;
        }
    for (int32_t i = 0; i < ROWS; i++) {
        void *function = dlsym(library, rows[i].name);

        memcpy((char *)&found + rows[i].at, &function, sizeof(function));
        count += function != NULL;
    }
    vgn = found;
    return count;
}

void vgn_built_in(void)
{
    vgn = linked;
}

int32_t vgn_is_ours(void)
{
    return vgn.GNI_ExtError != NULL;
}

int32_t vgn_function_count(void)
{
    return ROWS;
}

const char *vgn_function_name(int32_t row)
{
    return row >= 0 && row < ROWS ? rows[row].name : NULL;
}

int32_t vgn_function_present(int32_t row)
{
    void *function = NULL;

    if (row >= 0 && row < ROWS)
        memcpy(&function, (char *)&vgn + rows[row].at, sizeof(function));
    return function != NULL;
}
