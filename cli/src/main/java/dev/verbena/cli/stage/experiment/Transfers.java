package dev.verbena.cli.stage.experiment;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OwnedFolder;
import dev.verbena.memory.OffHeapMemories;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Makes the runs: the staging server is on threads of this process, the client in another, which
 * lives as long as this. One thread.
 */
final class Transfers implements AutoCloseable {
    private static final long LOOK_MS = 20;
    private static final long RUN_SECONDS = 3600;
    private static final int PIECE = 1 << 20;
    private static final long SPARE = 64L << 20;

    private final String scheme;
    private final String job = "stage-experiment-" + ProcessHandle.current().pid();
    private final int datasets;
    private final BooleanSupplier isInterrupted;
    private final Path memory;
    private final Path disk;
    private final Path source;
    private final Path held;
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private ChildProcess client;
    private BufferedWriter orders;
    private Sshd sshd;
    private int count;

    /**
     * Makes folders, which {@link #close} removes.
     *
     * @param memoryParent a folder of a memory file system
     * @param diskParent a folder on a disk
     */
    Transfers(
            String scheme,
            Path memoryParent,
            Path diskParent,
            int datasets,
            BooleanSupplier isInterrupted)
            throws IOException {
        this.scheme = scheme;
        this.datasets = datasets;
        this.isInterrupted = isInterrupted;
        memory = OwnedFolder.enterable(OwnedFolder.create(memoryParent));
        disk = OwnedFolder.enterable(OwnedFolder.create(diskParent));
        source = memory.resolve("source");
        held = memory.resolve("held");
    }

    /**
     * Makes the source and starts the client.
     *
     * @param bytes of the source, the longest dataset
     */
    void start(long bytes, boolean hasSsh) throws IOException, InterruptedException {
        fill(source, bytes);
        if (hasSsh) {
            sshd = new Sshd(OwnedFolder.enterable(memory.resolve("ssh")));
        }
        client =
                ChildProcess.start(
                        "the compute process",
                        null,
                        Map.of(),
                        List.of(),
                        List.of(
                                "stage",
                                "experiment-client",
                                "--source=" + source,
                                "--length=" + bytes,
                                "--transport=" + scheme,
                                "--transport-job=" + job),
                        told::add);
        orders = client.process().outputWriter();
        await("ready");
    }

    /** Bytes that nothing can compress. */
    private static void fill(Path file, long bytes) throws IOException {
        byte[] piece = new byte[PIECE];
        SplittableRandom random = new SplittableRandom(bytes);
        try (var out = Files.newOutputStream(file)) {
            for (long at = 0; at < bytes; at += PIECE) {
                random.nextBytes(piece);
                out.write(piece, 0, (int) Math.min(PIECE, bytes - at));
            }
        }
    }

    private String await(String word) throws InterruptedException {
        for (long waited = 0; waited < RUN_SECONDS * 1000; waited += LOOK_MS) {
            String line = told.poll(LOOK_MS, TimeUnit.MILLISECONDS);
            if (line != null && line.startsWith(word)) {
                return line.substring(word.length()).strip();
            }
            if (isInterrupted.getAsBoolean()) {
                throw new InterruptedException();
            }
            if (line == null && client.waitFor(0)) {
                break;
            }
        }
        throw new Messages.Failure(client.exitSummary());
    }

    /** Makes a run that is not counted: the client's code is compiled then. */
    void warmUp(Trial like) throws IOException, InterruptedException {
        measure(new Trial("", like.method, like.blockMebibytes, like.threads, like.bytes, false));
    }

    /** Makes a run of a trial. */
    void measure(Trial trial) throws IOException, InterruptedException {
        count++;
        double alone = trial.hasLoop ? ComputeLoop.alone() : Double.NaN;
        Path inMemory = OwnedFolder.enterable(memory.resolve("run-" + count));
        Path onDisk = OwnedFolder.enterable(disk.resolve("run-" + count));
        try {
            holdFreeMemory(datasets * trial.bytes + SPARE / 2);
            trial.add(
                    trial.method.isScp()
                            ? copied(trial, trial.method.isOnDisk ? onDisk : inMemory, alone)
                            : staged(trial, inMemory, onDisk, alone));
        } finally {
            giveFreeMemory();
            OwnedFolder.delete(inMemory);
            OwnedFolder.delete(onDisk);
        }
    }

    /**
     * A host takes memory back that its virtual machine has not used for some seconds. Having it
     * again took 16 times as long as reserving it, whatever ran before.
     */
    private void holdFreeMemory(long bytes) {
        OffHeapMemories.mapFile(held, 0, bytes, true).close();
    }

    /** To a run, which begins now. */
    private void giveFreeMemory() throws IOException {
        Files.deleteIfExists(held);
    }

    private Trial.Sample copied(Trial trial, Path target, double alone)
            throws IOException, InterruptedException {
        Sshd.give(target);
        Path piece = memory.resolve("piece");
        List<Path> names = names(trial.bytes, piece);
        double secondsBefore = ProcessCosts.endedChildrenSeconds();
        Map<Long, Long> switches = new HashMap<>();
        try (ComputeLoop loop = trial.hasLoop ? new ComputeLoop() : null) {
            long roundsBefore = loop == null ? 0 : loop.rounds();
            giveFreeMemory();
            long beginNs = System.nanoTime();
            Process scp = sshd.copy(names, target);
            try {
                while (!scp.waitFor(LOOK_MS, TimeUnit.MILLISECONDS)) {
                    look(scp, switches);
                    if (isInterrupted.getAsBoolean()) {
                        throw new InterruptedException();
                    }
                }
            } finally {
                Sshd.end(scp);
            }
            if (scp.exitValue() != 0) {
                throw new Messages.Failure("scp: " + sshd.clientSaid());
            }
            if (trial.method.isOnDisk) {
                force(target);
            }
            double seconds = (System.nanoTime() - beginNs) / 1e9;
            require(target, trial.bytes);
            return new Trial.Sample(
                    seconds,
                    ProcessCosts.endedChildrenSeconds() - secondsBefore,
                    switches.values().stream().mapToLong(each -> each).sum(),
                    slowing(loop, roundsBefore, alone, seconds));
        } finally {
            for (Path name : names) {
                Files.delete(name);
            }
            Files.deleteIfExists(piece);
        }
    }

    /** A name for each dataset; the source is there once. */
    private List<Path> names(long bytes, Path piece) throws IOException {
        Path target = source;
        if (bytes < Files.size(source)) {
            try (FileChannel from = FileChannel.open(source);
                    FileChannel to =
                            FileChannel.open(
                                    piece, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                from.transferTo(0, bytes, to);
            }
            target = piece;
        }
        List<Path> names = new ArrayList<>();
        for (int i = 0; i < datasets; i++) {
            names.add(Files.createSymbolicLink(memory.resolve("dataset-" + i), target));
        }
        return names;
    }

    /** At the last look; a process that ends takes its numbers with it. */
    private static void look(Process process, Map<Long, Long> switches) {
        switches.putAll(ProcessCosts.switchesByThread(process.pid()));
        process.descendants()
                .forEach(each -> switches.putAll(ProcessCosts.switchesByThread(each.pid())));
    }

    private void require(Path folder, long bytes) throws IOException {
        int found = 0;
        try (var files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                found += Files.size(file) == bytes ? 1 : 0;
            }
        }
        if (found != datasets) {
            throw new Messages.Failure(
                    "%s of %s datasets arrived in %s".formatted(found, datasets, folder));
        }
    }

    private static double slowing(ComputeLoop loop, long before, double alone, double seconds) {
        return loop == null ? Double.NaN : alone * seconds / Math.max(1, loop.rounds() - before);
    }

    private Trial.Sample staged(Trial trial, Path inMemory, Path onDisk, double alone)
            throws IOException, InterruptedException {
        boolean isTcp = trial.method == Method.STAGED_TCP || trial.method == Method.TUNNELLED;
        Path configuration = isTcp ? null : inMemory.resolveSibling("address-" + count);
        List<Process> tunnels = new ArrayList<>();
        Path inside = Files.createDirectory(inMemory.resolve("staged"));
        Path outside = Files.createDirectory(onDisk.resolve("staged"));
        long room = datasets * (trial.bytes + SPARE / 64) + SPARE;
        try (StagingMachine machine =
                new StagingMachine(scheme, job, inside, room, outside, configuration)) {
            machine.awaitReady();
            List<Long> clients = new ArrayList<>(List.of(client.pid()));
            String address = isTcp ? "127.0.0.1:" + machine.port() : configuration.toString();
            if (trial.method == Method.TUNNELLED) {
                int middle = Sshd.freePort();
                tunnels.add(sshd.tunnel(middle, machine.port()));
                int near = Sshd.freePort();
                tunnels.add(sshd.tunnel(near, middle));
                clients.add(tunnels.get(1).pid());
                address = "127.0.0.1:" + near;
            }
            Trial.Sample sample = ordered(trial, address, clients, outside, alone);
            orders.write("\n");
            orders.flush();
            await("closed");
            return sample;
        } finally {
            for (Process tunnel : tunnels) {
                Sshd.end(tunnel);
            }
            if (configuration != null) {
                Files.deleteIfExists(configuration);
            }
        }
    }

    private Trial.Sample ordered(
            Trial trial, String address, List<Long> clients, Path outside, double alone)
            throws IOException, InterruptedException {
        ProcessCosts before = ProcessCosts.of(clients);
        try (ComputeLoop loop = trial.hasLoop ? new ComputeLoop() : null) {
            long roundsBefore = loop == null ? 0 : loop.rounds();
            giveFreeMemory();
            orders.write(
                    "%s %s %s %s %s %s%n"
                            .formatted(
                                    address,
                                    trial.method.isOnDisk ? "DISK" : "MEMORY",
                                    datasets,
                                    trial.bytes,
                                    trial.blockMebibytes << 20,
                                    trial.threads));
            orders.flush();
            double seconds = Long.parseLong(await("synced")) / 1e9;
            long beginNs = System.nanoTime();
            if (trial.method.isOnDisk) {
                force(outside);
                seconds += (System.nanoTime() - beginNs) / 1e9;
            }
            double slowing = slowing(loop, roundsBefore, alone, seconds);
            ProcessCosts costs = ProcessCosts.of(clients).minus(before);
            return new Trial.Sample(seconds, costs.cpuSeconds(), costs.switches(), slowing);
        }
    }

    /** Onto the disk: what is in the page cache only is not there. */
    private static void force(Path folder) throws IOException {
        try (var files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (Files.isRegularFile(file)) {
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.force(true);
                    }
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        if (client != null) {
            client.finish();
            client.end(10_000);
        }
        if (sshd != null) {
            sshd.close();
        }
        OwnedFolder.delete(memory);
        OwnedFolder.delete(disk);
    }
}
