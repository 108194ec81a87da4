package dev.verbena.cli.experiment;

import java.util.ArrayList;
import java.util.List;

/**
 * One measurement of an experiment: who sends what how often, through which service.
 *
 * @param manner what a process does with its output
 * @param clients logical compute processes
 * @param size bytes of a step's output of one process; with a restart file its length is fixed
 * @param computeNs time between the end of an output and the next
 * @param steps outputs of each process
 * @param warmUp steps left out at the beginning
 * @param servers master included
 * @param buffers of each server; 0: three for two processes
 * @param bufferSize bytes
 * @param rate what the receiver takes, bytes/s; 0: no limit; {@link #DISCARD}: thrown away at the
 *     server
 * @param busyCores processors on which computing is a busy wait
 * @param inFlight messages of a process that may be on their way; 1 in the paper
 * @param pollNs how often a server looks for headers by itself; 0: it is woken
 */
record ExperimentPoint(
        Manner manner,
        int clients,
        long size,
        long computeNs,
        int steps,
        int warmUp,
        int servers,
        int buffers,
        int bufferSize,
        double rate,
        int busyCores,
        int inFlight,
        long pollNs) {
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
        NONE
    }

    boolean isRestartFile() {
        return manner != Manner.MESSAGE;
    }

    boolean needsService() {
        return manner != Manner.FILE && manner != Manner.NONE;
    }

    /** Bytes of all processes in a step. */
    long stepBytes() {
        return clients * (isRestartFile() ? RestartItems.LENGTH : size);
    }

    /** Bytes of all processes in the steps that count. */
    long countedBytes() {
        return stepBytes() * (steps - warmUp);
    }

    /** N x S / R: the compute time at which all output of a step is just streamed, ns. */
    double kneeNs() {
        return rate > 0 ? stepBytes() / rate * 1e9 : 0;
    }

    ExperimentPoint computing(double ns) {
        return new ExperimentPoint(
                manner,
                clients,
                size,
                (long) ns,
                steps,
                warmUp,
                servers,
                buffers,
                bufferSize,
                rate,
                busyCores,
                inFlight,
                pollNs);
    }

    ExperimentPoint as(Manner other) {
        return new ExperimentPoint(
                other,
                clients,
                size,
                computeNs,
                steps,
                warmUp,
                servers,
                buffers,
                bufferSize,
                rate,
                busyCores,
                inFlight,
                pollNs);
    }

    ExperimentPoint served(int serverCount, int bufferCount) {
        return new ExperimentPoint(
                manner,
                clients,
                size,
                computeNs,
                steps,
                warmUp,
                serverCount,
                bufferCount,
                bufferSize,
                rate,
                busyCores,
                inFlight,
                pollNs);
    }

    ExperimentPoint inFlight(int messages) {
        return new ExperimentPoint(
                manner,
                clients,
                size,
                computeNs,
                steps,
                warmUp,
                servers,
                buffers,
                bufferSize,
                rate,
                busyCores,
                messages,
                pollNs);
    }

    ExperimentPoint polling(long everyNs) {
        return new ExperimentPoint(
                manner,
                clients,
                size,
                computeNs,
                steps,
                warmUp,
                servers,
                buffers,
                bufferSize,
                rate,
                busyCores,
                inFlight,
                everyNs);
    }

    /** Arguments of the process that computes. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        arguments.add("--manner=" + manner);
        arguments.add("--clients=" + clients);
        arguments.add("--size=" + size);
        arguments.add("--compute=" + computeNs);
        arguments.add("--steps=" + steps);
        arguments.add("--warm-up=" + warmUp);
        arguments.add("--in-flight=" + inFlight);
        arguments.add("--busy=" + busyCores);
        return arguments;
    }
}
