package dev.verbena.nsim.savime;

import dev.verbena.agent.CountersFile;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import dev.verbena.savime.server.ServerCounts;
import dev.verbena.savime.server.ServerSettings;
import dev.verbena.savime.server.StagingEngine;
import dev.verbena.savime.store.StagingDirectory;
import dev.verbena.staging.sink.StagedArrays;
import dev.verbena.transport.TransportContext;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A staging server and clients in virtual time, with the engines that everybody runs. The server's
 * folders are real, in a memory file system: they outlive it when it is killed. In the tests, since
 * the simulator itself touches no file. One thread.
 */
final class StagingSimulation implements AutoCloseable {
    static final int CLIENTS = 4;

    private static final long MS = 1_000_000;
    private static final String SERVICE = "shared/stage";

    private final Random random;
    private final World world;
    private final Path folder;
    private final SimulatedSink sink;
    private final List<SimulatedClient> clients = new ArrayList<>();
    private final List<EndingAgent> clientAgents = new ArrayList<>();
    private final List<SimulatedProcess> servers = new ArrayList<>();
    private final int senders;
    private final int longestNs;
    private final long memoryMax;
    private final long diskMax;
    private final long poolMax;
    private final long pinMax;
    private final long admissionWaitNs;
    private StagingDirectory memory;
    private StagingDirectory disk;
    private SimulatedProcess process;
    private StagingEngine engine;
    private EndingAgent serverAgent;
    private int placeCount;
    private int faultsToCome;

    /** A server and clients, all settings as the seed has them; nothing runs yet. */
    StagingSimulation(long seed) throws IOException {
        random = new Random(~seed * 0x9E3779B97F4A7C15L); // Near seeds begin alike.
        world = new World(seed, TreeTopology.single(CLIENTS + 1), new NetworkContext());
        world.randomSchedule(2000);
        world.delays(5, 300_000);
        folder = Files.createTempDirectory(CountersFile.defaultShmDirectory(), "verbena-sim-");
        sink = new SimulatedSink((int) seed, this::nextPlace);
        senders = random.nextBoolean() ? 1 : 2 + random.nextInt(3);
        longestNs = 100_000 + random.nextInt(1_500_000);
        memoryMax = 40_000 + random.nextInt(100_000);
        diskMax = random.nextInt(3) == 0 ? 30_000 : Long.MAX_VALUE;
        poolMax = random.nextBoolean() ? 0 : memoryMax / 2;
        pinMax = 8192L * (1 + random.nextInt(4));
        admissionWaitNs = random.nextBoolean() ? 0 : 20 * MS;
        startServer();
        for (int i = 0; i < CLIENTS; i++) {
            SimulatedProcess host = world.host("client" + i).start("client");
            SimulatedClient client =
                    new SimulatedClient(
                            host, i, new Random(random.nextLong()), this::nextPlace, SERVICE);
            clients.add(client);
            clientAgents.add(new EndingAgent(client));
            host.run(List.of(clientAgents.get(i)));
        }
    }

    /** Places of what happens, from 1. */
    private int nextPlace() {
        return ++placeCount;
    }

    private void startServer() {
        memory = new StagingDirectory(folder.resolve("memory"), true);
        disk = new StagingDirectory(folder.resolve("disk"), false);
        process = world.host("server").start("stage");
        servers.add(process);
        engine =
                new StagingEngine(
                        settings(process),
                        memory,
                        disk,
                        new SimulatedSenders(
                                world,
                                process,
                                new Random(random.nextLong()),
                                longestNs,
                                sink,
                                senders),
                        new StagedArrays(),
                        name ->
                                new SimulatedWork(
                                        world, process, new Random(random.nextLong()), longestNs));
        serverAgent = new EndingAgent(engine);
        process.run(List.of(serverAgent));
    }

    private ServerSettings settings(SimulatedProcess by) {
        TransportContext context =
                new TransportContext().peerTimeoutNs(SimulatedClient.PEER_TIMEOUT_NS);
        return new ServerSettings(
                by,
                () -> by.openTransport(World.SCHEME, context),
                SERVICE,
                null,
                0,
                SimulatedClient.TOKEN,
                memoryMax,
                diskMax,
                poolMax,
                8192,
                poolMax == 0 ? 0 : 2,
                pinMax,
                8192,
                2,
                8192,
                2,
                64,
                4096,
                20,
                100 * MS,
                50 * MS,
                5 * MS,
                40 * MS,
                admissionWaitNs);
    }

    // ---- faults

    /** Kills the server after a while, and starts another on its folders a little later. */
    void killServerWithin(long limitNs) {
        fault(limitNs, this::killServer);
    }

    private void killServer() {
        if (process.isDead()) {
            return; // The one before is not back yet.
        }
        process.kill();
        memory.close();
        disk.close();
        faultsToCome++;
        world.after(
                random.nextInt((int) (30 * MS)),
                () -> {
                    faultsToCome--;
                    startServer();
                });
    }

    /** Kills a client, and its host, after a while. */
    void killClientWithin(int index, long limitNs) {
        fault(limitNs, () -> world.crash(clients.get(index).process().host()));
    }

    /** The sink cannot be reached for a while. */
    void sinkAwayWithin(long limitNs) {
        fault(
                limitNs,
                () -> {
                    sink.away(true);
                    faultsToCome++;
                    world.after(
                            random.nextInt((int) (40 * MS)),
                            () -> {
                                faultsToCome--;
                                sink.away(false);
                            });
                });
    }

    /** Nothing passes between a client and the server, for so long that both give up, or not. */
    void cutWithin(int index, long limitNs) {
        fault(
                limitNs,
                () -> {
                    faultsToCome++;
                    world.cut(clients.get(index).process().host(), process.host());
                    world.after(
                            random.nextInt((int) (120 * MS)),
                            () -> {
                                faultsToCome--;
                                world.heal(clients.get(index).process().host(), process.host());
                            });
                });
    }

    private void fault(long limitNs, Runnable action) {
        faultsToCome++;
        world.after(
                (long) (random.nextDouble() * limitNs),
                () -> {
                    faultsToCome--;
                    action.run();
                });
    }

    // ---- what is seen

    World world() {
        return world;
    }

    SimulatedSink sink() {
        return sink;
    }

    List<SimulatedClient> clients() {
        return clients;
    }

    /** Every process of a server that there was. */
    List<SimulatedProcess> servers() {
        return servers;
    }

    StagingEngine engine() {
        return engine;
    }

    int senders() {
        return senders;
    }

    long poolMax() {
        return poolMax;
    }

    /** Clients that live have ended, and the server holds nothing that it does not keep. */
    boolean isDone() {
        if (faultsToCome > 0 || !engine.isReady()) {
            return false;
        }
        for (SimulatedClient client : clients) {
            if (!client.process().isDead() && !client.isDone()) {
                return false;
            }
        }
        return engine.memoryReserved() <= poolMax
                && engine.diskReserved() == 0
                && engine.counts().get(ServerCounts.Count.QUEUED) == 0;
    }

    /** Ends clients and server in order, once nothing that was refused is kept any more. */
    void closeInOrder() {
        world.run(200 * MS);
        for (int i = 0; i < CLIENTS; i++) {
            if (!clients.get(i).process().isDead()) {
                end(clients.get(i).process(), clientAgents.get(i));
            }
        }
        engine.requestStop();
        world.runUntil(engine::isDrained, 1000 * MS);
        end(process, serverAgent);
    }

    private void end(SimulatedProcess of, EndingAgent agent) {
        agent.end();
        of.wakeup();
        world.runUntil(agent::isClosed, 1000 * MS);
    }

    /** Names of the files that the server has left. */
    List<String> left() throws IOException {
        List<String> names = new ArrayList<>();
        for (String each : List.of("memory", "disk")) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder.resolve(each))) {
                files.forEach(file -> names.add(file.getFileName().toString()));
            }
        }
        return names;
    }

    @Override
    public void close() throws IOException {
        world.close();
        memory.close();
        disk.close();
        clients.forEach(SimulatedClient::close);
        for (String each : List.of("memory", "disk")) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder.resolve(each))) {
                for (Path file : files) {
                    Files.delete(file);
                }
            }
            Files.delete(folder.resolve(each));
        }
        Files.delete(folder);
    }
}
