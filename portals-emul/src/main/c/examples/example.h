/* What these programs share: a call that must succeed. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <portals3.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        int code_ = (call);                                                                        \
        if (code_ != PTL_OK) {                                                                     \
            fprintf(stderr, "%s: %s\n", #call, PtlErrorStr((unsigned)code_));                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
