/* What softnic and the libraries upon it need of their host: clocks, settings, and whether
 * ThreadSanitizer watches. C only; not part of what Java reads. */
#ifndef SOFTNIC_HOST_H
#define SOFTNIC_HOST_H

#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define SNIC_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SNIC_TSAN 1
#endif
#endif

uint64_t snic_now_ns(void);
/* Cheap, some milliseconds late. */
uint64_t snic_coarse_ns(void);
/* A setting of the environment, a number of 32 bits; `otherwise`: it is not set, or is none. */
uint32_t snic_setting(const char *variable, uint32_t otherwise);
/* The folder for shared memory: the given one, or the one that the environment or the system has.
 */
const char *snic_directory(const char *given);

#endif
