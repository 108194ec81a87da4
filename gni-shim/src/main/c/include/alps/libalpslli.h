/* What a process asks the launcher. One exchange at a time: lock, put_request, get_response,
 * get_response_bytes, unlock. All answer 0, or an errno. */
#ifndef VERBENA_ALPS_LIBALPSLLI_H
#define VERBENA_ALPS_LIBALPSLLI_H

#include <alps/alps.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

int alps_app_lli_lock(void);
int alps_app_lli_unlock(void);
int alps_app_lli_put_request(int request, const void *bytes, size_t count);
/* *status: ALPS_APP_LLI_ALPS_STAT_*; *count: bytes that get_response_bytes will give. */
int alps_app_lli_get_response(int *status, size_t *count);
int alps_app_lli_get_response_bytes(void *bytes, size_t count);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
