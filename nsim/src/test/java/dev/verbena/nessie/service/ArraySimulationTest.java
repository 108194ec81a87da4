package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.nsim.world.Host;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import dev.verbena.staging.metadata.Box;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Array servers in virtual time, with writers and readers that cut the arrays in different ways,
 * and with servers that are killed and come back.
 */
@Timeout(120)
class ArraySimulationTest {
    private static final long MS = SimulatedArrayClient.MS;
    private static final int SERVERS = 3;
    private static final int CLIENTS = 2;
    private static final int VERSIONS = 6;
    private static final long LONG_MS = 5_000;
    private static final long SHORT_MS = 30;
    private static final byte UNTOUCHED = 0x5A;

    // --long: 200 seeds instead of 12
    private static final long SEEDS = Boolean.getBoolean("verbena.long") ? 200 : 12;

    /** Puts its boxes of each version; the last one that is done with a version seals it. */
    private static final class Writer extends SimulatedArrayClient {
        private final SimulatedField field;
        private final int index;

        Writer(
                Host host,
                List<SimulatedArrayServer> servers,
                long waitMs,
                SimulatedField field,
                int index) {
            super(host, servers, waitMs);
            this.field = field;
            this.index = index;
        }

        @Override
        void begin() {
            put(0, 0, true);
        }

        /** Puts a box, and when that has ended the next one. */
        private void put(int version, int number, boolean wasOk) {
            if (version == field.versions) {
                return;
            }
            List<Box> boxes = field.boxes(version, index);
            if (number == boxes.size()) {
                ended(version, wasOk);
                return;
            }
            PlainArray plain = field.plain(version);
            NntiBuffer memory = allocate(plain.length(boxes.get(number)));
            plain.fill(boxes.get(number), memory);
            move(
                    ArrayConstants.PUT,
                    field.array(version),
                    boxes.get(number),
                    memory,
                    isOk -> {
                        release(memory);
                        put(version, number + 1, wasOk && isOk);
                    });
        }

        private void ended(int version, boolean isOk) {
            if (field.ended(version, isOk)) {
                seal(field.array(version), isSealed -> sealed(version, isSealed));
            }
            put(version + 1, 0, true);
        }

        private void sealed(long version, boolean isSealed) {
            if (isSealed) {
                field.sealed.add(version);
            }
        }
    }

    /** Gets each version, in boxes of its own, all of them at a time. */
    private static final class Reader extends SimulatedArrayClient {
        private final SimulatedField field;
        private final SplittableRandom random;
        private int version = -1;
        private int underWay;
        private int failedCount;

        Reader(
                Host host,
                List<SimulatedArrayServer> servers,
                long waitMs,
                SimulatedField field,
                SplittableRandom random) {
            super(host, servers, waitMs);
            this.field = field;
            this.random = random;
        }

        @Override
        void begin() {
            next();
        }

        private void next() {
            version++;
            if (version < field.versions) {
                Box whole = field.array(version).whole();
                List<Box> boxes = PlainArray.decompose(whole, 1 + random.nextInt(8), random);
                underWay = boxes.size();
                boxes.forEach(this::get);
            }
        }

        private void get(Box box) {
            NntiBuffer into = allocate(field.plain(version).length(box));
            into.window().setMemory(0, (int) into.length(), UNTOUCHED);
            move(
                    ArrayConstants.GET,
                    field.array(version),
                    box,
                    into,
                    isOk -> {
                        check(box, into, isOk);
                        release(into);
                        if (--underWay == 0) {
                            next();
                        }
                    });
        }

        /** Also what a get that failed has brought is of this array. */
        private void check(Box box, NntiBuffer into, boolean isOk) {
            failedCount += isOk ? 0 : 1;
            NntiBuffer expected = allocate((int) into.length());
            field.plain(version).fill(box, expected);
            for (int i = 0; i < into.length(); i++) {
                byte got = into.window().getByte(i);
                if (got != expected.window().getByte(i) && (isOk || got != UNTOUCHED)) {
                    wrong.add("byte %s of box %s of %s".formatted(i, box, field.array(version)));
                    break;
                }
            }
            release(expected);
        }
    }

    private final List<SimulatedArrayServer> servers = new ArrayList<>();
    private final List<SimulatedField> fields = new ArrayList<>();
    private final List<SimulatedArrayClient> clients = new ArrayList<>();
    private final List<Reader> readers = new ArrayList<>();
    private ArrayServerOptions options;

    private SimulatedArrayServer server(World world, int place) {
        return new SimulatedArrayServer(
                world.host("server" + place), options.withPlace(place, SERVERS));
    }

    private boolean areServing() {
        return servers.stream().allMatch(each -> each.url() != null);
    }

    private World world(long seed, long waitMs) {
        servers.clear();
        fields.clear();
        clients.clear();
        readers.clear();
        World world = new World(seed, TreeTopology.single(16), new NetworkContext());
        world.randomSchedule(2000).delays(5, 300_000);
        SplittableRandom random = new SplittableRandom(seed);
        // Every other time pieces have to make room for others.
        options = ArrayServerOptions.DEFAULT.withMemory(random.nextBoolean() ? 1 << 30 : 20_000);
        for (int place = 0; place < SERVERS; place++) {
            servers.add(server(world, place));
            world.refuse(servers.get(place).process(), 50);
        }
        assertThat(world.runUntil(this::areServing, LONG_MS * MS)).isTrue();
        for (String name : new String[] {"density", "velocity"}) {
            SimulatedField field = new SimulatedField(name, VERSIONS, CLIENTS, random);
            fields.add(field);
            for (int i = 0; i < CLIENTS; i++) {
                Host host = world.host(name + "-writer" + i);
                clients.add(new Writer(host, servers, waitMs, field, i));
                host = world.host(name + "-reader" + i);
                readers.add(new Reader(host, servers, waitMs, field, random.split()));
            }
        }
        clients.addAll(readers);
        return world;
    }

    private boolean areDone() {
        return clients.stream().allMatch(SimulatedArrayClient::isDone);
    }

    private void finish(World world, long seed) {
        assertThat(world.runUntil(this::areDone, 20_000 * MS)).as("seed %s", seed).isTrue();
        for (SimulatedArrayClient client : clients) {
            assertThat(client.wrong).as("seed %s", seed).isEmpty();
            assertThat(client.process().errors()).as("seed %s", seed).isEmpty();
        }
        servers.forEach(each -> assertThat(each.process().errors()).isEmpty());
    }

    /** Each version is the plain array, or cannot be got and no writer was told that it is. */
    private void requirePlain(World world, long seed) {
        SimulatedProcess process = world.host("auditor").start("auditor");
        List<String> urls = servers.stream().map(SimulatedArrayServer::url).toList();
        try (ArrayClient client =
                ArrayClient.connect(
                        SimulatedArrayServer.transport(process),
                        urls,
                        LONG_MS,
                        process.errorHandler())) {
            for (SimulatedField field : fields) {
                List<Long> sealed = new ArrayList<>();
                for (long version : client.versions(field.name, -1, 0)) {
                    sealed.add(version);
                }
                assertThat(sealed).as("seed %s", seed).containsAll(field.sealed);
                for (int version = 0; version < VERSIONS; version++) {
                    requirePlain(client, field, version, sealed.contains((long) version));
                }
            }
        }
        assertThat(process.errors()).isEmpty();
    }

    private static void requirePlain(
            ArrayClient client, SimulatedField field, int version, boolean isSealed) {
        Box whole = field.array(version).whole();
        PlainArray plain = field.plain(version);
        NntiBuffer into = client.allocate(plain.length(whole));
        try {
            client.get(field.name, version, whole, into, 0);
            assertThat(plain.mismatch(whole, into)).as("%s %s", field.name, version).isEqualTo(-1);
        } catch (ArrayException e) {
            assertThat(isSealed).as(e.getMessage()).isFalse();
        }
        client.release(into);
    }

    @Test
    @Tag("nsim-46")
    void shouldEqualPlainArraysAndRepeatTheRun() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            long[] hashes = new long[2];
            for (int run = 0; run < 2; run++) {
                try (World world = world(seed, LONG_MS)) {
                    finish(world, seed);
                    assertThat(readers).allMatch(each -> each.failedCount == 0);
                    assertThat(fields).allMatch(each -> each.sealed.size() == VERSIONS);
                    requirePlain(world, seed);
                    hashes[run] = world.traceHash();
                }
            }
            assertThat(hashes[1]).as("seed %s", seed).isEqualTo(hashes[0]);
        }
    }

    /** A server ends at once, alone or with its host, and another one begins in its directory. */
    @Test
    @Tag("nsim-46")
    void shouldHaveEverySealedVersionAfterAServerIsKilled() {
        int failed = 0;
        int sealed = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            try (World world = world(seed, SHORT_MS)) {
                SplittableRandom random = new SplittableRandom(-seed);
                int count = 5 + random.nextInt(100);
                world.runUntil(() -> endedCount() >= count || areDone(), LONG_MS * MS);
                int place = random.nextInt(SERVERS);
                SimulatedProcess killed = servers.get(place).process();
                if (random.nextBoolean()) {
                    world.crash(killed.host());
                    world.run(random.nextInt(100) * MS);
                    world.restart(killed.host());
                } else {
                    killed.kill();
                }
                servers.set(place, server(world, place));
                assertThat(world.runUntil(this::areServing, LONG_MS * MS)).isTrue();
                finish(world, seed);
                failed += readers.stream().mapToInt(each -> each.failedCount).sum();
                sealed += fields.stream().mapToInt(each -> each.sealed.size()).sum();
                requirePlain(world, seed);
            }
        }
        // Some, but not all: the servers were killed at different times.
        assertThat(failed).isPositive();
        assertThat((long) sealed).isBetween(1L, SEEDS * fields.size() * VERSIONS - 1);
    }

    private int endedCount() {
        return clients.stream().mapToInt(SimulatedArrayClient::endedCount).sum();
    }
}
