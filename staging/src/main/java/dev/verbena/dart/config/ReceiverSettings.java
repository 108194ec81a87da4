package dev.verbena.dart.config;

import dev.verbena.agent.Environment;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartLostHandler;
import dev.verbena.dart.DartMessageHandler;
import dev.verbena.staging.Arguments;
import dev.verbena.staging.sink.Sink;
import java.net.URI;

/**
 * What a receiver was told: checked, with what follows from it filled in.
 *
 * @param address where it listens with a transport; null: by TCP at host and port
 * @param directory empty: nothing is stored
 * @param handler null: nobody is given single messages
 * @param steps null: no steps are put together
 * @param lostHandler null: nobody is told
 * @param secret null: none
 * @param sink takes the messages; null: none
 * @param sinkSenders most threads that hand messages to it
 */
public record ReceiverSettings(
        Environment environment,
        String host,
        int port,
        URI address,
        String directory,
        DartMessageHandler handler,
        StepSettings steps,
        DartLostHandler lostHandler,
        AckMode ack,
        boolean isKeepingBoth,
        boolean isReplacing,
        boolean isDescribing,
        boolean isAcceptingGaps,
        int messageLengthMax,
        int connectionsMax,
        long helloTimeoutNs,
        long windowMax,
        long unfinishedBytesMax,
        long halfKeptNs,
        long reverseBytesMax,
        long silenceTimeoutNs,
        byte[] secret,
        boolean isNamingClients,
        Sink sink,
        int sinkSenders) {
    public ReceiverSettings {
        Arguments.notNull("environment", environment);
        Arguments.notEmpty("host", host);
        Arguments.range("port", port, 0, 65535);
        if (ack == null) {
            ack = directory.isEmpty() ? AckMode.DELIVERED : AckMode.DURABLE;
        }
        if (ack == AckMode.NONE) {
            throw new IllegalArgumentException("ack NONE is chosen at the server");
        }
        if (ack == AckMode.DURABLE && directory.isEmpty()) {
            throw new IllegalArgumentException("ack DURABLE needs a directory");
        }
        if (handler == null && steps == null && directory.isEmpty()) {
            throw new IllegalArgumentException(
                    "neither a handler nor steps nor a directory is set");
        }
        if (sink != null && (directory.isEmpty() || ack != AckMode.DURABLE || isKeepingBoth)) {
            throw new IllegalArgumentException(
                    "a sink needs a directory and ack DURABLE, and excludes keepBoth");
        }
        Arguments.range("sinkSenders", sinkSenders, 1, 64);
        if (messageLengthMax < 0) {
            long halfOfHeap = Runtime.getRuntime().maxMemory() / 2;
            messageLengthMax = (int) Math.min(1 << 30, halfOfHeap);
        }
        Arguments.range("unfinishedBytesMax", unfinishedBytesMax, 0, Long.MAX_VALUE);
        if (unfinishedBytesMax == 0) {
            unfinishedBytesMax = Runtime.getRuntime().maxMemory() / 4;
        }
        // Twice as much is the bound of some, and with a little more than that they count.
        unfinishedBytesMax = Math.min(unfinishedBytesMax, Long.MAX_VALUE / 4);
        Arguments.range("windowMax", windowMax, 1 << 20, 1L << 40);
        Arguments.range("halfKeptNs", halfKeptNs, 1_000_000, Long.MAX_VALUE / 4);
        Arguments.range("reverseBytesMax", reverseBytesMax, 1, 1 << 30);
        Arguments.range("connectionsMax", connectionsMax, 1, 4096);
        Arguments.range("helloTimeoutNs", helloTimeoutNs, 1_000_000, Long.MAX_VALUE / 4);
        Arguments.range("silenceTimeoutNs", silenceTimeoutNs, 1_000_000, Long.MAX_VALUE / 4);
    }
}
