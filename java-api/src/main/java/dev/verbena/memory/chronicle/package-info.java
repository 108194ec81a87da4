/**
 * Chronicle Bytes over the toolkit's memory: views of any size, where an Agrona window ends at 2
 * GiB.
 *
 * <p>Optional. The library ({@code net.openhft:chronicle-bytes}, Apache 2.0) is not among the
 * toolkit's dependencies: whoever wants these views adds it. Nothing else in the toolkit uses it,
 * because it stops working where a JDK denies {@code sun.misc.Unsafe} access to memory; {@link
 * dev.verbena.memory.chronicle.ChronicleViews#unavailabilityCause()} tells.
 *
 * <p>A view is safe where Chronicle's own store over a raw address is not: every access is checked
 * against the length and against the closing of the memory below, and gives an exception and never
 * a crash. Therefore raw addresses are not handed out, and Chronicle's shortcuts that need them do
 * not apply. The bytes themselves are reached with Agrona, as everywhere in the toolkit. A store of
 * Chronicle's own becomes memory that can be registered by {@link
 * dev.verbena.memory.chronicle.ChronicleViews#memory}.
 */
package dev.verbena.memory.chronicle;
