package dev.verbena.nsim.dart;

/**
 * What a simulated staging run cost the machine that simulated it, in nanoseconds of its clock. Not
 * the same from run to run.
 *
 * @param setUpNs making the network, hosts, agents
 * @param bootNs until all servers were ready
 * @param runNs until the last message was confirmed
 * @param endNs stopping the servers
 * @param masterNs of boot, run and end: steps of the master
 * @param slavesNs of the other servers
 * @param receiversNs of receivers
 * @param computesNs of compute processes
 */
public record DartWallTimes(
        long setUpNs,
        long bootNs,
        long runNs,
        long endNs,
        long masterNs,
        long slavesNs,
        long receiversNs,
        long computesNs) {
    /** What is left of boot, run and end: network model, byte streams, the queue of events. */
    public long modelNs() {
        return bootNs + runNs + endNs - masterNs - slavesNs - receiversNs - computesNs;
    }
}
