package dev.verbena.cli.nessie;

import dev.verbena.cli.transfer.MpiProgram;
import dev.verbena.nessie.xfer.DataArray;
import dev.verbena.nessie.xfer.XferMethod;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

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

    private static final String MPI_SOURCE = "mpi_yardstick.c";

    private BenchFigure10() {}

    /**
     * Compiles the same transfers by MPI alone.
     *
     * @return null: the program is there; otherwise why not
     */
    static String compile(Path program) throws IOException, InterruptedException {
        try (InputStream text = BenchFigure10.class.getResourceAsStream(MPI_SOURCE)) {
            return MpiProgram.compile(text, program);
        }
    }

    /**
     * All rows.
     *
     * @param program see {@link #compile}
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
                String method = line.substring("MPI_".length()).toLowerCase(Locale.ROOT);
                List<String> arguments = List.of(method, "" + bytes, "" + REQUESTS, "" + trials);
                List<String> command = MpiProgram.command(program, 2, arguments);
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
