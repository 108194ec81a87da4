package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages that were accepted survive the receive queue that they were meant for. */
@Timeout(60)
class NntiQueueTest {
    private final NntiPair pair = new NntiPair("shm", NntiOptions.DEFAULT);

    @AfterEach
    void close() {
        pair.close();
    }

    /** Sends so many messages of a length, all of which the peer accepts; they hold 1, 2 ... */
    private void send(int count, int length) {
        NntiBuffer source = pair.left.alloc(length, 1, BufferFlags.SEND_SRC);
        List<WorkRequest> sends = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            source.window().setMemory(0, length, (byte) i);
            WorkRequest send = new WorkRequest();
            assertThat(pair.left.send(pair.toRight, source, null, send)).isEqualTo(NntiResult.OK);
            pair.pump("sent", send::isComplete);
            sends.add(send);
        }
        assertThat(sends).allMatch(each -> each.status().result() == NntiResult.OK);
    }

    @Test
    void shouldKeepForTheNextQueueWhatWaitedForASlot() {
        NntiBuffer first = pair.right.alloc(32, 2, BufferFlags.RECV_QUEUE);
        send(5, 32);
        pair.right.unregister(first);
        for (int i = 0; i < 100; i++) {
            pair.right.progress();
        }
        NntiBuffer next = pair.right.alloc(32, 2, BufferFlags.RECV_QUEUE);
        NntiStatus received = new NntiStatus();
        for (int i = 3; i <= 5; i++) {
            assertThat(pair.right.await(next, 10_000, received)).isEqualTo(NntiResult.OK);
            int at = (int) received.offset();
            assertThat(next.window().getByte(at)).isEqualTo((byte) i);
            pair.right.release(received);
        }
        assertThat(pair.right.refusedCount()).isZero();
    }

    @Test
    void shouldSayWhenTheNextQueueIsTooNarrow() {
        NntiBuffer first = pair.right.alloc(32, 1, BufferFlags.RECV_QUEUE);
        send(2, 32);
        pair.right.unregister(first);
        NntiBuffer next = pair.right.alloc(31, 1, BufferFlags.RECV_QUEUE);
        NntiStatus received = new NntiStatus();
        assertThat(pair.right.await(next, 10_000, received)).isEqualTo(NntiResult.EMSGSIZE);
        assertThat(received.length()).isEqualTo(32);
        assertThat(received.peer().id()).isEqualTo(pair.left.id());
        pair.right.release(received);
        assertThat(pair.right.refusedCount()).isEqualTo(1);
        send(1, 31);
        assertThat(pair.right.await(next, 10_000, received)).isEqualTo(NntiResult.OK);
    }
}
