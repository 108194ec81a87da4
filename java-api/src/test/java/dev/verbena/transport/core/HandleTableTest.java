package dev.verbena.transport.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HandleTableTest {
    private static final class Connection extends TableConnection {
        Connection(int index) {
            super(index);
        }
    }

    private final HandleTable<Connection> table =
            new HandleTable<>(new Connection[] {new Connection(0), new Connection(1)});

    private Connection take() {
        Connection connection = table.take();
        connection.state = TableConnection.CONNECTED;
        return connection;
    }

    @Test
    void shouldFindAConnectionByItsHandleOnly() {
        Connection first = take();
        Connection second = take();
        assertThat(first.handle).isPositive().isNotEqualTo(second.handle);
        assertThat(table.find(first.handle)).isSameAs(first);
        assertThat(table.find(second.handle)).isSameAs(second);
        assertThat(table.find(0)).isNull();
        assertThat(table.find(first.handle + 2)).isNull();
        assertThat(table.find(first.handle + (1L << 32))).isNull();
        assertThat(table.take()).isNull();
    }

    @Test
    void shouldNotFindAConnectionThatHasEndedByItsHandleInAUsedSlot() {
        take();
        Connection ended = take();
        int before = ended.handle;
        ended.reason = "of the one before";
        table.free(ended);
        assertThat(table.find(before)).isNull();
        Connection next = take();
        assertThat(next).isSameAs(ended);
        assertThat(next.handle).isNotEqualTo(before);
        assertThat(next.reason).isNull();
        assertThat(table.find(before)).isNull();
        assertThat(table.find(next.handle)).isSameAs(next);
    }

    @Test
    void shouldHaveHandlesAboveZeroWhenGenerationsBeginAnew() {
        take();
        for (int i = 0; i < 1 << 18; i++) {
            Connection connection = take();
            assertThat(connection.handle > 0).isTrue();
            table.free(connection);
        }
    }
}
