package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which stream a receiver forgets when it knows too many. */
@Timeout(60)
class StreamTableTest {
    private static final UUID JOB = new UUID(8, 9);

    private final WireEnvironment wire = new WireEnvironment();
    private final ReceiverShared shared =
            new ReceiverShared(
                    new DartReceiver.Context().environment(wire).handler(m -> {}).conclude(),
                    null,
                    null);
    private final StreamTable table = new StreamTable(shared, new AbandonedMessages(shared));

    /** A server that connects, and is gone. */
    private InboundStream come(int serverId) {
        return table.attach(table.find(JOB, serverId), null, JOB, serverId, 0);
    }

    /** As {@link #come}, and something of it was taken. */
    private InboundStream use(int serverId) {
        InboundStream stream = come(serverId);
        stream.taken(null, 0, 0, true);
        stream.settle();
        return stream;
    }

    private boolean isKnown(int serverId) {
        return table.find(JOB, serverId) != null;
    }

    @Test
    void shouldForgetFirstWhatCostsLeast() {
        for (int i = 0; i < StreamTable.STREAMS_MAX; i++) {
            use(i);
        }
        table.find(JOB, 0).open.put(7, new InboundMessage());
        table.find(JOB, 9).isFinished = true;
        use(2000);
        assertThat(isKnown(9)).isFalse();
        assertThat(wire.errors).isEmpty();

        come(2001);
        assertThat(isKnown(1)).isFalse();
        assertThat(wire.errors).hasSize(1);
        assertThat(wire.errors.get(0)).hasMessageContaining("server 1 of job " + JOB);

        // Nothing ever came of the last one: a stranger forgets no other.
        come(2002);
        assertThat(isKnown(2001)).isFalse();
        assertThat(wire.errors).hasSize(1);
        assertThat(isKnown(0)).as("half received").isTrue();
        assertThat(shared.streams).hasSize(StreamTable.STREAMS_MAX);
    }

    @Test
    void shouldRefuseRatherThanLoseWhatIsHalfReceived() {
        for (int i = 0; i < StreamTable.STREAMS_MAX; i++) {
            use(i).open.put(7, new InboundMessage());
        }
        assertThatThrownBy(() -> come(3000))
                .isInstanceOf(DartException.class)
                .hasMessageContaining("takes no other");
        assertThat(shared.streams).hasSize(StreamTable.STREAMS_MAX);
        table.find(JOB, 5).open.clear();
        come(3000);
        assertThat(isKnown(5)).isFalse();
        assertThat(isKnown(3000)).isTrue();
    }
}
