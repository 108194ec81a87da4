package dev.verbena.ugni.transport;

/**
 * Counters of a {@link GniTransport}.
 *
 * @param fmaPosts puts and gets by FMA
 * @param btePosts puts and gets by RDMA
 * @param bouncedGets posts of gets whose bytes were not aligned and went through a buffer
 */
public record GniStatistics(long fmaPosts, long btePosts, long bouncedGets) {}
