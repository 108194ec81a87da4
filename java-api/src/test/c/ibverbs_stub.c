/*
 * A libibverbs without a device, for tests: it records what it is called with, answers what it is
 * told to, and fails when it is told to. Two devices: "stub0" records what is posted, "nothing0"
 * does nothing in post and poll, to measure what a call costs.
 *
 * The test finds the record by its address, which stub0 answers as max_mr_size. With a P_Key index
 * above 100 nothing0 runs loops in C that Java's are compared with: enum measured times a million,
 * plus how many rounds.
 *
 * One translation unit of several parts, so that only the names of libibverbs are seen outside.
 */
#include <infiniband/verbs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* clang-format off: each part uses those before it */
#include "ibverbs_stub/record.c"
#include "ibverbs_stub/posting.c"
#include "ibverbs_stub/loops.c"
#include "ibverbs_stub/memory.c"
#include "ibverbs_stub/completions.c"
#include "ibverbs_stub/queues.c"
#include "ibverbs_stub/builder.c"
#include "ibverbs_stub/devices.c"
/* clang-format on */
