package dev.verbena.nsim.world;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.ByteStreams.Listener;
import dev.verbena.agent.DurableStore;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each fault fires and can be seen; clocks, disks and streams are as they are said to be. */
@Timeout(60)
class WorldTest {
    private static final long PATIENCE_NS = 100_000_000L;
    private static final long SECOND_NS = 1_000_000_000L;

    private final List<World> worlds = new ArrayList<>();
    private final World world = world(1);

    private World world(long seed) {
        World made = new World(seed, TreeTopology.single(8), new NetworkContext());
        worlds.add(made);
        return made;
    }

    @AfterEach
    void closeWorlds() {
        worlds.forEach(World::close);
    }

    /** A transport that is polled by its process and accepts everything. */
    private static final class Peer implements TransportHandler, ProtocolAgent {
        final SimulatedProcess process;
        final Transport transport;
        final RegisteredRegion region;
        final List<String> seen = new ArrayList<>();
        long connection;
        int polls;

        Peer(World world, String host) {
            process = world.host(host).start("peer");
            transport =
                    process.openTransport(
                            World.SCHEME, new TransportContext().peerTimeoutNs(PATIENCE_NS));
            region = transport.allocate(4096, RemoteDescriptor.REMOTE_ALL);
            transport.listen();
            process.run(List.of(this));
        }

        void connect(URI peer) {
            UnsafeBuffer none = new UnsafeBuffer(new byte[0]);
            connection = transport.connect(peer, none, 0, 0, 0, SECOND_NS);
        }

        RemoteDescriptor descriptor() {
            return region.describe(0, 4096, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
        }

        int send(int value) {
            region.buffer(0, 8).putInt(0, value);
            return transport.send(connection, region, 0, 4, value, 0);
        }

        boolean has(String what) {
            return seen.contains(what);
        }

        @Override
        public int doWork() {
            polls++;
            return transport.poll(this, 16);
        }

        @Override
        public long nextDeadlineNs() {
            return NO_DEADLINE;
        }

        @Override
        public String roleName() {
            return "peer";
        }

        @Override
        public void onConnectRequest(long c, URI peer, DirectBuffer data, int offset, int length) {
            connection = c;
            transport.accept(c, 0);
        }

        @Override
        public void onConnected(long c, long context) {
            seen.add("connected");
        }

        @Override
        public void onConnectFailed(long c, long context, int status, String reason) {
            seen.add("failed " + Status.name(status));
        }

        @Override
        public void onPeerLost(long c, long context, String reason) {
            seen.add("lost");
        }

        @Override
        public void onCompletion(long c, int operation, long context, int status, long value) {
            seen.add(context + " " + Status.name(status));
        }

        @Override
        public void onMessage(
                long c, long context, DirectBuffer buffer, int offset, int length, long token) {
            seen.add("message " + buffer.getInt(offset));
        }
    }

    private final Peer[] both = new Peer[2];

    private void pair() {
        both[0] = new Peer(world, "a");
        both[1] = new Peer(world, "b");
        both[0].connect(both[1].transport.uri());
        until(() -> both[0].has("connected") && both[1].has("connected"));
    }

    private void until(BooleanSupplier condition) {
        assertThat(world.runUntil(condition, 10 * SECOND_NS))
                .as("a %s, b %s", both[0].seen, both[1].seen)
                .isTrue();
    }

    @Test
    @Tag("nsim-45")
    void shouldHoldMessagesBackWhileAPartitionIsShort() {
        pair();
        world.cut(world.host("a"), world.host("b"));
        both[0].send(1);
        both[1].send(2);
        world.run(PATIENCE_NS / 2);
        assertThat(both[1].has("message 1")).isFalse();
        assertThat(both[0].has("message 2")).as("the other direction").isTrue();
        assertThat(both[1].has("2 OK")).as("its completion has to pass the cut").isFalse();
        world.heal(world.host("a"), world.host("b"));
        until(() -> both[1].has("message 1") && both[0].has("1 OK") && both[1].has("2 OK"));
        world.run(10 * PATIENCE_NS);
        assertThat(both[0].has("lost") || both[1].has("lost")).isFalse();
    }

    @Test
    void shouldCloseARegionThatIsInUseWithItsTransport() {
        pair();
        both[0].send(1);
        assertThatThrownBy(both[0].region::close).isInstanceOf(IllegalStateException.class);
        both[0].transport.close();
        assertThat(both[0].region.isClosed()).isTrue();
    }

    @Test
    @Tag("nsim-45")
    void shouldLoseThePeerAtBothEndsWhenAPartitionLasts() {
        pair();
        world.cut(world.host("a"), world.host("b"));
        both[0].send(1);
        world.run(4 * PATIENCE_NS);
        assertThat(both[0].seen).containsSubsequence("1 PEER_DEAD", "lost");
        assertThat(both[1].seen).contains("lost").doesNotContain("message 1");
        assertThat(both[0].send(2)).isEqualTo(Transport.NOT_CONNECTED);
        world.healAll();
        world.run(PATIENCE_NS);
        assertThat(both[1].seen).doesNotContain("message 1");
        assertThat(both[0].seen.stream().filter("lost"::equals)).hasSize(1);
    }

    @Test
    @Tag("nsim-45")
    void shouldLoseWhoWasKilledOrCrashedAndReachTheNext() {
        pair();
        world.freeze(world.host("b"), SECOND_NS);
        both[0].send(1);
        world.crash(world.host("b"));
        world.run(2 * PATIENCE_NS);
        assertThat(both[0].seen).contains("lost");
        both[0].seen.clear();
        both[0].connect(both[1].transport.uri());
        until(() -> both[0].has("failed TIMED_OUT"));
        assertThatThrownBy(() -> world.host("b").start("peer"))
                .isInstanceOf(IllegalStateException.class);
        world.restart(world.host("b"));
        both[1] = new Peer(world, "b");
        both[0].connect(both[1].transport.uri());
        until(() -> both[0].has("connected"));
        both[1].process.kill();
        both[0].connect(both[1].transport.uri());
        until(() -> both[0].has("failed REFUSED"));
    }

    @Test
    @Tag("nsim-45")
    void shouldNotStepWhoIsFrozenAndLoseHimWhenItLasts() {
        pair();
        world.freeze(world.host("b"), PATIENCE_NS / 2);
        int polls = both[1].polls;
        both[0].send(1);
        world.run(PATIENCE_NS / 4);
        assertThat(both[1].polls).isEqualTo(polls);
        until(() -> both[1].has("message 1"));
        world.freeze(world.host("b"), 4 * PATIENCE_NS);
        world.run(2 * PATIENCE_NS);
        assertThat(both[0].seen).contains("lost");
        assertThat(both[1].seen).doesNotContain("lost");
        world.run(4 * PATIENCE_NS);
        assertThat(both[1].seen).contains("lost");
    }

    @Test
    @Tag("nsim-45")
    void shouldTakeLongerOnASlowLinkAndWhenDelayed() {
        pair();
        world.slow(world.host("a"), world.host("b"), 1_000_000_000L);
        long start = world.nowNs();
        both[0].send(1);
        until(() -> both[1].has("message 1"));
        assertThat(world.nowNs() - start).isGreaterThan(60_000_000L);
        world.healAll();
        world.delays(1, 50_000_000);
        start = world.nowNs();
        both[0].send(2);
        until(() -> both[1].has("message 2"));
        assertThat(world.nowNs() - start).isBetween(50_000_000L, 60_000_000L);
    }

    @Test
    void shouldSlowAGetByTheLinkThatItsBytesComeOver() {
        pair();
        world.slow(world.host("b"), world.host("a"), 1_000_000);
        assertThat(getNs(1)).isBetween(4_160_000L, 4_300_000L);
        world.healAll();
        world.slow(world.host("a"), world.host("b"), 1_000_000);
        assertThat(getNs(2)).as("its request alone").isBetween(64_000L, 200_000L);
    }

    private long getNs(int number) {
        Peer a = both[0];
        long start = world.nowNs();
        a.transport.get(a.connection, a.region, 0, both[1].descriptor(), 0, 4096, number, 0);
        until(() -> a.has(number + " OK"));
        return world.nowNs() - start;
    }

    @Test
    void shouldLoseWhatWasConnectedWhileTheWayBackWasCut() {
        both[0] = new Peer(world, "a");
        both[1] = new Peer(world, "b");
        world.cut(world.host("b"), world.host("a"));
        both[0].connect(both[1].transport.uri());
        until(() -> both[1].connection != 0);
        assertThat(both[1].send(1)).isEqualTo(Transport.ACCEPTED);
        world.run(4 * PATIENCE_NS);
        assertThat(both[1].seen).containsExactly("connected", "1 PEER_DEAD", "lost");
        assertThat(both[0].seen).containsExactly("failed REFUSED");
    }

    @Test
    @Tag("nsim-45")
    void shouldRefusePostsAndRegistrationsWhenAsked() {
        pair();
        world.refuse(both[0].process, 1);
        assertThat(both[0].send(1)).isEqualTo(Transport.BACK_PRESSURED);
        world.refuse(both[0].process, 0);
        assertThat(both[0].send(1)).isEqualTo(Transport.ACCEPTED);
        world.failRegistrations(both[0].process, 1);
        assertThatThrownBy(() -> both[0].transport.allocate(64, 0))
                .isInstanceOf(TransportException.class)
                .hasMessageContaining("64");
        world.failRegistrations(both[0].process, 0);
        both[0].transport.allocate(64, 0).close();
    }

    @Test
    @Tag("nsim-48")
    void shouldSkewAndDriftClocksAndLeaveTheOrderOfTime() {
        Host host = world.host("a").clock(SECOND_NS, 100);
        SimulatedProcess process = host.start("clock");
        SimulatedProcess right = world.host("b").start("clock");
        long begin = process.nanoClock().nanoTime();
        long epoch = process.epochClock().time();
        assertThat(epoch - right.epochClock().time()).isEqualTo(1000);
        world.run(10 * SECOND_NS);
        long passed = process.nanoClock().nanoTime() - begin;
        assertThat(passed).isEqualTo(10 * SECOND_NS + 1_000_000);
        long before = process.nanoClock().nanoTime();
        host.clock(-SECOND_NS, -100);
        assertThat(process.nanoClock().nanoTime()).isEqualTo(before);
        assertThat(process.epochClock().time()).isLessThan(right.epochClock().time());
        for (int i = 0; i < 2000; i++) {
            before = process.nanoClock().nanoTime();
            world.run(999);
            assertThat(process.nanoClock().nanoTime()).isBetween(before + 998, before + 999);
        }
    }

    @Test
    @Tag("nsim-50")
    void shouldNameTimeAndBothEndsOfAnAccessThatIsNotAllowed() {
        pair();
        List<String> trace = new ArrayList<>();
        world.trace((timePs, what, about) -> trace.add(timePs + " ps: " + what + " " + about));
        RemoteDescriptor right = both[1].descriptor();
        RemoteDescriptor wrong =
                new RemoteDescriptor()
                        .set(
                                right.kind(),
                                right.rights(),
                                right.generation(),
                                right.base(),
                                right.length(),
                                right.keyLow() + 1_000,
                                right.keyHigh());
        expect(trace, "put BOUNDS", () -> put(right, 4090, 1));
        expect(trace, "put STALE_KEY", () -> put(wrong, 0, 2));
        both[1].region.close();
        expect(trace, "put STALE_KEY", () -> put(right, 0, 3));
        expect(
                trace,
                "get STALE_KEY",
                () ->
                        both[0].transport.get(
                                both[0].connection, both[0].region, 0, right, 0, 8, 4, 0));
    }

    private void put(RemoteDescriptor target, long offset, long context) {
        both[0].transport.put(both[0].connection, both[0].region, 0, target, offset, 8, context, 0);
    }

    /** One line: when, what, and from where to where. */
    private void expect(List<String> trace, String what, Runnable access) {
        long before = trace.isEmpty() ? 0 : timeOf(trace.get(trace.size() - 1));
        trace.clear();
        access.run();
        until(() -> trace.stream().anyMatch(line -> line.contains(what)));
        String line = trace.stream().filter(l -> l.contains(what)).findFirst().orElseThrow();
        assertThat(line)
                .endsWith(what + " " + both[0].transport.uri() + " > " + both[1].transport.uri());
        assertThat(timeOf(line)).isGreaterThan(before);
    }

    private static long timeOf(String line) {
        return Long.parseLong(line.split(" ")[0]);
    }

    @Test
    @Tag("nsim-45")
    void shouldForgetWhatWasNotForcedWhenAHostCrashes() throws Exception {
        SimulatedProcess process = world.host("a").start("writer");
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[1000]);
        try (DurableStore store = process.store("data")) {
            DurableStore.DurableFile safe = store.create("safe");
            safe.append(bytes, 0, 600);
            safe.force();
            world.run(10_000_000);
            assertThat(safe.forcedPosition()).isEqualTo(600);
            safe.append(bytes, 0, 400);
            store.create("unsafe").append(bytes, 0, 1000);
            assertThat(store.tryLock("lock", 0)).isNotNull();
            assertThat(store.isLocked("lock", 0, 1)).isTrue();
        }
        world.crash(world.host("a"));
        world.restart(world.host("a"));
        DurableStore after = world.host("a").start("reader").store("data");
        assertThat(after.list()).contains("safe").doesNotContain("unsafe");
        assertThat(after.read("safe").length()).isBetween(600L, 1000L);
        assertThat(after.isLocked("lock", 0, 1)).isFalse();
        world.disk("a", "data").capacity(10);
        DurableStore.DurableFile full = after.create("full");
        assertThat(full.append(bytes, 0, 11)).isEqualTo(-1);
        assertThat(full.error()).contains("full");
    }

    @Test
    @Tag("nsim-45")
    void shouldCarryStreamsAtTheirRateAndResetThemWhenAProcessDies() {
        world.streams(1_000_000, 1_000_000);
        SimulatedProcess reader = world.host("a").start("reader");
        SimulatedProcess writer = world.host("b").start("writer");
        Listener listener = reader.streams().listen("0.0.0.0", 0);
        ByteStream out = writer.streams().connect("a", listener.port());
        ByteStream nowhere = writer.streams().connect("a", 9);
        world.run(10_000_000);
        ByteStream in = listener.accept();
        assertThat(out.state()).isEqualTo(ByteStream.OPEN);
        assertThat(nowhere.state()).isEqualTo(ByteStream.FAILED);
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[100_000]);
        bytes.setMemory(0, 100_000, (byte) 7);
        assertThat(out.write(bytes, 0, 100_000)).isEqualTo(100_000);
        UnsafeBuffer got = new UnsafeBuffer(new byte[100_000]);
        world.run(90_000_000);
        assertThat(in.read(got, 0, 100_000)).isZero();
        world.run(20_000_000);
        assertThat(in.read(got, 0, 60_000)).isEqualTo(60_000);
        assertThat(in.read(got, 60_000, 60_000)).isEqualTo(40_000);
        assertThat(got.byteArray()).containsOnly(7);
        out.write(bytes, 0, 10);
        world.cut(world.host("b"), world.host("a"));
        world.run(200_000_000);
        assertThat(in.read(got, 0, 10)).isZero();
        world.heal(world.host("b"), world.host("a"));
        assertThat(in.read(got, 0, 10)).isEqualTo(10);
        writer.kill();
        world.run(10_000_000);
        assertThat(in.state()).isEqualTo(ByteStream.FAILED);
        assertThat(in.read(got, 0, 10)).isEqualTo(-1);
    }

    @Test
    @Tag("nsim-44")
    void shouldRepeatARunFromItsSeed() {
        assertThat(hashOf(3)).isEqualTo(hashOf(3)).isNotEqualTo(hashOf(4));
    }

    /** A promise that no schedule can keep for long: it is always broken, and always alike. */
    @Test
    @Tag("nsim-44")
    void shouldFailAlikeInEachOfAHundredReplays() {
        String first = failureOf(3);
        assertThat(first).contains("two messages, the last at ");
        for (int i = 0; i < 100; i++) {
            assertThat(failureOf(3)).isEqualTo(first);
        }
        assertThat(failureOf(4)).isNotEqualTo(first);
    }

    private String failureOf(long seed) {
        try (World random = new World(seed, TreeTopology.single(8), new NetworkContext())) {
            String[] broken = new String[1];
            try {
                senders(random, peers -> noTwoMessages(random, peers));
            } catch (IllegalStateException e) {
                broken[0] = e.getMessage();
            }
            return broken[0] + ", trace " + random.traceHash();
        }
    }

    private static void noTwoMessages(World world, List<Peer> peers) {
        List<String> seen = peers.get(0).seen;
        if (seen.stream().filter(line -> line.startsWith("message")).count() == 2) {
            throw new IllegalStateException(
                    "two messages, the last at " + world.nowNs() + " ns of " + seen);
        }
    }

    private long hashOf(long seed) {
        World random = world(seed);
        List<Peer> peers = senders(random, all -> {});
        assertThat(peers.get(0).seen).contains("message 1", "message 2", "message 3");
        return random.traceHash();
    }

    /** Three send to one, in an order that the seed decides. */
    private static List<Peer> senders(World random, Consumer<List<Peer>> invariant) {
        random.randomSchedule(10_000);
        random.delays(3, 1_000_000);
        List<Peer> peers = new ArrayList<>();
        random.invariants(() -> invariant.accept(peers));
        for (int i = 0; i < 4; i++) {
            peers.add(new Peer(random, "host" + i));
            if (i > 0) {
                peers.get(i).connect(peers.get(0).transport.uri());
            }
        }
        random.run(SECOND_NS);
        for (int i = 1; i < 4; i++) {
            peers.get(i).send(i);
        }
        random.run(SECOND_NS);
        return peers;
    }
}
