package dev.verbena.cli.experiment;

import dev.verbena.agent.Environment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.ServerTimes;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * Runs measurements: servers and receiver on threads of this process, the compute processes in
 * another, everything new for each measurement. One thread.
 */
final class ExperimentService implements AutoCloseable {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final String ANY_PORT = "tcp://127.0.0.1:0";
    private static final long CLOSE_NS = TimeUnit.SECONDS.toNanos(20);

    private final String scheme;
    private final Path folder;
    private final BooleanSupplier isInterrupted;
    private final RealEnvironment environment;
    private final List<DartServer> servers = new ArrayList<>();
    private RateLimit limit;
    private DartReceiver receiver;
    private ChildProcess child;
    private int count;

    /**
     * Opens nothing but an environment.
     *
     * @param folder for configuration files and samples
     * @param isInterrupted asked while waiting
     */
    ExperimentService(String scheme, Path folder, BooleanSupplier isInterrupted) {
        this.scheme = scheme;
        this.folder = folder;
        this.isInterrupted = isInterrupted;
        this.environment = RealEnvironment.builder().application("dart experiment").build();
    }

    /** What the compute processes have reported. */
    private static final class Report {
        long beginNs;
        long endNs;
        long confirmedNs;
        int[] clientIds;
        int[] serverIds;
        boolean hasSamples;
    }

    /**
     * Measures one point.
     *
     * @param progress gets the number of steps done
     * @throws Messages.Failure if it cannot be done
     * @throws InterruptedException if the user wants to end
     */
    ExperimentResult measure(ExperimentPoint point, IntConsumer progress) throws Exception {
        count++;
        Path work = Files.createDirectories(folder.resolve("point-" + count));
        String job = "x" + ProcessHandle.current().pid() + "-" + count;
        try {
            Path configuration = work.resolve("dart.conf");
            if (point.manner().isServed()) {
                startService(point, configuration, job);
            }
            Report report = new Report();
            compute(point, work, configuration, job, report, progress);
            ExperimentSamples samples =
                    ExperimentSamples.read(
                            work.resolve("samples.csv"),
                            point.load().clients(),
                            point.load().steps());
            stop();
            return result(point, samples, report);
        } finally {
            stop();
            servers.clear();
        }
    }

    private void startService(ExperimentPoint point, Path configuration, String job) {
        boolean isDiscarding = point.service().rate() == ExperimentPoint.DISCARD;
        limit = new RateLimit(point.service().rate(), System.nanoTime());
        boolean isCarried = point.service().isCarried();
        URI address = URI.create(isCarried ? scheme + "://" + job + "/receiver" : ANY_PORT);
        if (!isDiscarding) {
            Environment limited =
                    point.service().rate() > 0
                            ? new LimitedEnvironment(environment, limit)
                            : environment;
            receiver =
                    DartReceiver.launch(
                            new DartReceiver.Context()
                                    .environment(limited)
                                    .listen(address)
                                    .handler(message -> {}));
            address = receiver.address();
        }
        for (int i = 0; i < point.service().servers(); i++) {
            DartServer.Context context =
                    new DartServer.Context()
                            .environment(environment)
                            .configurationFile(configuration.toString())
                            .transport(scheme)
                            .transportJob(job)
                            .discard(isDiscarding)
                            .receiver(address)
                            .serverCount(point.service().servers())
                            .clientCount(point.load().clients())
                            .bufferCount(point.service().buffers())
                            .bufferSize(point.service().bufferSize())
                            .dedicatedThreads(!isDiscarding && hasCores())
                            .pollNs(point.service().pollNs())
                            .peerTimeoutNs(PATIENCE_NS)
                            .receiverTimeoutNs(PATIENCE_NS)
                            .bootTimeoutNs(PATIENCE_NS)
                            .closeTimeoutNs(CLOSE_NS);
            servers.add(DartServer.launch(i == 0 ? context.master() : context.slave()));
        }
    }

    /** Whether a server may have three threads, which would else only get in each other's way. */
    private static boolean hasCores() {
        return Runtime.getRuntime().availableProcessors() >= 4;
    }

    private void compute(
            ExperimentPoint point,
            Path work,
            Path configuration,
            String job,
            Report report,
            IntConsumer progress)
            throws Exception {
        List<String> arguments = new ArrayList<>();
        arguments.add("experiment-compute");
        arguments.add("--config=" + configuration);
        arguments.add("--transport=" + scheme);
        arguments.add("--transport-job=" + job);
        arguments.add("--samples=" + work.resolve("samples.csv"));
        arguments.addAll(point.arguments());
        report.clientIds = new int[point.load().clients()];
        report.serverIds = new int[point.load().clients()];
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        child =
                ChildProcess.start(
                        "the compute processes",
                        work.resolve("compute.log"),
                        Map.of(),
                        List.of("-XX:MaxDirectMemorySize=4g", "-Xss512k"),
                        arguments,
                        told::add);
        boolean isOver = false;
        while (!isOver || !told.isEmpty()) {
            if (isInterrupted.getAsBoolean()) {
                throw new InterruptedException();
            }
            String line = told.poll(100, TimeUnit.MILLISECONDS);
            if (line != null) {
                onMessage(line, report, progress);
            } else {
                requireRunning();
                isOver = child.waitFor(0);
            }
        }
        if (!report.hasSamples) {
            throw new Messages.Failure(child.exitSummary());
        }
        child = null;
    }

    private void requireRunning() {
        for (DartServer server : servers) {
            if (server.failure() != null) {
                throw new Messages.Failure("server: " + Messages.of(server.failure()));
            }
        }
        if (receiver != null && receiver.failure() != null) {
            throw new Messages.Failure("receiver: " + Messages.of(receiver.failure()));
        }
    }

    private static void onMessage(String line, Report report, IntConsumer progress) {
        String[] words = line.split(" ");
        switch (words[0]) {
            case "begin" -> report.beginNs = Long.parseLong(words[1]);
            case "end" -> report.endNs = Long.parseLong(words[1]);
            case "confirmed" -> report.confirmedNs = Long.parseLong(words[1]);
            case "step" -> progress.accept(Integer.parseInt(words[1]));
            case "client" -> {
                int rank = Integer.parseInt(words[1]);
                report.clientIds[rank] = Integer.parseInt(words[2]);
                report.serverIds[rank] = Integer.parseInt(words[3]);
            }
            case "samples" -> report.hasSamples = true;
            default -> {
                // connected, failed: the exit and its log say more
            }
        }
    }

    private ExperimentResult result(
            ExperimentPoint point, ExperimentSamples samples, Report report) {
        long pulled = 0;
        long[] sums = new long[3];
        long pieces = 0;
        for (DartServer server : servers) {
            ServerTimes times = server.times();
            pulled += server.statistics().pulledBytes();
            sums[0] += times.pull().totalNs();
            sums[1] += times.queue().totalNs();
            sums[2] += times.stream().totalNs();
            pieces += times.pull().count();
        }
        ExperimentResult.ClientTime[] perClient =
                new ExperimentResult.ClientTime[servers.isEmpty() ? 0 : point.load().clients()];
        for (int rank = 0; rank < perClient.length; rank++) {
            perClient[rank] = clientTime(report.clientIds[rank], report.serverIds[rank]);
        }
        return new ExperimentResult(
                point,
                samples,
                perClient,
                (report.endNs - report.beginNs) / 1e9,
                pulled,
                sums[0],
                sums[1],
                sums[2],
                pieces,
                (report.confirmedNs - report.beginNs) / 1e9);
    }

    private ExperimentResult.ClientTime clientTime(int clientId, int serverId) {
        for (DartServer server : servers) {
            ServerTimes times = server.times();
            if (server.serverId() == serverId) {
                return new ExperimentResult.ClientTime(
                        serverId,
                        times.pullNs(clientId),
                        times.queueNs(clientId),
                        times.streamNs(clientId));
            }
        }
        return new ExperimentResult.ClientTime(serverId, 0, 0, 0);
    }

    /** Ends what is running; what waits for the receiver passes at full speed. */
    private void stop() {
        if (child != null) {
            child.end(0);
            child = null;
        }
        if (limit != null) {
            limit.lift();
        }
        for (int i = servers.size() - 1; i >= 0; i--) {
            servers.get(i).close();
        }
        if (receiver != null) {
            receiver.close();
            receiver = null;
        }
    }

    @Override
    public void close() throws IOException {
        stop();
        environment.close();
    }
}
