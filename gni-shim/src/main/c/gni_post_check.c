/* Whether a post is allowed: alignment, atomic operations, FMA posts (specification, section 6). */
#include "gni_library.h"

#define FLAGGED_MAX 60u
#define LINE 64u
#define AMO_NO_FETCH 0x100u
#define AMO_SMALL 0x200u

int gni_post_is_unaligned(const gni_post_descriptor_t *d, uint64_t to)
{
    return (d->local_addr | d->remote_addr | d->length) & (to - 1) ? 1 : 0;
}

static int is_amo_command(uint32_t command)
{
    uint32_t op2 = command & 0x1e;

    if (command & ~0x3ffu)
        return 0;
    if (command & 0x40) {
        int bits = command & 0x01 ? 64 : 0;

        bits += command & AMO_SMALL ? 32 : 0;
        return (bits == 64 || bits == 32) && !(command & 0x80) && op2 != 0x0c && op2 != 0x0e &&
               op2 != 0x16 && op2 != 0x1e;
    }
    if (command & ~0x11fu)
        return 0;
    return (command & 0xf) >= 0x8 && (command & 0xf) <= ((command & AMO_NO_FETCH) ? 0xcu : 0xdu);
}

/* AX and CSWAP that fetch nothing may come with two elements (specification, section 6). */
static int may_be_double(uint32_t command)
{
    if (!(command & AMO_NO_FETCH))
        return 0;
    return command & 0x40 ? (command & 0x1e) == 0x08 || (command & 0x1e) == 0x0a
                          : (command & 0xf) == 0xc;
}

static gni_return_t check_amo(const gni_post_descriptor_t *d)
{
    uint32_t command = (uint32_t)d->amo_cmd, size = command & AMO_SMALL ? 4 : 8;
    int fetches = !(command & AMO_NO_FETCH);

    if (d->length == 0 || !is_amo_command(command))
        return GNI_RC_INVALID_PARAM;
    if (((d->remote_addr | d->length) & (size - 1)) || (fetches && (d->local_addr & (size - 1))))
        return GNI_RC_ALIGNMENT_ERROR;
    if (d->length == 2 * size && may_be_double(command))
        return d->remote_addr & (2 * size - 1) ? GNI_RC_ALIGNMENT_ERROR : GNI_RC_SUCCESS;
    return d->length == size ? GNI_RC_SUCCESS : GNI_RC_INVALID_PARAM;
}

gni_return_t gni_post_check_fma(const gni_post_descriptor_t *d)
{
    switch (d->type) {
    case GNI_POST_FMA_PUT:
    case GNI_POST_FMA_PUT_W_SYNCFLAG:
        return GNI_RC_SUCCESS;
    case GNI_POST_FMA_GET:
    case GNI_POST_FMA_GET_W_FLAG:
        if (d->length == 0)
            return GNI_RC_INVALID_PARAM;
        if (gni_post_is_unaligned(d, 4))
            return GNI_RC_ALIGNMENT_ERROR;
        if (d->type == GNI_POST_FMA_GET)
            return GNI_RC_SUCCESS;
        if (d->length > FLAGGED_MAX)
            return GNI_RC_INVALID_PARAM;
        return d->local_addr % LINE + d->length + GNI_FMA_FLAGGED_RESPONSE_SIZE > LINE
                   ? GNI_RC_ALIGNMENT_ERROR
                   : GNI_RC_SUCCESS;
    case GNI_POST_AMO:
    case GNI_POST_AMO_W_FLAG:
        return check_amo(d);
    default:
        return GNI_RC_INVALID_PARAM;
    }
}
