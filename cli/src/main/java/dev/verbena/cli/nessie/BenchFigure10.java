package dev.verbena.cli.nessie;

import dev.verbena.nessie.xfer.DataArray;
import dev.verbena.nessie.xfer.XferMethod;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows of the paper's Fig. 10: transfers by each method beside the same bytes by MPI, over the
 * bytes of a request.
 */
final class BenchFigure10 {
    static final String GROUP = "mpi";

    /** Lines of the picture of transfers to the server. */
    static final List<String> WRITES =
            List.of("write_encode", "write_rdma", "write_rdma_push", "MPI_Isend", "MPI_Put");

    /** Lines of the picture of transfers from the server. */
    static final List<String> READS = List.of("read_encode", "read_rdma", "MPI_Irecv", "MPI_Get");

    private static final int REQUESTS = 8;
    private static final int SMALLEST = 1 << 10;
    private static final int LARGEST = 4 << 20;
    private static final int STEP = 16;

    /** Of a sample, so that starting and compiling matter little; bytes, and requests. */
    private static final long BYTES_MIN = 1L << 30;

    private static final int TRIALS_MAX = 10_000;

    private BenchFigure10() {}

    /**
     * All rows.
     *
     * @param program see {@link MpiYardstick}
     * @param isQuick to the server only, one length, little of it
     */
    static List<BenchRow> rows(String scheme, Path program, boolean isQuick) {
        List<BenchRow> rows = new ArrayList<>();
        for (int bytes = SMALLEST; bytes <= (isQuick ? SMALLEST : LARGEST); bytes *= STEP) {
            int trials = (int) Math.min(TRIALS_MAX, BYTES_MIN / REQUESTS / bytes);
            add(scheme, program, bytes, isQuick ? 1 : trials, true, rows);
            if (!isQuick) {
                add(scheme, program, bytes, trials, false, rows);
            }
        }
        return rows;
    }

    private static void add(
            String scheme,
            Path program,
            int bytes,
            int trials,
            boolean isWrite,
            List<BenchRow> rows) {
        for (String line : isWrite ? WRITES : READS) {
            if (line.startsWith("MPI_")) {
                String method = line.substring("MPI_".length()).toLowerCase(java.util.Locale.ROOT);
                List<String> command =
                        MpiYardstick.command(program, method, bytes, REQUESTS, trials);
                rows.add(BenchRows.ofMpi(GROUP, line, command, bytes));
            }
        }
        for (XferMethod method : XferMethod.values()) {
            if (method.isWrite() == isWrite) {
                int count = bytes / DataArray.ELEMENT_LENGTH;
                rows.add(BenchRows.xfer(GROUP, scheme, method, count, REQUESTS, trials, bytes));
            }
        }
    }
}
