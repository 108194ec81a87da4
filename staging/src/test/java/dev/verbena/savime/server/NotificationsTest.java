package dev.verbena.savime.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.savime.store.MetaFile;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.MessageQueue;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How datasets ended, for a client that does not read at the time. */
class NotificationsTest {
    private final Session session = new Session(1, 2);
    private final Connection connection = new Connection(false, 0);
    private final Ends ends = new Ends(null, null, null, null, null, null);
    private final StgFlyweight message = new StgFlyweight();

    NotificationsTest() {
        session.add(connection);
        connection.greeted(session, 4096, 1, 0);
    }

    private Dataset forwarded(long id) {
        MetaFile meta =
                new MetaFile(
                        id,
                        "d" + id,
                        "char",
                        1,
                        1,
                        2,
                        DatasetState.FORWARDED,
                        false,
                        0,
                        0,
                        1,
                        null);
        return new Dataset(session, connection, null, meta, 0);
    }

    private void reply() {
        connection.reply(StgType.HEARTBEAT, 1, StgStatus.OK);
    }

    /** Numbers of the datasets of which the messages tell that wait now. */
    private List<Long> taken() {
        List<Long> ids = new ArrayList<>();
        MessageQueue out = connection.out;
        while (!out.isEmpty()) {
            message.wrap(out.buffer(), out.at());
            if (message.type() == StgType.DATASET_EVENT) {
                ids.add(message.datasetId());
                assertThat(message.state()).isEqualTo(DatasetState.FORWARDED.code());
            }
            out.remove();
        }
        return ids;
    }

    @Test
    void shouldKeepWhatDoesNotFitUntilTheClientReads() {
        for (int i = 0; i < Connection.REPLIES_MAX; i++) {
            reply();
        }
        int count = 3000;
        for (int i = 1; i <= count; i++) {
            ends.tell(forwarded(i), "");
        }
        assertThat(connection.isOverrun).isFalse();
        assertThat(taken()).isEmpty();
        List<Long> ids = new ArrayList<>();
        while (connection.sendNotifications() > 0) {
            // There is always room for replies.
            assertThat(connection.out.size()).isEqualTo(Connection.NOTIFICATIONS_SENT_MAX);
            ids.addAll(taken());
            if (ids.size() > count - Connection.NOTIFICATIONS_SENT_MAX) {
                break;
            }
        }
        connection.sendNotifications();
        ids.addAll(taken());
        assertThat(ids).hasSize(count).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void shouldGiveUpAClientThatNeverReads() {
        for (int i = 0; i < Connection.NOTIFICATIONS_SENT_MAX; i++) {
            reply();
        }
        for (int i = 0; i < Connection.NOTIFICATIONS_MAX; i++) {
            ends.tell(forwarded(i), "");
        }
        assertThat(connection.isOverrun).isFalse();
        ends.tell(forwarded(0), "");
        assertThat(connection.isOverrun).isTrue();
    }

    @Test
    void shouldGiveUpAClientThatDoesNotReadItsReplies() {
        for (int i = 0; i < Connection.REPLIES_MAX; i++) {
            reply();
        }
        assertThat(connection.isOverrun).isFalse();
        reply();
        assertThat(connection.isOverrun).isTrue();
        assertThat(connection.out.size()).isEqualTo(Connection.REPLIES_MAX);
    }
}
