package dev.verbena.cli.experiment;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.dart.DartClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The application of the experiments, started by {@code dart experiment}: logical compute
 * processes, each a thread with a client of its own, that compute for a fixed time and then give
 * output away. Computing is a busy wait while one of {@code --busy} processors is free, else a wait
 * until the same moment: more processes than processors cannot all spin.
 */
@Command(
        name = "experiment-compute",
        hidden = true,
        description = "Compute processes of an experiment.",
        mixinStandardHelpOptions = true)
public final class ExperimentCompute implements Callable<Integer> {
    private static final int REPORTS = 50;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(120);

    @Option(names = "--config", required = true)
    private Path configuration;

    @Option(names = "--transport", required = true)
    private String scheme;

    @Option(names = "--transport-job", required = true)
    private String job;

    @Option(names = "--samples", required = true)
    private Path samplesFile;

    @Option(names = "--manner", required = true)
    private ExperimentPoint.Manner manner;

    @Option(names = "--clients", required = true)
    private int clients;

    @Option(names = "--size", required = true)
    private long size;

    @Option(names = "--compute", required = true)
    private long computeNs;

    @Option(names = "--steps", required = true)
    private int steps;

    @Option(names = "--warm-up", required = true)
    private int warmUp;

    @Option(names = "--busy", required = true)
    private int busyCores;

    @Option(names = "--in-flight", defaultValue = "1")
    private int inFlight;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicInteger connected = new AtomicInteger();
    private Semaphore cores;
    private CyclicBarrier barrier;
    private ExperimentSamples samples;
    private RealEnvironment environment;

    @Override
    public Integer call() throws Exception {
        ChildProcess.endWithParent(() -> Runtime.getRuntime().halt(1));
        cores = new Semaphore(busyCores);
        samples = new ExperimentSamples(clients, steps);
        barrier = new CyclicBarrier(clients);
        try (RealEnvironment opened =
                RealEnvironment.builder().application("experiment processes").build()) {
            environment = opened;
            Thread[] threads = new Thread[clients];
            for (int rank = 0; rank < clients; rank++) {
                int own = rank;
                threads[rank] = new Thread(() -> guarded(own), "process-" + rank);
                threads[rank].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        if (failure.get() != null) {
            throw new Messages.Failure(Messages.of(failure.get()));
        }
        samples.write(samplesFile);
        ChildProcess.sendToParent("samples");
        return 0;
    }

    private void guarded(int rank) {
        try {
            run(rank);
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
            // The others would wait for this process at the barrier.
            barrier.reset();
            ChildProcess.sendToParent("failed " + rank);
        }
    }

    private void run(int rank) throws Exception {
        DartClient client = manner.isServed() ? connect(rank) : null;
        try (ExperimentOutput output =
                new ExperimentOutput(manner, client, rank, size, samplesFile.getParent())) {
            ChildProcess.sendToParent("connected " + connected.incrementAndGet());
            together(() -> {});
            for (int step = 0; step < steps; step++) {
                if (step == warmUp && rank == 0) {
                    ChildProcess.sendToParent("begin " + System.nanoTime());
                }
                compute();
                long start = System.nanoTime();
                output.write(step);
                samples.set(
                        rank, step, output.headerNs(), output.waitNs(), System.nanoTime() - start);
                if (rank == 0 && (step + 1) % Math.max(1, steps / REPORTS) == 0) {
                    ChildProcess.sendToParent("step " + (step + 1));
                }
            }
            output.settle(PATIENCE_NS);
            together(() -> ChildProcess.sendToParent("end " + System.nanoTime()));
            if (client != null) {
                client.flush(PATIENCE_NS);
                ChildProcess.sendToParent(
                        "client " + rank + " " + client.clientId() + " " + client.serverId());
                together(() -> ChildProcess.sendToParent("confirmed " + System.nanoTime()));
            }
        } finally {
            if (client != null) {
                client.close(PATIENCE_NS);
            }
        }
    }

    private DartClient connect(int rank) {
        return DartClient.connect(
                new DartClient.Context()
                        .environment(environment)
                        .configurationFile(configuration.toString())
                        .transport(scheme)
                        .transportJob(job)
                        .rank(rank)
                        .maxInFlight(inFlight)
                        .pooledTickets(true)
                        .bootTimeoutNs(PATIENCE_NS)
                        .peerTimeoutNs(PATIENCE_NS));
    }

    /** Waits for all processes; the last one acts. */
    private void together(Runnable action) throws Exception {
        if (barrier.await(PATIENCE_NS, TimeUnit.NANOSECONDS) == 0) {
            action.run();
        }
    }

    private void compute() throws IOException {
        long endNs = System.nanoTime() + computeNs;
        if (computeNs == 0) {
            return;
        }
        boolean isBusy = cores.tryAcquire();
        try {
            for (long left = computeNs; left > 0; left = endNs - System.nanoTime()) {
                if (isBusy) {
                    Thread.onSpinWait();
                } else {
                    LockSupport.parkNanos(left);
                }
                if (failure.get() != null) {
                    throw new IOException("another process has failed");
                }
            }
        } finally {
            if (isBusy) {
                cores.release();
            }
        }
    }
}
