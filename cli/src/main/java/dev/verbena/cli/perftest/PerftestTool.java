package dev.verbena.cli.perftest;

import java.util.Locale;

/** One of perftest's programs, {@code ib_write_lat} and its sisters, with what they default to. */
enum PerftestTool {
    WRITE_LAT,
    READ_LAT,
    SEND_LAT,
    ATOMIC_LAT,
    WRITE_BW,
    READ_BW,
    SEND_BW,
    ATOMIC_BW;

    boolean isLatency() {
        return name().endsWith("_LAT");
    }

    boolean isWrite() {
        return name().startsWith("WRITE");
    }

    boolean isRead() {
        return name().startsWith("READ");
    }

    boolean isSend() {
        return name().startsWith("SEND");
    }

    boolean isAtomic() {
        return name().startsWith("ATOMIC");
    }

    /** Both sides post; else only the client. */
    boolean isPingPong() {
        return isLatency() && (isWrite() || isSend());
    }

    /** Only the client measures; the server has nothing to do. */
    boolean isOneSided() {
        return !isSend() && !isPingPong();
    }

    int defaultSize() {
        if (isAtomic()) {
            return Long.BYTES;
        }
        return isLatency() ? 2 : 1 << 16;
    }

    long defaultIterations() {
        return this == WRITE_BW ? 5000 : 1000;
    }

    int defaultSendDepth() {
        return isLatency() ? 1 : 128;
    }

    /** Name of the C program. */
    String program() {
        return "ib_" + name().toLowerCase(Locale.ROOT);
    }
}
