package dev.verbena.examples.rpc;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.agent.Environment;
import dev.verbena.examples.rpc.wire.Series;
import dev.verbena.examples.rpc.wire.SeriesConstants;
import dev.verbena.examples.rpc.wire.Summary;
import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.transport.Transport;
import org.agrona.DirectBuffer;

/**
 * Summarizes series of numbers that clients lend: the server pulls them piece by piece when it has
 * memory for it. Its messages are described by {@code series.x}; what it has done is among the
 * counters of the environment, for {@code verbena status} and Prometheus.
 */
final class SummaryService {
    private static final int PIECE_LENGTH = 1 << 20;

    private SummaryService() {}

    /** Starts a server, which closes the transport. */
    static NessieServer start(Environment environment, Transport transport) {
        return NessieServer.builder(environment, transport)
                .slots(4, PIECE_LENGTH)
                .onBulk(SeriesConstants.SUMMARIZE, Series::new, SummaryService::summarize)
                .start();
    }

    private static void summarize(RpcCall call) {
        long length = call.dataLength();
        if (length == 0 || length % Double.BYTES != 0) {
            call.reply(RpcResult.EINVAL.code(), null);
            return;
        }
        Summary summary = new Summary().least(Double.MAX_VALUE).greatest(-Double.MAX_VALUE);
        for (long at = 0; at < length; at += PIECE_LENGTH) {
            int piece = (int) Math.min(PIECE_LENGTH, length - at);
            RpcResult moved = call.getData(call.slot(), 0, piece, at);
            if (moved != RpcResult.OK) {
                call.reply(moved.code(), null);
                return;
            }
            add(summary, call.slot().window(), piece);
        }
        call.reply(0, summary.mean(summary.mean() / (length / Double.BYTES)));
    }

    /** Until all are there, the mean is the sum. */
    private static void add(Summary to, DirectBuffer numbers, int length) {
        for (int at = 0; at < length; at += Double.BYTES) {
            double number = numbers.getDouble(at, LITTLE_ENDIAN);
            to.least(Math.min(to.least(), number)).greatest(Math.max(to.greatest(), number));
            to.mean(to.mean() + number);
        }
    }
}
