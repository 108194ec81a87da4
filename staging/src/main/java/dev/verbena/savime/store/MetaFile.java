package dev.verbena.savime.store;

import dev.verbena.savime.wire.DatasetNames;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.staging.file.CheckedLines;
import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.SinkDataset;
import java.util.HexFormat;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What is known of a staged dataset, as its meta file says it (specification, section 5.7).
 *
 * @param clientId of whom it came
 * @param crc CRC-32C of the bytes; meaningless unless {@code hasCrc}
 * @param createdMs when it was opened, milliseconds of the wall clock
 * @param syncedOrder its place in the queue: larger for what was complete later; 0: not complete
 * @param piece null: none
 */
public record MetaFile(
        long id,
        String name,
        String type,
        long totalBytes,
        int elementSize,
        long clientId,
        DatasetState state,
        boolean hasCrc,
        int crc,
        long createdMs,
        long syncedOrder,
        PieceMetadata piece) {
    private static final int LENGTH_MAX = 8192;
    private static final int TYPE_MAX = 63;

    /** The same in another state. */
    public MetaFile in(DatasetState next) {
        return with(next, hasCrc, crc, syncedOrder);
    }

    /** The same, complete. */
    public MetaFile synced(boolean withCrc, int sum, long order) {
        return with(DatasetState.RECEIVED, withCrc, sum, order);
    }

    private MetaFile with(DatasetState next, boolean withCrc, int sum, long order) {
        return new MetaFile(
                id,
                name,
                type,
                totalBytes,
                elementSize,
                clientId,
                next,
                withCrc,
                sum,
                createdMs,
                order,
                piece);
    }

    /**
     * What a sink learns of it.
     *
     * @param isRepeated the sink may have it
     */
    public SinkDataset toSink(boolean isRepeated) {
        long sum = hasCrc ? Integer.toUnsignedLong(crc) : -1;
        return new SinkDataset(name, type, totalBytes, elementSize, piece, isRepeated, sum);
    }

    /** The file's text. */
    public String encode() {
        return CheckedLines.encode(
                "id="
                        + Long.toHexString(id)
                        + "\nname="
                        + name
                        + "\ntype="
                        + type
                        + "\ntotalBytes="
                        + totalBytes
                        + "\nelementSize="
                        + elementSize
                        + "\nclientId="
                        + Long.toHexString(clientId)
                        + "\nstate="
                        + state
                        + "\ncrc32c="
                        + (hasCrc ? Integer.toHexString(crc) : "none")
                        + "\ncreatedAt="
                        + createdMs
                        + "\nsyncedAt="
                        + syncedOrder
                        + "\npiece="
                        + hex(piece)
                        + "\n");
    }

    /**
     * Reads a file's text, which may be anything.
     *
     * @throws IllegalArgumentException naming what is wrong
     */
    public static MetaFile parse(String text) {
        Map<String, String> lines = CheckedLines.parse(text, LENGTH_MAX);
        String type = CheckedLines.need(lines, "type");
        if (type.length() > TYPE_MAX) {
            throw new IllegalArgumentException("type is too long");
        }
        String crc = CheckedLines.need(lines, "crc32c");
        boolean hasCrc = !crc.equals("none");
        return new MetaFile(
                Long.parseUnsignedLong(CheckedLines.need(lines, "id"), 16),
                DatasetNames.require(CheckedLines.need(lines, "name")),
                type,
                CheckedLines.needNumber(lines, "totalBytes", Long.MAX_VALUE),
                (int) CheckedLines.needNumber(lines, "elementSize", Integer.MAX_VALUE),
                Long.parseUnsignedLong(CheckedLines.need(lines, "clientId"), 16),
                DatasetState.valueOf(CheckedLines.need(lines, "state")),
                hasCrc,
                hasCrc ? Integer.parseUnsignedInt(crc, 16) : 0,
                CheckedLines.needNumber(lines, "createdAt", Long.MAX_VALUE),
                CheckedLines.needNumber(lines, "syncedAt", Long.MAX_VALUE),
                piece(CheckedLines.need(lines, "piece")));
    }

    private static String hex(PieceMetadata piece) {
        if (piece == null) {
            return "none";
        }
        byte[] bytes = new byte[PieceMetadata.LENGTH_MAX];
        int length = piece.encode(new UnsafeBuffer(bytes), 0);
        return HexFormat.of().formatHex(bytes, 0, length);
    }

    private static PieceMetadata piece(String hex) {
        if (hex.equals("none")) {
            return null;
        }
        byte[] bytes = HexFormat.of().parseHex(hex);
        return PieceMetadata.decode(new UnsafeBuffer(bytes), 0, bytes.length);
    }
}
