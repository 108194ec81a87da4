package dev.verbena.transport;

import static dev.verbena.transport.Transport.ACCEPTED;
import static dev.verbena.transport.Transport.NOT_CONNECTED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The part of the contract that needs processes which die, stop and come back. As {@link
 * TransportContract}, a provider is tested by a subclass that names its scheme; the peer is found
 * by scheme in a child JVM.
 */
public abstract class TransportProcessContract extends ContractFixture {
    private static final long SHORT_NS = 500_000_000L;
    private static final long LONG_NS = 60_000_000_000L;

    @TempDir Path directory;
    private final List<Child> children = new ArrayList<>();

    /** A process, what it says, and where it is. */
    private static final class Child {
        private final Process process;
        private final Path output;

        Child(Process process, Path output) {
            this.process = process;
            this.output = output;
        }

        List<String> lines() {
            try {
                return Files.readAllLines(output);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        boolean says(String start) {
            return lines().stream().anyMatch(line -> line.startsWith(start));
        }

        boolean saysLost(String why) {
            return lines().stream().anyMatch(l -> l.startsWith("lost ") && l.contains(why));
        }

        URI uri() {
            String line = lines().stream().filter(l -> l.startsWith("uri ")).findFirst().get();
            return URI.create(line.substring(4));
        }

        void signal(String name) throws Exception {
            String pid = Long.toString(process.pid());
            assertThat(new ProcessBuilder("kill", "-" + name, pid).start().waitFor()).isZero();
        }

        void kill() throws Exception {
            process.destroyForcibly();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** JVM options of the child. */
    protected List<String> childOptions() {
        return List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    }

    /** What both ends say of a peer that was silent for too long; empty: no word is promised. */
    protected String remedyOfSilence() {
        return "";
    }

    private Child child(String name, long peerTimeoutNs, String... more) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(childOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(TransportChild.class.getName(), scheme(), job(), name));
        command.add(Long.toString(peerTimeoutNs));
        command.addAll(List.of(more));
        Path output = directory.resolve("child-" + children.size());
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        Child child = new Child(process, output);
        children.add(child);
        pump(
                () -> "the child's address; it says " + child.lines(),
                () -> child.says("uri ") || !process.isAlive());
        assertThat(process.isAlive()).as("child says %s", child.lines()).isTrue();
        return child;
    }

    @AfterEach
    final void endChildren() throws Exception {
        for (Child child : children) {
            child.kill();
        }
    }

    /** A connection to a child, with the descriptor of its region. */
    private final class Link {
        private final ContractNode node;
        private final long connection;
        private final RemoteDescriptor remote = new RemoteDescriptor();

        Link(ContractNode node, URI peer) {
            this.node = node;
            this.connection = node.connect(peer, 11);
            assertThat(connection).isPositive();
            pump(
                    () -> "connected with a descriptor, " + node.lives,
                    () -> node.count("connected", connection) == 1 && !node.messages.isEmpty());
            remote.decode(new UnsafeBuffer(node.messages.poll().bytes()), 0);
        }

        void expectLoss() {
            pump("the loss", () -> node.hasEnded(connection));
            settle();
            assertThat(node.count("lost", connection)).isEqualTo(1);
            assertThat(node.count("disconnected", connection)).isZero();
            assertThat(node.life("lost", connection).reason()).isNotBlank();
            RegisteredRegion region = node.allocate(8);
            assertThat(node.transport.send(connection, region, 0, 8, 1, 0))
                    .isEqualTo(NOT_CONNECTED);
        }
    }

    private ContractNode node(long peerTimeoutNs) {
        return node(context().peerTimeoutNs(peerTimeoutNs));
    }

    @Test
    public void shouldMoveBytesBetweenProcesses() throws Exception {
        ContractNode node = node(LONG_NS);
        Link link = new Link(node, child("a", LONG_NS).uri());
        int length = TransportChild.REGION_LENGTH;
        RegisteredRegion local = node.allocate(length);
        RegisteredRegion back = node.allocate(length);
        byte[] data = random(length, 1);
        fill(local, 0, data);
        Transport t = node.transport;
        post("put", () -> t.put(link.connection, local, 0, link.remote, 0, length, 1, 0));
        assertThat(completion(node).status()).isEqualTo(Status.OK);
        post("get", () -> t.get(link.connection, back, 0, link.remote, 0, length, 2, 0));
        assertThat(completion(node).status()).isEqualTo(Status.OK);
        assertThat(bytes(back, 0, length)).isEqualTo(data);
        for (int i = 0; i < 500; i++) {
            int at = i;
            post("send", () -> t.send(link.connection, local, at, 100 + at, at, 0));
        }
        pump("all echoes", () -> node.messages.size() == 500);
        int i = 0;
        for (ContractNode.Message message : node.messages) {
            assertThat(message.bytes())
                    .isEqualTo(java.util.Arrays.copyOfRange(data, i, 2 * i + 100));
            i++;
        }
    }

    @Test
    public void shouldReportALossOnceAfterEveryCompletionWhenThePeerIsKilled() throws Exception {
        ContractNode node = node(SHORT_NS);
        Child child = child("a", SHORT_NS);
        Link link = new Link(node, child.uri());
        RegisteredRegion local = node.allocate(1 << 20);
        List<Object> order = new ArrayList<>();
        node.hook = order::add;
        int accepted = 0;
        for (int i = 0; i < 200; i++) {
            if (i == 100) {
                child.kill();
            }
            int answer =
                    i % 2 == 0
                            ? node.transport.send(link.connection, local, 0, 64, i, 0)
                            : node.transport.put(
                                    link.connection, local, 0, link.remote, 0, 1 << 20, i, 0);
            accepted += answer == ACCEPTED ? 1 : 0;
        }
        assertThat(accepted).isPositive();
        link.expectLoss();
        assertThat(node.completions).hasSize(accepted);
        assertThat(node.completions)
                .allMatch(
                        c ->
                                c.status() == Status.OK
                                        || c.status() == Status.PEER_DEAD
                                        || c.status() == Status.FLUSHED);
        assertThat(order.get(order.size() - 1)).isInstanceOf(ContractNode.Life.class);
    }

    @Test
    public void shouldReportTheLossOfAnIdlePeer() throws Exception {
        ContractNode node = node(SHORT_NS);
        Child child = child("a", SHORT_NS);
        Link first = new Link(node, child.uri());
        Link second = new Link(node, child.uri());
        child.kill();
        first.expectLoss();
        second.expectLoss();
        long again = node.connect(child.uri(), 1);
        pump("a new connect fails", () -> node.count("failed", again) == 1);
    }

    @Test
    public void shouldReportTheLossOfAFrozenPeerAndMeetItAgain() throws Exception {
        ContractNode node = node(SHORT_NS);
        Child child = child("a", SHORT_NS);
        Link link = new Link(node, child.uri());
        child.signal("STOP");
        link.expectLoss();
        String remedy = remedyOfSilence();
        assertThat(node.life("lost", link.connection).reason()).contains(remedy);
        child.signal("CONT");
        pump(
                () -> "the peer learns that it was given up; it says " + child.lines(),
                () -> child.saysLost(remedy) || remedy.isEmpty() && child.says("disconnected"));
        node.messages.clear();
        Link again = new Link(node, child.uri());
        assertThat(again.connection).isNotEqualTo(link.connection);
    }

    /** Of memory that was closed meanwhile nothing may reach it, nor what has its place now. */
    @Test
    public void shouldSendNothingElseWhenAFrozenPeerGoesOn() throws Exception {
        ContractNode node = node(SHORT_NS);
        Child child = child("a", SHORT_NS);
        int length = TransportChild.REGION_LENGTH;
        RegisteredRegion local = node.allocate(length);
        Transport t = node.transport;
        List<Link> links = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Link link = new Link(node, child.uri());
            links.add(link);
            post("put", () -> t.put(link.connection, local, 0, link.remote, 0, length, 1, 0));
            assertThat(completion(node).status()).isEqualTo(Status.OK);
        }
        child.signal("STOP");
        for (int i = 0; i < 64; i++) {
            Link link = links.get(i % 4);
            t.put(link.connection, local, 0, link.remote, 0, length, 1, 0);
            node.poll();
        }
        links.forEach(Link::expectLoss);
        local.close();
        whole(node.allocate(length)).setMemory(0, length, (byte) 2);
        child.signal("CONT");
        pump(
                "the peer learns that it was given up",
                () -> child.says("lost") || child.says("disconnected"));
        node.messages.clear();
        node.completions.clear();
        Link again = new Link(node, child.uri());
        RegisteredRegion back = node.allocate(length);
        post("get", () -> t.get(again.connection, back, 0, again.remote, 0, length, 2, 0));
        assertThat(completion(node).status()).isEqualTo(Status.OK);
        byte[] there = bytes(back, 0, length);
        assertThat(IntStream.range(0, length).filter(i -> there[i] == 2).count()).isZero();
    }

    @Test
    public void shouldLoseNothingWhenThePeerStopsForLessThanItsTimeout() throws Exception {
        ContractNode node = node(LONG_NS);
        Child child = child("a", LONG_NS);
        Link link = new Link(node, child.uri());
        RegisteredRegion local = node.allocate(80_000);
        child.signal("STOP");
        int accepted = 0;
        while (node.transport.send(link.connection, local, 8L * accepted, 8, accepted, 0)
                == ACCEPTED) {
            whole(local).putLong(8 * accepted, accepted);
            accepted++;
            node.poll();
        }
        assertThat(accepted).isPositive();
        settle();
        assertThat(node.hasEnded(link.connection)).isFalse();
        child.signal("CONT");
        int expected = accepted;
        pump("all echoes", () -> node.messages.size() == expected);
        assertThat(node.completions).allMatch(c -> c.status() == Status.OK);
    }

    @Test
    public void shouldTakeARestartedPeerForAnother() throws Exception {
        ContractNode node = node(SHORT_NS);
        Child first = child("phoenix", SHORT_NS);
        Link old = new Link(node, first.uri());
        URI oldUri = first.uri();
        first.kill();
        Child second = child("phoenix", SHORT_NS);
        assertThat(second.uri()).isNotEqualTo(oldUri);
        old.expectLoss();
        long refused = node.connect(oldUri, 1);
        pump("refused", () -> node.count("failed", refused) == 1);
        assertThat(node.life("failed", refused).status()).isIn(Status.REFUSED, Status.PEER_DEAD);
        Link fresh = new Link(node, second.uri());
        RegisteredRegion local = node.allocate(64);
        post("put", () -> node.transport.put(fresh.connection, local, 0, old.remote, 0, 64, 1, 0));
        assertThat(completion(node).status()).isEqualTo(Status.STALE_KEY);
    }

    @Test
    public void shouldTellThePeerWhenAProcessCloses() throws Exception {
        ContractNode node = node(LONG_NS);
        Child child = child("a", LONG_NS);
        Link link = new Link(node, child.uri());
        child.process.getOutputStream().close();
        pump("the end", () -> node.hasEnded(link.connection));
        settle();
        assertThat(
                        node.count("lost", link.connection)
                                + node.count("disconnected", link.connection))
                .isEqualTo(1);
        assertThat(child.process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(child.lines()).contains("closed");
        assertThat(child.process.exitValue()).isZero();
    }

    @Test
    public void shouldCloseItsRegionWhateverItsWriterWasDoingWhenKilled() throws Exception {
        ContractNode node = node(SHORT_NS);
        node.transport.listen();
        Random random = new Random(7);
        RegisteredRegion letter = node.allocate(RemoteDescriptor.LENGTH);
        for (int round = 0; round < times(5); round++) {
            RegisteredRegion region = node.allocate(TransportChild.REGION_LENGTH);
            RegisteredRegion guard = node.allocate(4096);
            describe(region).encode(whole(letter), 0);
            node.requests.clear();
            whole(region).putByte(0, (byte) 1);
            Child hammer = child("h" + round, SHORT_NS, node.transport.uri().toString());
            pump(
                    "the hammer is connected",
                    () ->
                            !node.requests.isEmpty()
                                    && node.count("connected", node.requests.peek().connection())
                                            == 1);
            long connection = node.requests.peek().connection();
            post("letter", () -> node.transport.send(connection, letter, 0, 48, 1, 0));
            // Its region is zeroed: the first byte changes when the first put has landed.
            pump("the first put", () -> whole(region).getByteVolatile(0) == 0);
            for (long spins = random.nextInt(3_000_000); spins > 0; spins--) {
                Thread.onSpinWait();
            }
            hammer.kill();
            region.close();
            pump("the loss", () -> node.count("lost", connection) == 1);
            assertThat(bytes(guard, 0, 4096)).containsOnly(0);
        }
    }
}
