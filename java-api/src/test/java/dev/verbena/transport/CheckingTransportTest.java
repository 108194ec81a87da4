package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.shm.ShmTesting;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each way of breaking the contract must be found. */
@Timeout(60)
class CheckingTransportTest {
    private final List<Throwable> found = new CopyOnWriteArrayList<>();
    private Broken broken;
    private ContractNode a;
    private ContractNode b;
    private long connection;
    private RegisteredRegion local;

    /** Adds events of its own to those of the transport, or swallows some. */
    private static final class Broken extends ForwardingTransport {
        private java.util.function.Consumer<TransportHandler> extra = handler -> {};
        private boolean swallowsCompletions;
        private int pollAnswer = Integer.MIN_VALUE;
        private int answer = Transport.ACCEPTED;

        Broken(Transport delegate) {
            super(delegate);
        }

        @Override
        int refusal(long connection) {
            return answer;
        }

        @Override
        public String explain() {
            return "broken";
        }

        @Override
        public int poll(TransportHandler handler, int limit) {
            int count =
                    delegate.poll(swallowsCompletions ? TransportHandler.IGNORE : handler, limit);
            extra.accept(handler);
            return pollAnswer != Integer.MIN_VALUE ? pollAnswer : count;
        }
    }

    @BeforeEach
    void connect() {
        TransportContext context = ShmTesting.context("checked").outstandingMax(4);
        broken = new Broken(Transports.open("shm", context));
        a = new ContractNode(new CheckingTransport(broken, found::add));
        b = new ContractNode(ShmTesting.open("peer"));
        connection = a.connect(b, 1);
        local = a.allocate(64);
        assertThat(a.count("connected", connection)).isEqualTo(1);
        assertThat(found).isEmpty();
    }

    @AfterEach
    void close() {
        broken.extra = handler -> {};
        broken.swallowsCompletions = false;
        broken.pollAnswer = Integer.MIN_VALUE;
        a.close();
        b.close();
    }

    private void expect(String text) {
        assertThat(found)
                .anySatisfy(
                        e ->
                                assertThat(e)
                                        .isInstanceOf(ContractViolationException.class)
                                        .hasMessageContaining(text));
        assertThat(found).allMatch(e -> e.getMessage().startsWith(a.transport.uri().toString()));
    }

    private void send() {
        assertThat(a.transport.send(connection, local, 0, 8, 5, 0)).isEqualTo(Transport.ACCEPTED);
    }

    @Test
    void shouldFindASecondCompletion() {
        send();
        a.poll();
        assertThat(found).isEmpty();
        broken.extra = h -> h.onCompletion(connection, Operation.SEND, 5, Status.OK, 8);
        a.poll();
        expect("that was not accepted or has completed");
    }

    @Test
    void shouldFindACompletionWithAnotherContextOrKindOrStatus() {
        send();
        broken.swallowsCompletions = true;
        broken.extra =
                h -> {
                    h.onCompletion(connection, Operation.SEND, 6, Status.OK, 8);
                    h.onCompletion(connection, Operation.PUT, 5, Status.OK, 8);
                    h.onCompletion(connection, Operation.SEND, 5, 77, 8);
                };
        a.poll();
        expect("completion of send with context 6");
        expect("completion of put with context 5");
        expect("status 77");
    }

    @Test
    void shouldFindAnEndBeforeTheLastCompletion() {
        send();
        broken.swallowsCompletions = true;
        broken.extra = h -> h.onPeerLost(connection, 1, "gone");
        a.poll();
        expect("peer lost while 1 operations of " + connection + " are pending");
        found.clear();
        a.poll();
        expect("peer lost for connection " + connection + ", which is not open");
    }

    @Test
    void shouldFindMoreOutstandingThanPromised() {
        broken.swallowsCompletions = true;
        for (int i = 0; i < 4; i++) {
            send();
            a.poll();
        }
        assertThat(found).noneMatch(e -> e.getMessage().contains("outstanding"));
        send();
        expect("5 operations outstanding");
    }

    @Test
    void shouldFindMessagesAndConnectionsOutOfOrder() {
        UnsafeBuffer payload = new UnsafeBuffer(new byte[1 << 21]);
        broken.extra =
                h -> {
                    h.onMessage(connection + 1000, 1, payload, 0, 8, 1);
                    h.onNotify(connection + 1000, 1, 1, 1, 0, 8);
                    h.onConnected(connection, 1);
                    h.onConnectFailed(connection, 1, Status.REFUSED, "x");
                    h.onMessage(connection, 1, payload, 0, 1 << 21, 1);
                };
        a.poll();
        expect("message on connection " + (connection + 1000));
        expect("notify on connection " + (connection + 1000));
        expect("connected " + connection + ", which nobody asked for");
        expect("connect failed for " + connection);
        expect("message of 2097152 bytes");
    }

    @Test
    void shouldFindAWrongCountOfAPollAndLifeAfterClose() {
        broken.pollAnswer = 3;
        a.poll();
        expect("poll of 64 answered 3 for 0");
        broken.pollAnswer = Integer.MIN_VALUE;
        a.close();
        found.clear();
        broken.pollAnswer = 0;
        a.poll();
        expect("poll answered 0 after close");
        broken.answer = Transport.NOT_CONNECTED;
        a.transport.put(connection, local, 0, new RemoteDescriptor(), 0, 8, 1, 0);
        expect("put answered NOT_CONNECTED after close");
    }

    @Test
    void shouldFindAnAnswerThatIsNone() {
        broken.answer = -17;
        a.transport.put(connection, local, 0, new RemoteDescriptor(), 0, 8, 1, 0);
        expect("put answered -17");
    }

    @Test
    void shouldFindAnEventOnAnotherThread() {
        send();
        broken.extra =
                h ->
                        LifecycleContract.onOtherThread(
                                () -> h.onCompletion(connection, Operation.SEND, 5, 0, 8));
        broken.swallowsCompletions = true;
        a.poll();
        expect("completion on thread 'stranger'");
    }
}
