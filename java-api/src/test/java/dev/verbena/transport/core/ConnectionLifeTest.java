package dev.verbena.transport.core;

import static dev.verbena.transport.Transport.ACCEPTED;
import static dev.verbena.transport.Transport.NOT_CONNECTED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.transport.Status;
import dev.verbena.transport.TransportHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ConnectionLifeTest {
    private static final class Connection extends TableConnection {
        Connection(int index) {
            super(index);
        }
    }

    /** A provider whose records arrive when the test says so. */
    private static final class Life extends ConnectionLife<Connection> {
        final List<Integer> arrived = new ArrayList<>();
        final List<Consumer<TransportHandler>> events = new ArrayList<>();
        Runnable onTakeRecords = () -> {};
        boolean isReachable = true;
        boolean isDelivered;
        int freed;

        Life(HandleTable<Connection> table) {
            super(table);
        }

        @Override
        protected void send(Connection c) {
            if (isReachable) {
                arrived.add(c.pendingRecord);
                sent(c, c.pendingRecord);
            }
        }

        @Override
        protected void free(Connection c) {
            unpend(c);
            c.reset();
            freed++;
        }

        @Override
        protected void tell(Consumer<TransportHandler> event) {
            events.add(event);
        }

        @Override
        protected void takeRecords() {
            onTakeRecords.run();
        }

        @Override
        protected boolean isDelivered(Connection c) {
            return isDelivered;
        }
    }

    private static final class Told implements TransportHandler {
        final List<String> events = new ArrayList<>();

        @Override
        public void onConnected(long connection, long context) {
            events.add("connected " + context);
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            events.add("failed " + Status.name(status));
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            events.add("lost " + reason);
        }

        @Override
        public void onDisconnected(long connection, long context) {
            events.add("disconnected " + context);
        }
    }

    private final HandleTable<Connection> table =
            new HandleTable<>(new Connection[] {new Connection(0)});
    private final Life life = new Life(table);

    private Connection in(int state) {
        Connection connection = table.take();
        connection.state = state;
        return connection;
    }

    private List<String> told() {
        Told told = new Told();
        life.events.forEach(event -> event.accept(told));
        life.events.clear();
        return told.events;
    }

    @Test
    void shouldBeConnectedWhenThePeerKnows() {
        Connection c = in(TableConnection.OFFERED);
        life.isReachable = false;
        assertThat(life.accept(c.handle, 7)).isEqualTo(ACCEPTED);
        assertThat(told()).isEmpty();
        assertThat(life.pendingCount()).isEqualTo(1);
        life.isReachable = true;
        life.send(c);
        assertThat(life.arrived).containsExactly(ConnectionLife.ACCEPT);
        assertThat(told()).containsExactly("connected 7");
        assertThat(life.pendingCount()).isZero();
        assertThat(life.accept(c.handle, 7)).isEqualTo(NOT_CONNECTED);
    }

    @Test
    void shouldRejectAPeerThatWasNeverToldThatItIsAccepted() {
        Connection c = in(TableConnection.OFFERED);
        life.isReachable = false;
        life.accept(c.handle, 7);
        life.isReachable = true;
        assertThat(life.disconnect(c.handle)).isEqualTo(ACCEPTED);
        assertThat(life.arrived).containsExactly(ConnectionLife.REJECT);
        assertThat(life.freed).isEqualTo(1);
        assertThat(told()).isEmpty();
    }

    @Test
    void shouldEndWithoutAnEventWhenTheUserEndsIt() {
        Connection c = in(TableConnection.CONNECTED);
        int handle = c.handle;
        assertThat(life.disconnect(handle)).isEqualTo(ACCEPTED);
        assertThat(life.arrived).containsExactly(ConnectionLife.DISCONNECT);
        assertThat(life.disconnect(handle)).isEqualTo(NOT_CONNECTED);
        assertThat(told()).isEmpty();
    }

    @Test
    void shouldTellOfAnEndWhenWhatCameBeforeIsDelivered() {
        Connection c = in(TableConnection.CONNECTED);
        life.lose(c, "its process is gone");
        life.settleEnds();
        assertThat(told()).isEmpty();
        life.isDelivered = true;
        life.settleEnds();
        assertThat(told()).containsExactly("lost null: its process is gone");
        assertThat(life.freed).isEqualTo(1);
    }

    @Test
    void shouldBelieveADisconnectThatWasSentBeforeThePeerWasLost() {
        Connection c = in(TableConnection.CONNECTED);
        c.context = 9;
        life.isDelivered = true;
        life.onTakeRecords = () -> life.end(c, false, null);
        life.lose(c, "its process is gone");
        life.settleEnds();
        assertThat(told()).containsExactly("disconnected 9");
    }

    @Test
    void shouldFailAnAttemptWhosePeerDied() {
        Connection c = in(TableConnection.CONNECTING);
        life.isReachable = false;
        life.pend(c, ConnectionLife.CONNECT);
        life.gone(c);
        assertThat(life.pendingCount()).isZero();
        assertThat(told()).containsExactly("failed PEER_DEAD");
        assertThat(life.freed).isEqualTo(1);
    }
}
