/**
 * Off-heap memory with 63-bit offsets.
 *
 * <p>{@link dev.verbena.memory.OffHeapMemory} is memory that the caller has: plain, on huge pages,
 * a file mapping, or a direct buffer handed in; {@link dev.verbena.memory.OffHeapMemories} makes
 * it. {@link dev.verbena.memory.RegisteredRegion} is memory that a transport and its peers may
 * reach. Both give {@link org.agrona.concurrent.UnsafeBuffer} windows of up to 2 GiB that become
 * empty when the memory is closed, so that a late access is an exception and not a crash (Agrona's
 * bounds checks must be on, which they are by default).
 *
 * <p>{@link dev.verbena.memory.SlabPool} cuts one region into equal slabs without allocating.
 * {@link dev.verbena.memory.RemoteDescriptor} names memory of another process.
 *
 * <p>Nothing here is freed by the garbage collector. With {@code -Dverbena.leaks=report} a cleaner
 * reports what was dropped without being closed, with the stack of its creation; {@link
 * dev.verbena.memory.Leaks} counts.
 */
package dev.verbena.memory;
