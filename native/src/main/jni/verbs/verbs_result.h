/* How calls of libibverbs answer: 0 or a negated errno. */
#ifndef VERBS_RESULT_H
#define VERBS_RESULT_H

#include <errno.h>

/* After a call that answers NULL with errno: stores what it made. */
#define MADE(call)                                                                                 \
    do {                                                                                           \
        errno = 0;                                                                                 \
        void *made = (call);                                                                       \
        if (!made)                                                                                 \
            return errno ? -errno : -EIO;                                                          \
        *out = made;                                                                               \
        return 0;                                                                                  \
    } while (0)

/* After a call that answers 0, an errno, or -1 with errno. Providers mix the last two. */
#define DONE(call)                                                                                 \
    do {                                                                                           \
        errno = 0;                                                                                 \
        return result_of(call);                                                                    \
    } while (0)

/* The call of Java that ends an object by one of the library, which answers likewise. */
#define ENDS(name, call, type)                                                                     \
    int name(type *object)                                                                         \
    {                                                                                              \
        DONE(call(object));                                                                        \
    }

static inline int result_of(int result)
{
    if (result == -1)
        return errno ? -errno : -EIO;
    return result > 0 ? -result : result;
}

#endif
