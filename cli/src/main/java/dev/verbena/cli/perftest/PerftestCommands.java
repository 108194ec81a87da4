package dev.verbena.cli.perftest;

import java.util.List;
import picocli.CommandLine.Command;

/** The eight measurements over a device, each named as perftest's program of its kind. */
public final class PerftestCommands {
    /** Below {@code lat}. */
    public static final List<Class<?>> LATENCIES =
            List.of(WriteLatency.class, ReadLatency.class, SendLatency.class, AtomicLatency.class);

    /** Below {@code bw}. */
    public static final List<Class<?>> BANDWIDTHS =
            List.of(
                    WriteBandwidth.class,
                    ReadBandwidth.class,
                    SendBandwidth.class,
                    AtomicBandwidth.class);

    private PerftestCommands() {}

    /** As {@code ib_write_lat}. */
    @Command(name = "write", description = "Latency of RDMA writes, to and fro, as ib_write_lat.")
    static final class WriteLatency extends PerftestCommand {
        WriteLatency() {
            super(PerftestTool.WRITE_LAT);
        }
    }

    /** As {@code ib_read_lat}. */
    @Command(name = "read", description = "Latency of RDMA reads, as ib_read_lat.")
    static final class ReadLatency extends PerftestCommand {
        ReadLatency() {
            super(PerftestTool.READ_LAT);
        }
    }

    /** As {@code ib_send_lat}. */
    @Command(name = "send", description = "Latency of messages, to and fro, as ib_send_lat.")
    static final class SendLatency extends PerftestCommand {
        SendLatency() {
            super(PerftestTool.SEND_LAT);
        }
    }

    /** As {@code ib_atomic_lat}. */
    @Command(name = "atomic", description = "Latency of atomics, as ib_atomic_lat.")
    static final class AtomicLatency extends PerftestCommand {
        AtomicLatency() {
            super(PerftestTool.ATOMIC_LAT);
        }
    }

    /** As {@code ib_write_bw}. */
    @Command(name = "write", description = "Bandwidth of RDMA writes, as ib_write_bw.")
    static final class WriteBandwidth extends PerftestCommand {
        WriteBandwidth() {
            super(PerftestTool.WRITE_BW);
        }
    }

    /** As {@code ib_read_bw}. */
    @Command(name = "read", description = "Bandwidth of RDMA reads, as ib_read_bw.")
    static final class ReadBandwidth extends PerftestCommand {
        ReadBandwidth() {
            super(PerftestTool.READ_BW);
        }
    }

    /** As {@code ib_send_bw}. */
    @Command(name = "send", description = "Bandwidth of messages, as ib_send_bw.")
    static final class SendBandwidth extends PerftestCommand {
        SendBandwidth() {
            super(PerftestTool.SEND_BW);
        }
    }

    /** As {@code ib_atomic_bw}. */
    @Command(name = "atomic", description = "Rate of atomics, as ib_atomic_bw.")
    static final class AtomicBandwidth extends PerftestCommand {
        AtomicBandwidth() {
            super(PerftestTool.ATOMIC_BW);
        }
    }
}
