/**
 * Objects of libfabric (Open Fabrics Interfaces) for reliable datagram endpoints: what providers
 * offer ({@link dev.verbena.ofi.FabricInfo}), {@link dev.verbena.ofi.Fabric}, {@link
 * dev.verbena.ofi.Domain}, {@link dev.verbena.ofi.Endpoint}, {@link
 * dev.verbena.ofi.CompletionQueue}, {@link dev.verbena.ofi.Counter}, {@link
 * dev.verbena.ofi.MemoryRegion}, {@link dev.verbena.ofi.AddressVector}.
 *
 * <p>Each is made by its parent, closes with one call of {@code fi_close}, and refuses to close
 * before its children. Calls of a closed object throw. The transport {@code ofi://} is in {@link
 * dev.verbena.ofi.transport}.
 *
 * <p>Source: libfabric's manual pages, version 1.17.
 */
package dev.verbena.ofi;
