package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.verbs.QueuePairType;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Options of {@code lat} and {@code bw} over a device: letters and meanings are perftest's. */
final class PerftestOptions extends DeviceOptions {
    static final int ALL_MAX = 1 << 23;
    private static final int SIZE_MAX = 1 << 30;
    private static final int QUEUES_MAX = 1024;
    private static final int DEPTH_MAX = 15_000;
    private static final int RECEIVES = 512;
    private static final long ENDLESS = 1L << 40;
    private static final int DURATION_MAX = 86_400;
    private static final int MODERATION = 100;
    private static final int MODERATED_SIZE_MAX = 8192;

    @Parameters(
            paramLabel = "HOST",
            arity = "0..1",
            description = "The server: Verbena or perftest's C program. Default: be the server.")
    String host;

    @Option(
            names = {"-x", "--gid-index"},
            paramLabel = "N",
            defaultValue = "-1",
            description =
                    "Entry of the port's address table. Default: chosen, and the reason printed;"
                            + " on InfiniBand none.")
    int gidIndex;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            description = "Length of a message. Default: 2 (lat), 65536 (bw), 8 (atomic).")
    private Integer size;

    @Option(
            names = {"-a", "--all"},
            description = "All powers of two from 2 B to 8 MiB; give it to both sides.")
    boolean isAll;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "N",
            description = "Messages of each size. Default: 1000; bw write 5000.")
    private Long iterations;

    @Option(
            names = {"-b", "--bidirectional"},
            description = "Both sides send, and the sum is reported; bw only. Give it to both.")
    boolean isBidirectional;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            description = "For so long in place of -n. Give it to both.")
    int durationSeconds;

    @Option(
            names = {"-f", "--margin"},
            paramLabel = "SECONDS",
            description =
                    "Of a duration, what is not measured at its begin and at its end. Default:"
                            + " ${DEFAULT-VALUE}.")
    int marginSeconds = 2;

    @Option(
            names = {"-e", "--events"},
            description = "Sleep until completions are announced, in place of polling; not write.")
    boolean isEvents;

    @Option(
            names = {"-R", "--rdma_cm"},
            description =
                    "Meet and connect by rdma_cm; HOST is an address of the device. RC only; give"
                            + " it to both.")
    boolean isManaged;

    @Option(
            names = {"-q", "--qp"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Queue pairs; bw only. Default: ${DEFAULT-VALUE}.")
    int queues;

    @Option(
            names = {"-c", "--connection"},
            paramLabel = "TYPE",
            description = "RC, UC (write, send) or UD (send). Default: ${DEFAULT-VALUE}.")
    QueuePairType connection = QueuePairType.RC;

    @Option(
            names = {"-I", "--inline_size"},
            paramLabel = "BYTES",
            description = "Messages up to this length are inline. Default: ${DEFAULT-VALUE}.")
    int inline;

    @Option(
            names = {"-t", "--tx-depth"},
            paramLabel = "N",
            description = "Operations outstanding on a queue pair. Default: 1 (lat), 128 (bw).")
    private Integer sendDepth;

    @Option(
            names = {"-r", "--rx-depth"},
            paramLabel = "N",
            description =
                    "Receives posted on a queue pair; send only. Default: 512; with UC and UD, where"
                            + " what finds none is lost, as many as messages.")
    private Integer receiveDepth;

    @Option(
            names = {"-Q", "--cq-mod"},
            paramLabel = "N",
            description =
                    "One completion for so many operations; bw only. Default: 100, or the depth if"
                            + " that is less; 1 for messages above 8192 bytes, but for UD and -a.")
    private Integer moderation;

    @Option(
            names = {"-l", "--post_list"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Requests posted at once; bw only. Default: ${DEFAULT-VALUE}.")
    int list;

    @Option(
            names = {"-m", "--mtu"},
            paramLabel = "BYTES",
            description = "Length of a packet. Default: what the port has now.")
    Integer mtu;

    @Option(
            names = {"-o", "--outs"},
            paramLabel = "N",
            description = "Reads or atomics outstanding. Default: what the device can.")
    Integer reads;

    @Option(
            names = {"-u", "--qp-timeout"},
            paramLabel = "CODE",
            description =
                    "A lost packet is noticed after 4 us times 2 to the code. Default:"
                            + " ${DEFAULT-VALUE}.")
    int timeoutCode = 14;

    @Option(
            names = {"-S", "--sl"},
            paramLabel = "N",
            description = "Service level. Default: ${DEFAULT-VALUE}.")
    int serviceLevel;

    @Option(
            names = "--tclass",
            paramLabel = "N",
            description = "Traffic class. Default: ${DEFAULT-VALUE}.")
    int trafficClass;

    @Option(
            names = {"-A", "--atomic_type"},
            paramLabel = "TYPE",
            defaultValue = "FETCH_AND_ADD",
            description = "FETCH_AND_ADD or CMP_AND_SWAP; atomic only. Default: ${DEFAULT-VALUE}.")
    AtomicType atomicType;

    @Option(
            names = {"-H", "--report-histogram"},
            description = "Print every latency, sorted; lat only.")
    boolean isHistogram;

    @Option(
            names = {"-U", "--report-unsorted"},
            description = "Print every latency in the order of time; lat only.")
    boolean isUnsorted;

    @Option(names = "--report_gbits", description = "Report Gbit/s and not MiB/s; bw only.")
    boolean isGigabits;

    @Option(names = "--json", description = "Print JSON in place of the table.")
    boolean isJson;

    @Option(
            names = {"-F", "--CPU-freq"},
            hidden = true,
            description = "For those who are used to it: nothing here depends on the frequency.")
    boolean isFrequencyIgnored;

    /** What an atomic does. */
    enum AtomicType {
        FETCH_AND_ADD,
        CMP_AND_SWAP
    }

    private CommandSpec spec;

    /** What is measured; set by {@link #conclude}. */
    PerftestTool tool;

    /** Checks all of them. */
    void conclude(CommandSpec spec, PerftestTool tool) {
        this.spec = spec;
        this.tool = tool;
        check("-p", port, 0, 65_535);
        check("-i", devicePort, 1, 255);
        check("-x", gidIndex, -1, 255);
        check("-s", size(), 1, SIZE_MAX);
        check(
                "-n",
                hasDuration() ? 2 : iterations(),
                tool.isLatency() ? 2 : 1,
                tool.isLatency() ? 5_000_000 : 100_000_000);
        check("-q", queues, 1, tool.isLatency() ? 1 : QUEUES_MAX);
        check("-I", inline, 0, 4096);
        check("-t", sendDepth(), 1, DEPTH_MAX);
        check("-r", receiveDepth == null ? 1 : receiveDepth, 1, DEPTH_MAX);
        check("-Q", moderation == null ? 1 : moderation, 1, DEPTH_MAX);
        check("-l", list, 1, tool.isLatency() ? 1 : sendDepth());
        check("-o", reads == null ? 1 : reads, 1, 255);
        check("-u", timeoutCode, 0, 31);
        check("-S", serviceLevel, 0, 15);
        check("--tclass", trafficClass, 0, 255);
        if (host != null && port == 0) {
            throw wrong("-p 0 lets a server choose; a client must know its port");
        }
        if (mtu != null && (mtu < 256 || mtu > 4096 || Integer.bitCount(mtu) != 1)) {
            throw wrong("-m " + mtu + " is none of 256, 512, 1024, 2048 and 4096");
        }
        if (size != null && isAll) {
            throw wrong("-a and -s exclude each other");
        }
        boolean isOneSided = tool.isRead() || tool.isAtomic();
        if (connection == QueuePairType.UC && isOneSided
                || connection == QueuePairType.UD && !tool.isSend()
                || connection.ordinal() > QueuePairType.UD.ordinal()) {
            throw wrong("-c " + connection + " cannot do what " + tool.program() + " measures");
        }
        checkWays();
        if (tool.isAtomic() && (size() != Long.BYTES || isAll)) {
            throw wrong("an atomic has 8 bytes");
        }
    }

    private void checkWays() {
        check("-D", durationSeconds, 0, DURATION_MAX);
        check("-f", marginSeconds, 0, DURATION_MAX);
        if (tool.isLatency() && isBidirectional) {
            throw wrong("-b is for bw; " + tool.program() + " goes there and back anyway");
        }
        if (hasDuration() && durationSeconds <= 2 * marginSeconds) {
            throw wrong(
                    "-D %s leaves nothing to measure between two margins of -f %s",
                    durationSeconds, marginSeconds);
        }
        if (hasDuration() && (isAll || isEvents || iterations != null)) {
            throw wrong("-D excludes -n, -a and -e");
        }
        if (hasDuration() && (isHistogram || isUnsorted)) {
            throw wrong("-D counts only: it excludes -H and -U");
        }
        if (isManaged && connection != QueuePairType.RC) {
            throw wrong("-R connects RC; -c " + connection + " it does not");
        }
        if (isEvents && tool.isWrite()) {
            throw wrong("-e: nothing is announced to who is written to");
        }
    }

    boolean hasDuration() {
        return durationSeconds > 0;
    }

    private void check(String option, long value, long from, long to) {
        CliCommand.inRange(spec, option, value, from, to);
    }

    private ParameterException wrong(String message, Object... values) {
        return CliCommand.wrong(spec, message, values);
    }

    private int size() {
        return size == null ? tool.defaultSize() : size;
    }

    /** Of each size; with a duration more than there is time for. */
    long iterations() {
        if (hasDuration()) {
            return ENDLESS;
        }
        return iterations == null ? tool.defaultIterations() : iterations;
    }

    int sendDepth() {
        return sendDepth == null ? tool.defaultSendDepth() : sendDepth;
    }

    /**
     * Of messages, until the other side may have run out of receives.
     *
     * @param most that a device can; bounds only what nobody asked for
     */
    int receiveDepth(long most) {
        if (receiveDepth != null) {
            return (int) Math.min(receiveDepth, iterations());
        }
        boolean isLost = connection == QueuePairType.UC || connection == QueuePairType.UD;
        long depth = isLost ? Math.max(1, Math.min(DEPTH_MAX, most)) : RECEIVES;
        return (int) Math.min(depth, iterations());
    }

    int moderation() {
        boolean isLarge = size() > MODERATED_SIZE_MAX && !isAll && connection != QueuePairType.UD;
        int unasked = isLarge ? 1 : MODERATION;
        return Math.min(moderation == null ? unasked : moderation, sendDepth());
    }

    /**
     * Lengths to measure.
     *
     * @param mtu that datagrams must fit into
     */
    List<Integer> sizes(int mtu) {
        int most = connection == QueuePairType.UD ? mtu : SIZE_MAX;
        if (!isAll) {
            if (size() > most && size != null) {
                throw wrong("-s " + size + ": a datagram has " + most + " bytes at most here");
            }
            return List.of(Math.min(size(), most));
        }
        List<Integer> sizes = new ArrayList<>();
        for (int length = 2; length <= Math.min(ALL_MAX, most); length *= 2) {
            sizes.add(length);
        }
        return sizes;
    }
}
