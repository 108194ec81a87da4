package dev.verbena.sinks.duckdb.engine;

import dev.verbena.staging.sink.StagedPiece;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBConnection;
import org.duckdb.DuckDBDataChunkWriter;
import org.duckdb.DuckDBFunctions;
import org.duckdb.DuckDBTableFunction;
import org.duckdb.DuckDBTableFunctionBindInfo;
import org.duckdb.DuckDBTableFunctionCallInfo;
import org.duckdb.DuckDBTableFunctionInitInfo;
import org.duckdb.DuckDBWritableVector;

/**
 * The function {@code verbena_rows(KEY)}: the elements of a staged file as a table with the columns
 * {@code i0}, {@code i1}, ..., indices in the global array, of which the last runs fastest, and
 * {@code v0}, {@code v1}, ... for the scalars of an element. Indices are counted here: dividing the
 * number of a row in SQL costs more. Thread-safe.
 */
final class StagedRows implements DuckDBTableFunction<StagedRows.Source, StagedRows.Scan, Object> {
    private final Map<Long, Source> sources = new ConcurrentHashMap<>();
    private final AtomicLong keys = new AtomicLong();

    /** Makes the function known to the database of this connection. */
    void register(DuckDBConnection connection) throws SQLException {
        DuckDBFunctions.tableFunction()
                .withName("verbena_rows")
                .withParameter(DuckDBColumnType.BIGINT)
                .withFunction(this)
                .register(connection);
    }

    record Source(FileChannel data, StagedPiece piece) {}

    long add(FileChannel data, StagedPiece piece) {
        long key = keys.incrementAndGet();
        sources.put(key, new Source(data, piece));
        return key;
    }

    void remove(long key) {
        sources.remove(key);
    }

    @Override
    public Source bind(DuckDBTableFunctionBindInfo info) throws Exception {
        Source source = sources.get(info.getParameter(0).getLong());
        if (source == null) {
            throw new IllegalArgumentException("no staged rows have this key");
        }
        for (int i = 0; i < source.piece.shape().length; i++) {
            info.addResultColumn("i" + i, DuckDBColumnType.BIGINT);
        }
        for (int i = 0; i < source.piece.vector(); i++) {
            info.addResultColumn("v" + i, type(source.piece.scalar()));
        }
        info.setCardinality(source.piece.count(), true);
        return source;
    }

    private static DuckDBColumnType type(StagedPiece.Scalar scalar) {
        return switch (scalar) {
            case CHAR -> DuckDBColumnType.TINYINT;
            case INT -> DuckDBColumnType.INTEGER;
            case LONG -> DuckDBColumnType.BIGINT;
            case FLOAT -> DuckDBColumnType.FLOAT;
            case DOUBLE -> DuckDBColumnType.DOUBLE;
        };
    }

    @Override
    public Scan init(DuckDBTableFunctionInitInfo info) throws Exception {
        info.setMaxThreads(1);
        return new Scan(info.getBindData());
    }

    @Override
    public long apply(DuckDBTableFunctionCallInfo info, DuckDBDataChunkWriter out)
            throws Exception {
        Scan scan = info.getInitData();
        return scan.next(out);
    }

    /** Where a scan of a file is. One thread. */
    static final class Scan {
        private static final int BUFFER_LENGTH = 1 << 20;

        private final Source source;
        private final int vector;
        private final int element;
        private final ByteBuffer in;
        private long row;
        private long position;

        Scan(Source source) {
            this.source = source;
            vector = source.piece.vector();
            element = source.piece.scalar().size() * vector;
            in = ByteBuffer.allocateDirect(BUFFER_LENGTH).order(ByteOrder.LITTLE_ENDIAN).limit(0);
        }

        long next(DuckDBDataChunkWriter out) throws IOException {
            long left = Math.min(out.capacity(), source.piece.count() - row);
            if (left > 0 && in.remaining() < element) {
                fill();
            }
            int rows = (int) Math.min(left, in.remaining() / element);
            int dimensions = source.piece.shape().length;
            long stride = 1;
            for (int i = dimensions - 1; i >= 0; i--) {
                indices(out.vector(i), i, stride, rows);
                stride *= source.piece.shape()[i];
            }
            for (int i = 0; i < vector; i++) {
                column(out.vector(dimensions + i), i, rows);
            }
            in.position(in.position() + rows * element);
            row += rows;
            return rows;
        }

        /**
         * Indices of a dimension.
         *
         * @param stride rows until it changes
         */
        private void indices(DuckDBWritableVector to, int dimension, long stride, int rows) {
            long start = source.piece.start()[dimension];
            long end = start + source.piece.shape()[dimension];
            long index = start + row / stride % source.piece.shape()[dimension];
            long left = stride - row % stride;
            for (int i = 0; i < rows; i++) {
                to.setLong(i, index);
                if (--left == 0) {
                    left = stride;
                    index = index + 1 == end ? start : index + 1;
                }
            }
        }

        private void fill() throws IOException {
            in.compact();
            while (in.hasRemaining()) {
                int count = source.data.read(in, position);
                if (count <= 0) {
                    break;
                }
                position += count;
            }
            in.flip();
            if (in.remaining() < element) {
                throw new IOException("the staged file ends at " + position);
            }
        }

        private void column(DuckDBWritableVector to, int scalar, int rows) {
            StagedPiece.Scalar type = source.piece.scalar();
            int at = in.position() + scalar * type.size();
            switch (type) {
                case CHAR -> {
                    for (int i = 0; i < rows; i++) {
                        to.setByte(i, in.get(at + i * element));
                    }
                }
                case INT -> {
                    for (int i = 0; i < rows; i++) {
                        to.setInt(i, in.getInt(at + i * element));
                    }
                }
                case LONG -> {
                    for (int i = 0; i < rows; i++) {
                        to.setLong(i, in.getLong(at + i * element));
                    }
                }
                case FLOAT -> {
                    for (int i = 0; i < rows; i++) {
                        to.setFloat(i, in.getFloat(at + i * element));
                    }
                }
                default -> {
                    for (int i = 0; i < rows; i++) {
                        to.setDouble(i, in.getDouble(at + i * element));
                    }
                }
            }
        }
    }
}
