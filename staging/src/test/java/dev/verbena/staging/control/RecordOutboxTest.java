package dev.verbena.staging.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.Await;
import dev.verbena.staging.TransportPair;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class RecordOutboxTest {
    private static final long BASE = 1000;

    private final TransportPair pair = new TransportPair();
    private final RecordOutbox outbox = new RecordOutbox(pair.left, 2, 64, BASE);
    private final List<Integer> received = new ArrayList<>();
    private final TransportHandler completions =
            new TransportHandler() {
                @Override
                public void onCompletion(
                        long connection, int operation, long context, int status, long value) {
                    outbox.onCompletion(context);
                }
            };

    @AfterEach
    void close() {
        outbox.close();
        pair.close();
    }

    private int send(int number) {
        outbox.buffer().putInt(outbox.next(), number);
        return outbox.send(pair.leftConnection, 4);
    }

    private void poll() {
        pair.poll(
                completions,
                new TransportHandler() {
                    @Override
                    public void onMessage(
                            long connection,
                            long context,
                            DirectBuffer buffer,
                            int offset,
                            int length,
                            long token) {
                        received.add(buffer.getInt(offset));
                    }
                });
    }

    @Test
    void shouldKeepARecordUntilItsSendHasCompleted() {
        assertThat(send(7)).isEqualTo(Transport.ACCEPTED);
        assertThat(send(8)).isEqualTo(Transport.ACCEPTED);
        assertThat(outbox.next()).isEqualTo(-1);
        assertThat(outbox.isIdle()).isFalse();
        Await.until(
                () -> "received " + received,
                () -> {
                    poll();
                    return received.size() == 2 && outbox.isIdle();
                });
        assertThat(received).containsExactly(7, 8);
        assertThat(outbox.next()).isNotNegative();
    }

    @Test
    void shouldKeepTheSlotThatATransportDoesNotAccept() {
        int at = outbox.next();
        assertThat(outbox.send(pair.leftConnection + 1_000_000, 4))
                .isEqualTo(Transport.NOT_CONNECTED);
        assertThat(outbox.isIdle()).isTrue();
        assertThat(outbox.next()).isEqualTo(at);
    }

    @Test
    void shouldKnowItsOwnSendsOnly() {
        assertThat(outbox.onCompletion(BASE - 1)).isFalse();
        assertThat(outbox.onCompletion(BASE + 2)).isFalse();
    }

    @Test
    void shouldAllocateNothing() {
        AllocationMeter.requireNone(
                () -> {
                    for (int i = 0; i < 10_000; i++) {
                        while (outbox.next() < 0 || send(i) != Transport.ACCEPTED) {
                            pair.left.poll(completions, 64);
                            pair.right.poll(TransportHandler.IGNORE, 64);
                        }
                    }
                });
        Await.until(
                "completed",
                () -> {
                    poll();
                    return outbox.isIdle();
                });
    }
}
