/* Bytes between our descriptor and the target's place, contiguous or in segments. */
#include "p3_move.h"

#include <errno.h>
#include <string.h>

static uint32_t p3_fail_of(int error)
{
    return error == 0 ? PTL_NI_OK : error == -ESRCH ? PTL_EXT_FAIL_PEER_DIED : PTL_EXT_FAIL_FAULT;
}

/* Moves one contiguous piece of ours to or from the target's place. */
static int move_piece(struct p3_peer *peer, const struct p3_place *place, uint64_t at,
                      uint8_t *mine, uint64_t length, int write)
{
    uint64_t skip = place->offset + at;

    if (!(place->options & PTL_MD_IOVEC))
        return write ? snic_write(peer->snic, &place->location, skip, mine, length)
                     : snic_read(peer->snic, &place->location, skip, mine, length);
    for (uint32_t i = 0; i < place->iov_count && length > 0; i++) {
        struct p3_iov iov = peer->view.iov[place->iov_first + i];
        uint64_t part;
        int error;

        if (skip >= iov.length) {
            skip -= iov.length;
            continue;
        }
        part = iov.length - skip < length ? iov.length - skip : length;
        error = write ? snic_write(peer->snic, &iov.location, skip, mine, part)
                      : snic_read(peer->snic, &iov.location, skip, mine, part);
        if (error < 0)
            return error;
        mine += part;
        length -= part;
        skip = 0;
    }
    return length == 0 ? 0 : -EFAULT;
}

uint32_t p3_move_bytes(struct p3_peer *peer, const struct p3_place *place,
                       const struct p3_source *source, uint64_t offset, uint64_t length, int write)
{
    uint64_t at = 0;

    if (length == 0)
        return PTL_NI_OK;
    if (source->iovs == NULL)
        return p3_fail_of(move_piece(peer, place, 0, source->start + offset, length, write));
    for (uint32_t i = 0; i < source->iov_count && at < length; i++) {
        const ptl_md_iovec_t *iov = &source->iovs[i];
        uint64_t part;
        int error;

        if (offset >= iov->iov_len) {
            offset -= iov->iov_len;
            continue;
        }
        part = iov->iov_len - offset < length - at ? iov->iov_len - offset : length - at;
        error = move_piece(peer, place, at, (uint8_t *)iov->iov_base + offset, part, write);
        if (error < 0)
            return p3_fail_of(error);
        at += part;
        offset = 0;
    }
    return at == length ? PTL_NI_OK : PTL_EXT_FAIL_FAULT;
}

void p3_scatter(const struct p3_source *source, uint64_t offset, uint8_t *buffer, uint64_t length,
                int into_buffer)
{
    uint64_t at = 0;

    if (source->iovs == NULL) {
        if (length != 0)
            memcpy(into_buffer ? buffer : source->start + offset,
                   into_buffer ? source->start + offset : buffer, length);
        return;
    }
    for (uint32_t i = 0; i < source->iov_count && at < length; i++) {
        uint8_t *base = source->iovs[i].iov_base;
        uint64_t part = source->iovs[i].iov_len;

        if (offset >= part) {
            offset -= part;
            continue;
        }
        part = part - offset < length - at ? part - offset : length - at;
        memcpy(into_buffer ? buffer + at : base + offset, into_buffer ? base + offset : buffer + at,
               part);
        at += part;
        offset = 0;
    }
}
