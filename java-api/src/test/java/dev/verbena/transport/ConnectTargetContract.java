package dev.verbena.transport;

import static dev.verbena.transport.Transport.ACCEPTED;
import static dev.verbena.transport.Transport.NOT_CONNECTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.ContractNode.Life;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Whom a connect reaches: nobody, one that comes later, another incarnation, one that rejects. */
abstract class ConnectTargetContract extends MessageContract {
    Life failure(ContractNode a, long handle) {
        pump("the connect fails", () -> a.count("failed", handle) == 1);
        settle();
        assertThat(a.lives).filteredOn(l -> l.connection() == handle).hasSize(1);
        RegisteredRegion region = a.allocate(8);
        assertThat(a.transport.send(handle, region, 0, 8, 1, 0)).isEqualTo(NOT_CONNECTED);
        Life life = a.life("failed", handle);
        assertThat(life.reason()).isNotBlank();
        return life;
    }

    @Test
    void shouldFailOnceWhenThePeerRejects() {
        ContractNode a = node();
        ContractNode b = node();
        b.transport.listen();
        b.acceptContext = 0;
        long handle = a.connect(b.transport.uri(), 5);
        pump("request", () -> !b.requests.isEmpty());
        long offered = b.requests.peek().connection();
        assertThat(b.transport.reject(offered)).isEqualTo(ACCEPTED);
        Life life = failure(a, handle);
        assertThat(life.status()).isEqualTo(Status.REFUSED);
        assertThat(life.context()).isEqualTo(5);
        assertThat(b.transport.accept(offered, 1)).isEqualTo(NOT_CONNECTED);
        assertThat(b.transport.reject(offered)).isEqualTo(NOT_CONNECTED);
        assertThat(b.lives).isEmpty();
    }

    @Test
    void shouldFailWithAReasonWhenNobodyListens() {
        ContractNode a = node();
        ContractNode b = node();
        URI gone = b.transport.uri();
        for (URI uri : new URI[] {gone, ofAny(gone)}) {
            assertThat(failure(a, a.connect(uri, 1)).status()).isEqualTo(Status.NOT_LISTENING);
        }
        b.transport.close();
        assertThat(failure(a, a.connect(gone, 2)).status()).isIn(Status.REFUSED, Status.PEER_DEAD);
        assertThat(failure(a, a.connect(other(gone, "never-there"), 3)).status())
                .isIn(Status.REFUSED, Status.PEER_DEAD);
    }

    /** Who tries again needs no more: the same attempt succeeds once somebody listens there. */
    @Test
    void shouldConnectToWhoCameLater() {
        ContractNode a = node();
        ContractNode first = node(context().name("phoenix"));
        URI uri = ofAny(first.transport.uri());
        first.transport.close();
        assertThat(failure(a, a.connect(uri, 1)).status()).isEqualTo(Status.NOT_LISTENING);
        ContractNode second = node(context().name("phoenix"));
        second.transport.listen();
        long handle = a.connect(ofAny(second.transport.uri()), 2);
        pump("connected", () -> a.count("connected", handle) == 1);
    }

    /** Two threads, as two programs would be; the late one polls, but does not listen at first. */
    @Test
    void shouldWaitInBlockingCallsForWhoListensLater() throws Exception {
        CountDownLatch attempts = new CountDownLatch(2);
        try (BlockingCalls late = new BlockingCalls(open(context())).timeoutNs(Long.MAX_VALUE)) {
            URI uri = late.transport().uri();
            CompletableFuture<Void> client = CompletableFuture.runAsync(() -> greet(uri, attempts));
            while (attempts.getCount() > 0) {
                late.transport().poll(TransportHandler.IGNORE, 8);
                Thread.yield();
            }
            long connection = late.accept();
            assertThat(late.receive(connection).getLong(0)).isEqualTo(77);
            assertThat(late.receive(connection)).as("the end").isNull();
            late.disconnect(connection);
            client.get();
        }
    }

    private void greet(URI uri, CountDownLatch attempts) {
        Consumer<String> sink =
                line -> {
                    if (line.contains("NOT_LISTENING")) {
                        attempts.countDown();
                    }
                };
        try (BlockingCalls calls = new BlockingCalls(new TracingTransport(open(context()), sink));
                RegisteredRegion outbox =
                        calls.timeoutNs(Long.MAX_VALUE).transport().allocate(8, 0)) {
            long connection = calls.connect(uri);
            outbox.buffer(0, 8).putLong(0, 77);
            calls.send(connection, outbox, 0, 8);
            calls.disconnect(connection);
        }
    }

    /** The address without the incarnation. */
    private static URI ofAny(URI uri) {
        return URI.create(uri.toString().replaceFirst("[?&]incarnation=[0-9a-f]+", ""));
    }

    private static URI other(URI uri, String name) {
        String text = uri.toString();
        String old = uri.getPath().substring(uri.getPath().lastIndexOf('/') + 1);
        if (old.isEmpty()) {
            return URI.create(text.replace("/?", "/" + name + "?"));
        }
        return URI.create(text.replace("/" + old, "/" + name));
    }

    @Test
    void shouldRefuseWhenThePeerIsAnotherIncarnation() {
        ContractNode a = node();
        ContractNode first = node(context().name("phoenix"));
        URI old = first.transport.uri();
        first.transport.close();
        ContractNode second = node(context().name("phoenix"));
        second.transport.listen();
        assertThat(second.transport.uri()).isNotEqualTo(old);
        assertThat(failure(a, a.connect(old, 1)).status()).isEqualTo(Status.REFUSED);
        assertThat(second.requests).isEmpty();
        Pair p = new Pair(a, second);
        assertThat(p.ab).isPositive();
    }

    @Test
    void shouldAnswerStaleKeyWhenTheDescriptorIsOfAnEarlierIncarnation() {
        ContractNode a = node();
        ContractNode first = node(context().name("phoenix"));
        RegisteredRegion remote = first.allocate(64);
        RemoteDescriptor d = describe(remote);
        remote.close();
        first.transport.close();
        ContractNode second = node(context().name("phoenix"));
        RegisteredRegion next = second.allocate(64);
        Pair p = new Pair(a, second);
        RegisteredRegion local = a.allocate(64);
        fill(local, 0, random(64, 1));
        post("put", () -> a.transport.put(p.ab, local, 0, d, 0, 64, 1, 0));
        assertThat(completion(a).status()).isEqualTo(Status.STALE_KEY);
        assertThat(bytes(next, 0, 64)).containsOnly(0);
    }

    @Test
    void shouldRefuseAUriOfAnotherKind() {
        ContractNode a = node();
        assertThatThrownBy(() -> a.connect(URI.create("nonsense://x/y?incarnation=1"), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("nonsense");
    }
}
