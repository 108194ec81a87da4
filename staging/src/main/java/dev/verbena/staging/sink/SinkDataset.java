package dev.verbena.staging.sink;

import dev.verbena.staging.metadata.PieceMetadata;

/**
 * What a sink is told of a dataset.
 *
 * @param name unique within a sink
 * @param type element type, {@code double} or {@code double:3} for example
 * @param length bytes, 1 or more
 * @param elementSize bytes
 * @param piece of which array it is a piece; null: unknown
 * @param isRepeated a transfer of it was begun before and its end is unknown: the sink may have it
 * @param crc CRC-32C of its bytes as they were sent, 0 or more; negative: unknown
 */
public record SinkDataset(
        String name,
        String type,
        long length,
        int elementSize,
        PieceMetadata piece,
        boolean isRepeated,
        long crc) {
    /** Of unknown checksum. */
    public SinkDataset(
            String name,
            String type,
            long length,
            int elementSize,
            PieceMetadata piece,
            boolean isRepeated) {
        this(name, type, length, elementSize, piece, isRepeated, -1);
    }
}
