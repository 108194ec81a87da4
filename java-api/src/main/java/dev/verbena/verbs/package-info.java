/**
 * Verbs: the objects of libibverbs, for RDMA NICs and Soft-RoCE.
 *
 * <p>{@link dev.verbena.verbs.RdmaDevices} lists and opens devices. From an open device come
 * protection domains, completion channels and completion queues; from a protection domain memory
 * regions, queue pairs, shared receive queues and address handles. Each is closed by one call,
 * after everything that was made from it, so try-with-resources in the order of making is right.
 * Closing too early, or a region that a posted request uses, is an exception that names what is in
 * the way.
 *
 * <p>The control path (making, closing, states, queries) is thread-safe and throws {@link
 * dev.verbena.verbs.VerbsException} with the call, the errno by name and what to do. The hot path
 * (posting and polling) is one call into native code with raw addresses, answers codes ({@link
 * dev.verbena.verbs.Post}, {@link dev.verbena.verbs.CompletionStatus}), allocates nothing, and
 * keeps each queue to one thread. Work requests are prepared once as flyweights over native memory
 * and posted again with small edits.
 *
 * <p>No call here can crash the JVM: ranges are checked against their region when they are set, and
 * regions, queues and requests are checked to be open when they are posted. What the processor
 * itself reads while it posts (inline bytes, address handles) cannot be closed meanwhile.
 *
 * <p>Source: the manual pages of rdma-core and the InfiniBand architecture specification, volume 1.
 */
package dev.verbena.verbs;
