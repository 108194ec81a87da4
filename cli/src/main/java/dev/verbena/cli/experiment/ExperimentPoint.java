package dev.verbena.cli.experiment;

import java.util.List;

/**
 * One measurement of an experiment.
 *
 * @param manner what a process does with its output
 * @param load what the compute processes do
 * @param service what it goes through
 * @param busyCores processors on which computing is a busy wait
 */
record ExperimentPoint(Manner manner, Load load, Service service, int busyCores) {
    static final double DISCARD = -1;

    /** What a process does at the end of a step. */
    enum Manner {
        /** Sends one message by reference. */
        MESSAGE,
        /** Packs a restart file and sends it as one message. */
        BUFFERED,
        /** Sends each item of a restart file. */
        UNBUFFERED,
        /** Writes a restart file to a file and forces it to the device. */
        FILE,
        /** Packs a restart file and does nothing with it. */
        NONE;

        /** Whether its output goes to servers. */
        boolean isServed() {
            return this != FILE && this != NONE;
        }
    }

    /**
     * What the compute processes do.
     *
     * @param clients logical compute processes
     * @param size bytes of a step's output of one process; a restart file has its own length
     * @param computeNs time between the end of an output and the next
     * @param steps outputs of each process
     * @param warmUp steps left out at the beginning
     * @param inFlight messages of a process that may be on their way; 1 in the paper
     */
    record Load(int clients, long size, long computeNs, int steps, int warmUp, int inFlight) {}

    /**
     * Servers and receiver.
     *
     * @param servers master included
     * @param buffers of each server; 0: three for two processes
     * @param bufferSize bytes
     * @param rate what the receiver takes, bytes/s; 0: no limit; {@link #DISCARD}: the server
     *     throws the data away
     * @param pollNs how often a server looks for headers by itself; 0: it is woken
     * @param isCarried whether the stream to the receiver goes over the transport, too, not TCP
     */
    record Service(
            int servers,
            int buffers,
            int bufferSize,
            double rate,
            long pollNs,
            boolean isCarried) {}

    boolean isRestartFile() {
        return manner != Manner.MESSAGE;
    }

    /** Bytes of all processes in a step. */
    long stepBytes() {
        return load.clients * (isRestartFile() ? RestartItems.LENGTH : load.size);
    }

    /** Bytes of all processes in the steps that count. */
    long countedBytes() {
        return stepBytes() * (load.steps - load.warmUp);
    }

    /** N x S / R: the compute time at which all output of a step is just streamed, ns. */
    double kneeNs() {
        return service.rate > 0 ? stepBytes() / service.rate * 1e9 : 0;
    }

    /** The same with another compute time. */
    ExperimentPoint computing(double ns) {
        Load of = load;
        return with(new Load(of.clients, of.size, (long) ns, of.steps, of.warmUp, of.inFlight));
    }

    /** The same with another length of messages and other steps. */
    ExperimentPoint sized(long size, int steps, int warmUp) {
        return with(new Load(load.clients, size, load.computeNs, steps, warmUp, load.inFlight));
    }

    /** The same with so many messages of a process on their way. */
    ExperimentPoint inFlight(int messages) {
        Load of = load;
        return with(new Load(of.clients, of.size, of.computeNs, of.steps, of.warmUp, messages));
    }

    /** The same with another rate of the receiver. */
    ExperimentPoint limited(double rate) {
        Service of = service;
        return with(
                new Service(of.servers, of.buffers, of.bufferSize, rate, of.pollNs, of.isCarried));
    }

    /** The same with other numbers of servers and of their buffers. */
    ExperimentPoint served(int servers, int buffers) {
        Service of = service;
        return with(new Service(servers, buffers, of.bufferSize, of.rate, of.pollNs, of.isCarried));
    }

    /** The same with servers that look for headers by themselves. */
    ExperimentPoint polling(long everyNs) {
        Service of = service;
        return with(
                new Service(of.servers, of.buffers, of.bufferSize, of.rate, everyNs, of.isCarried));
    }

    /** The same with a stream to the receiver that the transport carries. */
    ExperimentPoint carried() {
        Service of = service;
        return with(new Service(of.servers, of.buffers, of.bufferSize, of.rate, of.pollNs, true));
    }

    private ExperimentPoint with(Load other) {
        return new ExperimentPoint(manner, other, service, busyCores);
    }

    private ExperimentPoint with(Service other) {
        return new ExperimentPoint(manner, load, other, busyCores);
    }

    /** Arguments of the process that computes. */
    List<String> arguments() {
        return List.of(
                "--manner=" + manner,
                "--clients=" + load.clients,
                "--size=" + load.size,
                "--compute=" + load.computeNs,
                "--steps=" + load.steps,
                "--warm-up=" + load.warmUp,
                "--in-flight=" + load.inFlight,
                "--busy=" + busyCores);
    }
}
