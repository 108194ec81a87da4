/* Copying. */
#include "softnic_private.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Before: what the caller did earlier is done when the bytes appear, as with a NIC, which is
 * notified of a transfer only after it. After: release for a write, acquire for a read. x86-64
 * needs no instruction for either. */
static void fence(void)
{
#ifndef SNIC_TSAN /* which knows no fences; the other side is notified by a release store anyway   \
                   */
    atomic_thread_fence(memory_order_acq_rel);
#endif
}

#if defined(__x86_64__)
/* No software prefetch in these loops: on the machines measured the hardware's own is enough, and
 * asking for lines with the non-temporal hint took two thirds of the rate away. */
__attribute__((target("avx512f"))) static void stream_avx512(uint8_t *to, const uint8_t *from,
                                                             uint64_t blocks)
{
    for (uint64_t i = 0; i < blocks; i++, to += 128, from += 128) {
        __m512i a = _mm512_loadu_si512(from);
        __m512i b = _mm512_loadu_si512(from + 64);
        _mm512_stream_si512((void *)to, a);
        _mm512_stream_si512((void *)(to + 64), b);
    }
}

__attribute__((target("avx2"))) static void stream_avx2(uint8_t *to, const uint8_t *from,
                                                        uint64_t blocks)
{
    for (uint64_t i = 0; i < blocks; i++, to += 128, from += 128) {
        __m256i a = _mm256_loadu_si256((const __m256i *)from);
        __m256i b = _mm256_loadu_si256((const __m256i *)(from + 32));
        __m256i c = _mm256_loadu_si256((const __m256i *)(from + 64));
        __m256i d = _mm256_loadu_si256((const __m256i *)(from + 96));
        _mm256_stream_si256((__m256i *)to, a);
        _mm256_stream_si256((__m256i *)(to + 32), b);
        _mm256_stream_si256((__m256i *)(to + 64), c);
        _mm256_stream_si256((__m256i *)(to + 96), d);
    }
}

static void stream_sse2(uint8_t *to, const uint8_t *from, uint64_t blocks)
{
    for (uint64_t i = 0; i < blocks; i++, to += 128, from += 128)
        for (int j = 0; j < 128; j += 16)
            _mm_stream_si128((__m128i *)(to + j), _mm_loadu_si128((const __m128i *)(from + j)));
}

/* Non-temporal stores: the lines go to memory without being read first and without driving others
 * out of the cache. They are weakly ordered, hence the sfence before any notification. */
static void copy_streaming(uint8_t *to, const uint8_t *from, uint64_t length)
{
    uint64_t head = (uint64_t)(-(uintptr_t)to & 63);
    if (head > length)
        head = length;
    memcpy(to, from, head);
    to += head, from += head, length -= head;
    uint64_t blocks = length / 128;
    if (__builtin_cpu_supports("avx512f"))
        stream_avx512(to, from, blocks);
    else if (__builtin_cpu_supports("avx2"))
        stream_avx2(to, from, blocks);
    else
        stream_sse2(to, from, blocks);
    memcpy(to + blocks * 128, from + blocks * 128, length - blocks * 128);
    _mm_sfence();
}
#else
static void copy_streaming(uint8_t *to, const uint8_t *from, uint64_t length)
{
    memcpy(to, from, length);
}
#endif

void snic_copy(void *to, const void *from, uint64_t length, int streaming)
{
    fence();
    if (streaming > 0 || (streaming < 0 && length >= SNIC_STREAM_THRESHOLD))
        copy_streaming(to, from, length);
    else if (length == 8)
        memcpy(to, from, 8); /* a constant length: one load, one store */
    else
        memcpy(to, from, length);
    fence();
}
