package dev.verbena.ugni.transport;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * Toolkit memory of the transport's own that is registered.
 *
 * @param low half of its memory handle
 * @param high the other half
 */
record Memory(long address, long low, long high, UnsafeBuffer bytes) {}
