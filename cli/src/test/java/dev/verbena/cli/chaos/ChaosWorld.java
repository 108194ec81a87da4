package dev.verbena.cli.chaos;

import dev.verbena.cli.VerbenaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The processes of one run: a receiver, a master, slaves, clients, all as a user starts them, with
 * a wire between servers and receiver; and what goes wrong with them.
 */
final class ChaosWorld implements AutoCloseable {
    private static final int DISK_MEBIBYTES = 96;
    private static final int BUFFERS = 6;
    private static final int SLAVES = 2;
    private static final int CLIENTS = 3;

    /** A minute. */
    private static final int SPILL_LOOKS = 1_200;

    /** A leak stays; a minute also on a busy machine. */
    private static final long BUFFERS_MS = 60_000;

    /** Exit code of a program that TERM ended. */
    private static final int TERMINATED = 143;

    final List<ChaosProcess> all = new ArrayList<>();
    final List<String> faults = new ArrayList<>();
    final ChaosDisk disk;
    private final Path folder;
    private final String scheme;
    private final long seed;

    /** Where servers put what the receiver does not take; null: nowhere. */
    private final Path spill;

    private final String config;
    private final ChaosProxy proxy = new ChaosProxy();
    private final ChaosProcess[] slaves = new ChaosProcess[SLAVES];
    private final ChaosProcess[] clients = new ChaosProcess[CLIENTS];
    private final int[] lives = new int[CLIENTS];
    private final PriorityQueue<Later> later =
            new PriorityQueue<>(Comparator.comparingLong(Later::atMs));
    private final long startNs = System.nanoTime();
    private final List<ChaosProcess> ending = new ArrayList<>();
    private final ChaosStrangers strangers = new ChaosStrangers();
    private final EnumMap<ChaosPlan.Kind, Integer> done = new EnumMap<>(ChaosPlan.Kind.class);
    private ChaosProcess receiver;
    private ChaosProcess master;
    private int starts;

    /** Half messages of a killed server stay at the receiver: it might come back. */
    volatile boolean hasKilledServers;

    /** The other half of a fault. */
    private record Later(long atMs, Step step) {}

    /** Something done to the world. */
    private interface Step {
        void run() throws Exception;
    }

    ChaosWorld(Path folder, String scheme, long seed, boolean isSpilling) throws IOException {
        this.spill = isSpilling ? folder.resolve("spill") : null;
        this.folder = folder;
        this.scheme = scheme;
        this.seed = seed;
        this.config = folder.resolve("chaos.conf").toString();
        this.disk = ChaosDisk.open(folder.resolve("arrived"), DISK_MEBIBYTES);
    }

    /** What can go wrong here. */
    Set<ChaosPlan.Kind> possible(Set<ChaosPlan.Kind> wanted) {
        Set<ChaosPlan.Kind> kinds = EnumSet.copyOf(wanted);
        if (!disk.isLimited()) {
            kinds.remove(ChaosPlan.Kind.FULL);
        }
        return kinds;
    }

    void start() throws Exception {
        startReceiver();
        startMaster();
        for (int i = 0; i < SLAVES; i++) {
            startSlave(i);
        }
        master.awaitLine("master ready");
        for (int i = 0; i < CLIENTS; i++) {
            startClient(i);
        }
        for (ChaosProcess client : clients) {
            client.awaitLine("streamed");
        }
    }

    private void startMaster() {
        startMaster(1 + SLAVES);
    }

    private void startMaster(int servers) {
        master = server("master", "--servers=" + servers, "--receiver=127.0.0.1:" + proxy.port());
    }

    private ChaosProcess server(String role, String... more) {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "dart",
                                role,
                                "--transport=" + scheme,
                                "--config=" + config,
                                "--buffer-size=1",
                                "--buffers=" + BUFFERS));
        if (spill != null) {
            arguments.add("--spill=" + spill + ",512m");
        }
        arguments.addAll(List.of(more));
        return command(role, List.of(), arguments.toArray(String[]::new));
    }

    /** A new master knows nobody: the slaves of the one before are replaced, as a user would. */
    private void renewService() {
        startMaster();
        for (int i = 0; i < SLAVES; i++) {
            endInOrder(slaves[i]);
            startSlave(i);
        }
    }

    private void endInOrder(ChaosProcess server) {
        // A second signal would end it at once.
        if (server.isAlive() && !ending.contains(server)) {
            server.terminate();
            ending.add(server);
        }
    }

    /** Starts another one unless somebody else has. */
    private void replaceSlave(int i, ChaosProcess before) {
        if (slaves[i] == before) {
            startSlave(i);
        }
    }

    /** Two masters on one file do not go: the new one waits for the end of the old one. */
    private void renewServiceAfter(ChaosProcess before) {
        if (before.isAlive()) {
            after(200, () -> renewServiceAfter(before));
        } else {
            renewService();
        }
    }

    private ChaosProcess command(String name, List<String> prefix, String... arguments) {
        ChaosProcess process =
                ChaosProcess.start(
                        folder,
                        name + "." + starts++,
                        prefix,
                        VerbenaCommand.class,
                        List.of(arguments));
        all.add(process);
        return process;
    }

    private void startReceiver() throws InterruptedException {
        receiver =
                command(
                        "receiver",
                        disk.prefix(),
                        "dart",
                        "receive",
                        "--listen=127.0.0.1:0",
                        "--directory=" + disk.inside());
        String address = receiver.awaitLine("listening on");
        proxy.target(Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
    }

    private void startSlave(int i) {
        slaves[i] = server("slave");
    }

    private ChaosProcess startStranger(int number) {
        ChaosProcess stranger =
                ChaosProcess.start(
                        folder,
                        "stranger." + starts++,
                        List.of(),
                        ChaosStranger.class,
                        List.of(config, scheme, Integer.toString(number)));
        all.add(stranger);
        return stranger;
    }

    private void startClient(int i) {
        ChaosProcess client =
                ChaosProcess.start(
                        folder,
                        "client." + i + "." + lives[i],
                        List.of(),
                        ChaosClient.class,
                        List.of(config, scheme, "" + i, "" + lives[i], Long.toString(seed)));
        clients[i] = client;
        all.add(client);
        lives[i]++;
    }

    private long nowMs() {
        return (System.nanoTime() - startNs) / 1_000_000;
    }

    /** Lets everything of the plan go wrong. */
    void execute(ChaosPlan plan) throws Exception {
        long beginMs = nowMs();
        for (ChaosPlan.Event event : plan.events()) {
            until(beginMs + event.atMs());
            System.out.println("chaos: " + event);
            apply(event);
        }
        until(beginMs + plan.durationMs());
    }

    private void until(long atMs) throws Exception {
        while (true) {
            long now = nowMs();
            if (!later.isEmpty() && later.peek().atMs() <= now) {
                later.poll().step().run();
            } else if (now >= atMs) {
                return;
            } else {
                Thread.sleep(5);
            }
        }
    }

    private void after(long ms, Step step) {
        later.add(new Later(nowMs() + ms, step));
    }

    private void apply(ChaosPlan.Event event) throws Exception {
        int amount = event.amount();
        done.merge(event.kind(), 1, Integer::sum);
        switch (event.kind()) {
            case CUT -> proxy.cut();
            case CUT_AFTER -> proxy.cutAfter(amount);
            case STALL -> proxy.stall(amount);
            case HOLE -> proxy.hole(amount);
            case STOP_RECEIVER -> freeze(receiver, amount);
            case STOP_SERVER -> {
                int which = event.target() % (SLAVES + 1);
                freeze(which == SLAVES ? master : slaves[which], amount);
            }
            case STOP_CLIENT -> freeze(clients[event.target() % CLIENTS], amount);
            case FULL -> {
                disk.fill();
                after(amount, disk::free);
            }
            case KILL_CLIENT -> {
                int which = event.target() % CLIENTS;
                if (clients[which].isAlive()) {
                    clients[which].kill();
                    after(amount, () -> startClient(which));
                }
            }
            case KILL_RECEIVER -> {
                if (receiver.isAlive()) {
                    receiver.kill();
                    after(amount, this::startReceiver);
                }
            }
            case STRANGERS -> {
                strangers.visit(proxy.target(), event.target());
                after(amount, strangers::leave);
            }
            case STRANGER -> {
                ChaosProcess stranger = startStranger(event.target());
                after(amount, stranger::kill);
            }
            default -> applyToServers(event);
        }
    }

    private void applyToServers(ChaosPlan.Event event) throws Exception {
        int which = event.target() % SLAVES;
        ChaosProcess slave = slaves[which];
        ChaosProcess chief = master;
        switch (event.kind()) {
            case KILL_SLAVE -> {
                if (slave.isAlive() && !ending.contains(slave)) {
                    hasKilledServers = true;
                    slave.kill();
                    after(event.amount(), () -> replaceSlave(which, slave));
                }
            }
            case RESTART_SLAVE -> {
                endInOrder(slave);
                after(event.amount(), () -> replaceSlave(which, slave));
            }
            case KILL_MASTER -> {
                if (chief.isAlive() && !ending.contains(chief)) {
                    hasKilledServers = true;
                    chief.kill();
                    after(event.amount(), this::renewService);
                }
            }
            case RESTART_MASTER -> {
                if (chief.isAlive() && !ending.contains(chief)) {
                    endInOrder(chief);
                    after(event.amount(), () -> renewServiceAfter(chief));
                }
            }
            default -> throw new AssertionError(event);
        }
    }

    private void freeze(ChaosProcess process, int ms) {
        process.freeze();
        after(ms, process::thaw);
    }

    /** All faults end; clients finish, then servers, then the receiver. */
    void finish() throws Exception {
        while (!later.isEmpty()) {
            until(later.peek().atMs());
        }
        proxy.heal();
        disk.free();
        strangers.leave();
        for (ChaosProcess client : clients) {
            client.finish();
        }
        for (ChaosProcess client : clients) {
            if (!client.awaitEnd(faults.isEmpty() ? 90 : 1)) {
                faults.add(client.name + " does not end:" + client.tail());
            } else if (client.exitCode() != 0) {
                faults.add(client.name + " ended with " + client.exitCode() + client.tail());
            }
        }
        for (ChaosProcess server : ending) {
            awaitOrderlyEnd(server);
        }
        countBuffers();
        for (ChaosProcess slave : slaves) {
            stop(slave);
        }
        stop(master);
        if (spill != null) {
            deliverSpilled();
        }
        stop(receiver);
    }

    /** What killed servers left, and those that ended while the receiver was away. */
    private void deliverSpilled() throws Exception {
        startMaster(1);
        master.awaitLine("master ready");
        for (int i = 0; i < SPILL_LOOKS && !isSpillEmpty(); i++) {
            Thread.sleep(50);
        }
        if (!isSpillEmpty()) {
            faults.add("spilled files are not delivered:" + master.tail());
        }
        stop(master);
    }

    private boolean isSpillEmpty() throws IOException {
        try (Stream<Path> files = Files.list(spill)) {
            return files.noneMatch(file -> file.toString().endsWith(".frames"));
        }
    }

    /**
     * Some time after the last message every server has all its buffers back. What waited for a
     * connection that leads nowhere, or of a process that gave its server up, is confirmed only
     * once that server has found out ({@code receiverTimeoutNs}) and connected again.
     */
    private void countBuffers() throws InterruptedException {
        long deadlineMs = nowMs() + BUFFERS_MS;
        String found;
        List<ChaosProcess> missing;
        do {
            ChaosProcess status = command("status", List.of(), "status");
            status.awaitEnd(30);
            found = status.out();
            missing = withoutAllBuffers(found);
            if (missing.isEmpty()) {
                return;
            }
            System.out.println("chaos: buffers are not all back at " + missing);
            Thread.sleep(500);
        } while (nowMs() - deadlineMs < 0);
        for (ChaosProcess server : missing) {
            String lines = String.join("; ", linesOf(found, server));
            faults.add("buffers are missing at " + server + ": " + lines + server.tail());
            server.dumpThreads();
        }
    }

    private List<ChaosProcess> withoutAllBuffers(String status) {
        return Stream.concat(Stream.of(master), Arrays.stream(slaves))
                .filter(server -> !hasAllBuffers(status, server))
                .toList();
    }

    private static boolean hasAllBuffers(String status, ChaosProcess server) {
        return linesOf(status, server).stream()
                .anyMatch(line -> line.startsWith(BUFFERS + " ") && line.endsWith(" in ebq"));
    }

    /** What a status says of a server, spaces as one. */
    private static List<String> linesOf(String status, ChaosProcess server) {
        List<String> lines = new ArrayList<>();
        boolean isIt = false;
        for (String line : status.split("\n")) {
            if (!line.startsWith(" ")) {
                isIt = line.contains("process " + server.pid() + ",");
            } else if (isIt) {
                lines.add(line.strip().replaceAll(" +", " "));
            }
        }
        return lines;
    }

    private void stop(ChaosProcess process) throws InterruptedException {
        if (!process.isAlive()) {
            faults.add(process.name + " ended by itself:" + process.tail());
            return;
        }
        process.terminate();
        awaitOrderlyEnd(process);
    }

    /** Told to end while the JVM was still starting: the signal's own answer. */
    private static boolean hasEndedBeforeItBegan(ChaosProcess process) {
        return process.exitCode() == TERMINATED && process.out().isEmpty();
    }

    private void awaitOrderlyEnd(ChaosProcess process) throws InterruptedException {
        if (!process.awaitEnd(faults.isEmpty() ? 60 : 10)) {
            faults.add(process.name + " does not stop:" + process.tail());
        } else if (process.exitCode() != 0 && !hasEndedBeforeItBegan(process)) {
            faults.add(process.name + " ended with " + process.exitCode() + process.tail());
        }
    }

    /** For a person who looks at a failed run. */
    String summary() {
        return all.size()
                + " processes, "
                + proxy.cutCount()
                + " streams cut, "
                + strangers.count()
                + " strangers; "
                + done;
    }

    @Override
    public void close() throws Exception {
        for (ChaosProcess process : all) {
            process.kill();
        }
        strangers.close();
        proxy.close();
        disk.close();
    }
}
