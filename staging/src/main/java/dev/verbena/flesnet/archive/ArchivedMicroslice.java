package dev.verbena.flesnet.archive;

/**
 * A microslice of an archive.
 *
 * @param descriptor 32 bytes, see {@link dev.verbena.flesnet.MicrosliceFlyweight}; not copied
 * @param content not copied
 */
public record ArchivedMicroslice(byte[] descriptor, byte[] content) {}
