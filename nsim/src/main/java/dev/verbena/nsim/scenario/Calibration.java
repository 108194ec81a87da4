package dev.verbena.nsim.scenario;

import dev.verbena.nsim.Machine;

/**
 * What the NSIM-ACE paper measures of a real machine before it predicts (nsim-ace.md, section 9,
 * assertion 57): the node latency from a barrier of two processes, the rate of copying from a ring
 * of two.
 *
 * @param latencyPs of a put, without the network
 * @param bytesPerSecond of a process
 */
public record Calibration(long latencyPs, long bytesPerSecond) {
    /** The scenario whose time is {@code barrierPs}: one puts, the other answers. */
    public static final String BARRIER = "two-process-barrier";

    /** The scenario whose time is {@code ringPs}. */
    public static final String RING = "two-process-ring";

    private static final double PS_PER_S = 1e12;

    /**
     * From times of {@link #BARRIER} and {@link #RING}.
     *
     * @param bytes that each process of the ring sent in all
     * @param networkPs what routers and cables take of one put of the barrier
     */
    public static Calibration of(long barrierPs, long ringPs, long bytes, long networkPs) {
        // On a busy machine a barrier may be measured longer than the ring, which says nothing.
        long copyingPs = Math.max(1, Math.max(ringPs - barrierPs, ringPs / 2));
        long oneWayPs = barrierPs / 2;
        return new Calibration(
                Math.max(0, oneWayPs - networkPs), Math.round(bytes * PS_PER_S / copyingPs));
    }

    /** A machine whose interfaces are as measured and whose network takes no time. */
    public void apply(Machine machine, int nodes) {
        machine.set("topology", "switch(" + nodes + ")");
        for (String key : new String[] {"router.rc", "router.va", "router.sa", "router.st"}) {
            machine.set(key, "0ns");
        }
        machine.set("cable.latency", "0ns").set("link.bandwidth", "4e15");
        machine.set("switch.throughput", "4e15").set("loopback", "true");
        machine.set("node.overhead", latencyPs + "ps");
        machine.set("dma.bandwidth", Long.toString(bytesPerSecond));
    }
}
