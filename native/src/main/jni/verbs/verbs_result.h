/* How calls of libibverbs answer: 0 or a negated errno. */
#ifndef VERBS_RESULT_H
#define VERBS_RESULT_H

#include <errno.h>

/* Why a call failed that left its reason in errno. */
static inline int failure(void)
{
    return errno ? -errno : -EIO;
}

/* What a call means that answers 0, an errno, or -1 with errno. Providers mix the last two. */
static inline int result_of(int result)
{
    if (result == -1)
        return failure();
    return result > 0 ? -result : result;
}

#define DONE(call)                                                                                 \
    do {                                                                                           \
        errno = 0;                                                                                 \
        return result_of(call);                                                                    \
    } while (0)

/* Calls with flat arguments that are one call of the library: a row says their name, that call and
 * their parameters. */
#define DOES(name, call, ...)                                                                      \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        DONE(call);                                                                                \
    }
/* One that cannot fail. */
#define TELLS(name, call, ...)                                                                     \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        call;                                                                                      \
        return 0;                                                                                  \
    }
/* One that answers what it made, which `out` gets, or NULL with errno. */
#define MAKES(name, call, ...)                                                                     \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        errno = 0;                                                                                 \
        void *made = (call);                                                                       \
        if (!made)                                                                                 \
            return failure();                                                                      \
        *out = made;                                                                               \
        return 0;                                                                                  \
    }

#endif
