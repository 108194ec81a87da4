package dev.verbena.transport;

import static dev.verbena.transport.Transport.ACCEPTED;
import static dev.verbena.transport.Transport.BACK_PRESSURED;
import static dev.verbena.transport.Transport.TOO_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.ContractNode.Completion;
import dev.verbena.transport.ContractNode.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Send and receive: order, credits, slots, and what a handler may do. */
abstract class MessageContract extends SumContract {
    private int send(Pair p, RegisteredRegion source, long length, long context) {
        return p.a.transport.send(p.ab, source, 0, length, context, 0);
    }

    @Test
    void shouldCarryMessagesOfAnyLengthUpToTheMaximum() {
        Pair p = new Pair();
        int max = p.a.transport.limits().messageLengthMax();
        RegisteredRegion source = p.a.allocate(max + 64);
        for (int length : new int[] {0, 1, 7, 8, 40, 63, 64, 65, 1000, max - 1, max}) {
            byte[] data = random(length, length);
            fill(source, 13, data);
            post(
                    "send of " + length,
                    () -> p.a.transport.send(p.ab, source, 13, length, length, 0));
            pump("message", () -> !p.b.messages.isEmpty());
            Message message = p.b.messages.poll();
            assertThat(message.bytes()).as("%d bytes", length).isEqualTo(data);
            assertThat(message.connection()).isEqualTo(p.ba);
            assertThat(message.context()).isEqualTo(22);
            assertThat(completion(p.a))
                    .isEqualTo(new Completion(p.ab, Operation.SEND, length, Status.OK, length));
        }
        assertThat(send(p, source, max + 1, 1)).isEqualTo(TOO_LONG);
        settle();
        assertThat(p.b.messages).isEmpty();
        assertThat(p.a.completions).isEmpty();
    }

    @Test
    void shouldDeliverInOrderBothWaysWhenManyAreSent() {
        Pair p = new Pair();
        int max = p.a.transport.limits().messageLengthMax();
        RegisteredRegion fromA = p.a.allocate(max);
        RegisteredRegion fromB = p.b.allocate(max);
        UnsafeBuffer bytesA = whole(fromA);
        UnsafeBuffer bytesB = whole(fromB);
        Random random = new Random(5);
        int count = times(5_000);
        int[] sent = new int[2];
        pump(
                () -> "all messages, sent " + sent[0] + " and " + sent[1],
                () -> {
                    int length = 16 + random.nextInt(max - 16);
                    // The source may be changed only after its completion: wait for it.
                    if (sent[0] < count && p.a.completions.size() == sent[0]) {
                        bytesA.putLong(0, sent[0]);
                        bytesA.putLong(length - 8, sent[0]);
                        int answer = p.a.transport.send(p.ab, fromA, 0, length, sent[0], 0);
                        sent[0] += answer == ACCEPTED ? 1 : 0;
                    }
                    if (sent[1] < count && p.b.completions.size() == sent[1]) {
                        bytesB.putLong(0, sent[1]);
                        bytesB.putLong(length - 8, sent[1]);
                        int answer = p.b.transport.send(p.ba, fromB, 0, length, sent[1], 0);
                        sent[1] += answer == ACCEPTED ? 1 : 0;
                    }
                    return p.a.messages.size() == count && p.b.messages.size() == count;
                });
        for (ContractNode node : List.of(p.a, p.b)) {
            long expected = 0;
            for (Message message : node.messages) {
                UnsafeBuffer bytes = new UnsafeBuffer(message.bytes());
                assertThat(bytes.getLong(0)).isEqualTo(expected);
                assertThat(bytes.getLong(message.bytes().length - 8)).isEqualTo(expected);
                expected++;
            }
        }
    }

    /** Sends numbered messages until refused; how many were accepted. */
    private int sendUntilRefused(ContractNode from, long connection, RegisteredRegion source) {
        UnsafeBuffer bytes = whole(source);
        int accepted = 0;
        int answer;
        do {
            bytes.putLong(8 * accepted, accepted);
            answer = from.transport.send(connection, source, 8 * accepted, 8, accepted, 0);
            accepted += answer == ACCEPTED ? 1 : 0;
            // Completions are polled, the receiver is not: only credits can end this.
            from.poll();
        } while (answer == ACCEPTED && accepted < 10_000);
        assertThat(answer).isEqualTo(BACK_PRESSURED);
        return accepted;
    }

    @Test
    void shouldPushBackWithoutLossWhenTheReceiverDoesNotPoll() {
        ContractNode a = node();
        Pair slow = new Pair(a, node(context().creditsPerConnection(8)));
        Pair quick = new Pair(a, node());
        RegisteredRegion source = a.allocate(80_008);
        for (int round = 0; round < 5; round++) {
            int accepted = sendUntilRefused(a, slow.ab, source);
            assertThat(accepted).isBetween(1, slow.b.transport.limits().creditsPerConnection());
            // Another connection of the same sender is not held up.
            post("to the other", () -> a.transport.send(quick.ab, source, 0, 8, 1, 0));
            pump("at the other", () -> !quick.b.messages.isEmpty());
            quick.b.messages.clear();
            pump("all accepted", () -> slow.b.messages.size() >= accepted);
            settle();
            assertThat(slow.b.messages).hasSize(accepted);
            for (int i = 0; i < accepted; i++) {
                byte[] bytes = slow.b.messages.poll().bytes();
                assertThat(new UnsafeBuffer(bytes).getLong(0)).isEqualTo(i);
            }
            assertThat(a.completions).hasSize(accepted + 1).allMatch(c -> c.status() == Status.OK);
            a.completions.clear();
        }
    }

    @Test
    void shouldAcceptNoMoreThanOutstandingMaxUntilPolled() {
        Pair p = new Pair(node(context().outstandingMax(8)), node());
        RegisteredRegion local = p.a.allocate(64);
        RemoteDescriptor d = describe(p.b.allocate(64));
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 8; i++) {
                assertThat(p.a.transport.put(p.ab, local, 0, d, 0, 8, i, 0)).isEqualTo(ACCEPTED);
            }
            assertThat(p.a.transport.put(p.ab, local, 0, d, 0, 8, 99, 0)).isEqualTo(BACK_PRESSURED);
            assertThat(p.a.transport.get(p.ab, local, 0, d, 0, 8, 99, 0)).isEqualTo(BACK_PRESSURED);
            assertThat(p.a.transport.send(p.ab, local, 0, 8, 99, 0)).isEqualTo(BACK_PRESSURED);
            pump("all", () -> p.a.completions.size() == 8);
            settle();
            assertThat(p.a.completions).hasSize(8).noneMatch(c -> c.context() == 99);
            p.a.completions.clear();
        }
        assertThat(p.b.messages).isEmpty();
    }

    @Test
    void shouldCountMessagesAndTransfersTogetherForOutstandingMax() {
        Pair p = new Pair(node(context().outstandingMax(8)), node());
        RegisteredRegion local = p.a.allocate(64);
        RemoteDescriptor d = describe(p.b.allocate(64));
        for (int i = 0; i < 5; i++) {
            assertThat(p.a.transport.send(p.ab, local, 0, 8, i, 0)).isEqualTo(ACCEPTED);
        }
        for (int i = 5; i < 8; i++) {
            assertThat(p.a.transport.put(p.ab, local, 0, d, 0, 8, i, 0)).isEqualTo(ACCEPTED);
        }
        assertThat(p.a.transport.put(p.ab, local, 0, d, 0, 8, 99, 0)).isEqualTo(BACK_PRESSURED);
        assertThat(p.a.transport.send(p.ab, local, 0, 8, 99, 0)).isEqualTo(BACK_PRESSURED);
        pump("all", () -> p.a.completions.size() == 8);
        assertThat(p.a.transport.send(p.ab, local, 0, 8, 8, 0)).isEqualTo(ACCEPTED);
    }

    /** Retains every message and remembers where its bytes are. */
    private static final class Retainer implements TransportHandler {
        private final Transport transport;
        private final List<Long> tokens = new ArrayList<>();
        private final List<DirectBuffer> buffers = new ArrayList<>();
        private final List<Integer> offsets = new ArrayList<>();

        Retainer(Transport transport) {
            this.transport = transport;
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            transport.retain(token);
            tokens.add(token);
            buffers.add(buffer);
            offsets.add(offset);
        }

        long value(int i) {
            return buffers.get(i).getLong(offsets.get(i));
        }
    }

    @Test
    void shouldKeepAMessageAndItsSlotUntilReleasedWhenRetained() {
        ContractNode a = node();
        Pair p = new Pair(a, node(context().creditsPerConnection(4)));
        RegisteredRegion source = a.allocate(80_008);
        Retainer retainer = new Retainer(p.b.transport);
        int accepted = sendUntilRefused(a, p.ab, source);
        long start = System.nanoTime();
        while (retainer.tokens.size() < accepted && System.nanoTime() - start < 30_000_000_000L) {
            p.b.transport.poll(retainer, 10);
        }
        assertThat(retainer.tokens).hasSize(accepted).doesNotHaveDuplicates();
        for (int i = 0; i < 50; i++) {
            p.b.transport.poll(retainer, 10);
            a.poll();
            assertThat(a.transport.send(p.ab, source, 0, 8, 1, 0)).isEqualTo(BACK_PRESSURED);
        }
        for (int i = 0; i < accepted; i++) {
            assertThat(retainer.value(i)).isEqualTo(i);
        }
        // Out of order: slots are independent.
        p.b.transport.release(retainer.tokens.get(accepted - 1));
        post("into the free slot", () -> a.transport.send(p.ab, source, 8_000, 8, 1, 0));
        pump("the next", () -> p.b.messages.size() == 1);
        for (int i = 0; i < accepted - 1; i++) {
            assertThat(retainer.value(i)).as("retained %d", i).isEqualTo(i);
            p.b.transport.release(retainer.tokens.get(i));
        }
        settle(); // credits may have a way to go
        int again = sendUntilRefused(a, p.ab, source);
        assertThat(again).isEqualTo(accepted);
        pump("all again", () -> p.b.messages.size() == 1 + again);
    }

    /** Retains what it may not beside what it may. */
    private static final class Misuser implements TransportHandler {
        private final Transport transport;
        private long retained;

        Misuser(Transport transport) {
            this.transport = transport;
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            long before = retained;
            refuse(before, ~token, token + 1, token ^ 1L << 32, 0, -1, Long.MAX_VALUE);
            refuse(Long.MIN_VALUE);
            transport.retain(token);
            refuse(token);
            if (before != 0) {
                transport.release(before);
            }
            retained = token;
        }

        private void refuse(long... tokens) {
            for (long token : tokens) {
                assertThatThrownBy(() -> transport.retain(token))
                        .isInstanceOf(IllegalStateException.class);
            }
        }
    }

    @Test
    void shouldRetainOnlyTheMessageThatIsHandledAndOnlyOnce() {
        ContractNode a = node();
        Pair p = new Pair(a, node(context().creditsPerConnection(4)));
        RegisteredRegion source = a.allocate(8);
        Misuser misuser = new Misuser(p.b.transport);
        for (int i = 0; i < 10; i++) {
            long before = misuser.retained;
            post("send", () -> a.transport.send(p.ab, source, 0, 8, 1, 0));
            long start = System.nanoTime();
            while (misuser.retained == before) {
                p.b.transport.poll(misuser, 10);
                a.poll();
                assertThat(System.nanoTime() - start).isLessThan(30_000_000_000L);
            }
        }
        p.b.transport.release(misuser.retained);
    }

    @Test
    void shouldStayInOrderWhenTokensAreMisused() {
        Pair p = new Pair();
        RegisteredRegion source = p.a.allocate(80_008);
        post("send", () -> send(p, source, 8, 1));
        pump("message", () -> !p.b.messages.isEmpty());
        long spent = p.b.messages.poll().token();
        for (long token : new long[] {spent, 0, -1, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> p.b.transport.retain(token))
                    .isInstanceOfAny(IllegalStateException.class, IllegalArgumentException.class);
            assertThatThrownBy(() -> p.b.transport.release(token))
                    .isInstanceOfAny(IllegalStateException.class, IllegalArgumentException.class);
        }
        p.a.completions.clear();
        int accepted = sendUntilRefused(p.a, p.ab, source);
        assertThat(accepted).isLessThanOrEqualTo(p.b.transport.limits().creditsPerConnection());
        pump("all", () -> p.b.messages.size() == accepted);
    }

    @Test
    void shouldAllowTheSourceToBeChangedWhenTheSendHasCompleted() {
        Pair p = new Pair();
        RegisteredRegion source = p.a.allocate(64);
        UnsafeBuffer bytes = whole(source);
        for (int i = 0; i < 50; i++) {
            bytes.setMemory(0, 64, (byte) i);
            post("send", () -> send(p, source, 64, 1));
            int taken = p.a.completions.size();
            // Only the sender is polled: the message stays where it is.
            long start = System.nanoTime();
            while (p.a.completions.size() == taken && System.nanoTime() - start < 30_000_000_000L) {
                p.a.poll();
                if (i > 8) {
                    p.b.poll();
                }
            }
            bytes.setMemory(0, 64, (byte) -1);
        }
        pump("all", () -> p.b.messages.size() == 50);
        int i = 0;
        for (Message message : p.b.messages) {
            assertThat(message.bytes()).containsOnly(i++);
        }
    }

    @Test
    void shouldLetAHandlerPost() {
        Pair p = new Pair();
        RegisteredRegion atA = p.a.allocate(8);
        RegisteredRegion atB = p.b.allocate(8);
        int[] rounds = new int[1];
        p.b.hook =
                event -> {
                    if (event instanceof Message) {
                        assertThat(p.b.transport.send(p.ba, atB, 0, 8, 1, 0)).isEqualTo(ACCEPTED);
                    }
                };
        p.a.hook =
                event -> {
                    if (event instanceof Message && rounds[0]++ < times(1_000)) {
                        assertThat(p.a.transport.send(p.ab, atA, 0, 8, 1, 0)).isEqualTo(ACCEPTED);
                    }
                };
        post("first", () -> p.a.transport.send(p.ab, atA, 0, 8, 1, 0));
        pump(() -> times(1_000) + " rounds, " + rounds[0], () -> rounds[0] == times(1_000) + 1);
    }

    @Test
    void shouldRefuseWhenAHandlerPollsOrCloses() {
        Pair p = new Pair();
        RegisteredRegion source = p.a.allocate(8);
        List<Throwable> thrown = new ArrayList<>();
        p.b.hook =
                event -> {
                    for (Runnable call :
                            List.<Runnable>of(
                                    () -> p.b.transport.poll(p.b, 1),
                                    () -> p.b.transport.poll(p.b, 1),
                                    () -> p.b.transport.close())) {
                        try {
                            call.run();
                        } catch (RuntimeException e) {
                            thrown.add(e);
                        }
                    }
                };
        post("send", () -> send(p, source, 8, 1));
        pump("message", () -> !p.b.messages.isEmpty());
        p.b.hook = event -> {};
        assertThat(thrown).hasSize(3).allMatch(e -> e instanceof IllegalStateException);
        post("send", () -> send(p, source, 8, 1));
        pump("the transport works", () -> p.b.messages.size() == 2);
    }

    @Test
    void shouldCarryMessagesBothWaysWhenTheEndsHaveDifferentCredits() {
        Pair p = new Pair(node(context().creditsPerConnection(1)), node(credits(64)));
        RegisteredRegion fromA = p.a.allocate(8);
        RegisteredRegion fromB = p.b.allocate(8);
        int count = times(400);
        for (int i = 0; i < count; i++) {
            post("to b", () -> p.a.transport.send(p.ab, fromA, 0, 8, 1, 0));
            post("to a", () -> p.b.transport.send(p.ba, fromB, 0, 8, 1, 0));
        }
        pump("all", () -> p.a.messages.size() == count && p.b.messages.size() == count);
        assertThat(p.a.hasEnded(p.ab)).isFalse();
    }

    private TransportContext credits(int credits) {
        return context().creditsPerConnection(credits);
    }

    @Test
    void shouldThrowOnWhatAHandlerThrowsAndLoseNothingElse() {
        Pair p = new Pair();
        RegisteredRegion source = p.a.allocate(80_008);
        int accepted = sendUntilRefused(p.a, p.ab, source);
        RuntimeException mine = new RuntimeException("from the handler");
        List<Object> seen = new ArrayList<>();
        p.b.hook =
                event -> {
                    if (event instanceof Message) {
                        seen.add(event);
                        throw mine;
                    }
                };
        long start = System.nanoTime();
        while (seen.size() < accepted && System.nanoTime() - start < 30_000_000_000L) {
            int before = seen.size();
            try {
                p.b.poll();
                assertThat(seen).hasSize(before);
            } catch (RuntimeException e) {
                assertThat(e).isSameAs(mine);
                assertThat(seen).hasSize(before + 1);
            }
        }
        for (int i = 0; i < accepted; i++) {
            byte[] bytes = ((Message) seen.get(i)).bytes();
            assertThat(new UnsafeBuffer(bytes).getLong(0)).isEqualTo(i);
        }
        p.b.hook = event -> {};
        // Slots of messages whose handler threw are free again.
        settle();
        p.a.completions.clear();
        int again = sendUntilRefused(p.a, p.ab, source);
        assertThat(again).isEqualTo(accepted);
        pump("delivered", () -> p.b.messages.size() == again);
    }

    @Test
    void shouldDeliverNoMoreThanTheLimitOfAPoll() {
        Pair p = new Pair();
        RegisteredRegion source = p.a.allocate(80_008);
        int accepted = sendUntilRefused(p.a, p.ab, source);
        assertThat(p.b.transport.poll(p.b, 0)).isZero();
        assertThat(p.b.messages).isEmpty();
        int total = 0;
        while (total < accepted) {
            int count = p.b.transport.poll(p.b, 1);
            assertThat(count).isBetween(0, 1);
            total += count;
            assertThat(p.b.messages).hasSize(total);
        }
    }

    @Test
    void shouldRefuseWrongArgumentsBeforeAnythingIsPosted() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(64);
        RegisteredRegion closed = p.a.allocate(64);
        RegisteredRegion foreign = p.b.allocate(64);
        RemoteDescriptor d = describe(foreign);
        closed.close();
        Transport t = p.a.transport;
        long[][] ranges = {
            {0, 65}, {64, 1}, {65, 0}, {-1, 1}, {0, -1}, {Long.MAX_VALUE, 1}, {1, Long.MAX_VALUE}
        };
        for (long[] r : ranges) {
            List<Runnable> calls =
                    List.of(
                            () -> t.send(p.ab, local, r[0], r[1], 1, 0),
                            () -> t.put(p.ab, local, r[0], d, 0, r[1], 1, 0),
                            () -> t.get(p.ab, local, r[0], d, 0, r[1], 1, 0));
            for (Runnable call : calls) {
                assertThatThrownBy(call::run)
                        .as("%d + %d", r[0], r[1])
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
        assertThatThrownBy(() -> t.send(p.ab, closed, 0, 8, 1, 0))
                .isInstanceOfAny(IllegalStateException.class, IllegalArgumentException.class);
        assertThatThrownBy(() -> t.put(p.ab, closed, 0, d, 0, 8, 1, 0))
                .isInstanceOfAny(IllegalStateException.class, IllegalArgumentException.class);
        assertThatThrownBy(() -> t.put(p.ab, foreign, 0, d, 0, 8, 1, 0))
                .as("region of another transport")
                .isInstanceOfAny(IllegalStateException.class, IllegalArgumentException.class);
        settle();
        assertThat(p.a.completions).isEmpty();
        assertThat(p.b.messages).isEmpty();
    }
}
