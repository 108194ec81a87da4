package dev.verbena.cli.perftest;

import java.util.Locale;

/** One of perftest's programs, {@code ib_write_lat} and its sisters, with what they default to. */
enum PerftestTool {
    WRITE_LAT("Latency of RDMA writes, to and fro, as ib_write_lat."),
    READ_LAT("Latency of RDMA reads, as ib_read_lat."),
    SEND_LAT("Latency of messages, to and fro, as ib_send_lat."),
    ATOMIC_LAT("Latency of atomics, as ib_atomic_lat."),
    WRITE_BW("Bandwidth of RDMA writes, as ib_write_bw."),
    READ_BW("Bandwidth of RDMA reads, as ib_read_bw."),
    SEND_BW("Bandwidth of messages, as ib_send_bw."),
    ATOMIC_BW("Rate of atomics, as ib_atomic_bw.");

    /** Of the command. */
    final String description;

    PerftestTool(String description) {
        this.description = description;
    }

    /** The command's word below {@code lat} or {@code bw}. */
    String word() {
        return name().substring(0, name().indexOf('_')).toLowerCase(Locale.ROOT);
    }

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
