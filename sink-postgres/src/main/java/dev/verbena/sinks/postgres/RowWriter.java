package dev.verbena.sinks.postgres;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.verbena.staging.sink.StagedPiece;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.sql.SQLException;
import org.postgresql.copy.CopyIn;

/**
 * Rows in the binary form of {@code COPY}: a header, for each row the number of columns, for each
 * column its length and its bytes, big-endian; a trailer. The part of a row before its value
 * differs from the row before it by its indices alone. Its memory is used again; nothing is
 * allocated per row. One thread.
 */
final class RowWriter {
    private static final int IN_LENGTH = 256 * 1024;
    private static final int OUT_LENGTH = 512 * 1024;
    private static final byte[] SIGNATURE = "PGCOPY\n\377\r\n\0".getBytes(ISO_8859_1);

    private final ByteBuffer in =
            ByteBuffer.allocateDirect(IN_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    private final byte[] bytes = new byte[OUT_LENGTH];
    private final ByteBuffer out = ByteBuffer.wrap(bytes);

    /**
     * Writes all rows of a piece; the copy is ended by the caller.
     *
     * @throws IOException if the file is shorter than the piece
     */
    void write(StagedPiece piece, FileChannel data, CopyIn copy) throws IOException, SQLException {
        out.clear();
        out.put(SIGNATURE).putInt(0).putInt(0);
        long[] indices = piece.start().clone();
        int element = piece.scalar().size() * piece.vector();
        int row = 2 + 12 + 8 + 12 * indices.length + 24 + piece.vector() * (4 + 8);
        long position = 0;
        in.clear().limit(0);
        for (long i = piece.count(); i > 0; i--) {
            if (in.remaining() < element) {
                position = fill(data, position);
            }
            if (in.remaining() < element) {
                throw new IOException("the staged file ends at " + position);
            }
            if (out.remaining() < row) {
                flush(copy);
            }
            put(piece, indices);
            advance(indices, piece);
        }
        out.putShort((short) -1);
        flush(copy);
    }

    /** Half the buffer at least, or what there is: more than any element. */
    private long fill(FileChannel data, long position) throws IOException {
        in.compact();
        int count = data.read(in, position);
        while (count > 0 && in.position() < IN_LENGTH / 2) {
            position += count;
            count = data.read(in, position);
        }
        in.flip();
        return position + Math.max(count, 0);
    }

    private void flush(CopyIn copy) throws SQLException {
        copy.writeToCopy(bytes, 0, out.position());
        out.clear();
    }

    private void put(StagedPiece piece, long[] indices) {
        out.putShort((short) (3 + indices.length));
        out.putInt(8).putLong(piece.step());
        out.putInt(4).putInt(piece.rank());
        for (long index : indices) {
            out.putInt(8).putLong(index);
        }
        StagedPiece.Scalar scalar = piece.scalar();
        if (piece.vector() == 1) {
            put(scalar);
            return;
        }
        out.putInt(20 + piece.vector() * (4 + Types.size(scalar)));
        // One dimension, no nulls, the type; its length, and that it begins at 1.
        out.putInt(1).putInt(0).putInt(Types.oid(scalar)).putInt(piece.vector()).putInt(1);
        for (int i = 0; i < piece.vector(); i++) {
            put(scalar);
        }
    }

    private void put(StagedPiece.Scalar scalar) {
        out.putInt(Types.size(scalar));
        switch (scalar.size()) {
            case 1 -> out.putShort(in.get());
            case 4 -> out.putInt(in.getInt());
            default -> out.putLong(in.getLong());
        }
    }

    /** The last index runs fastest. */
    private static void advance(long[] indices, StagedPiece piece) {
        long[] start = piece.start();
        long[] shape = piece.shape();
        for (int i = indices.length - 1; i >= 0; i--) {
            if (++indices[i] < start[i] + shape[i]) {
                return;
            }
            indices[i] = start[i];
        }
    }
}
