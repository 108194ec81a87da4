package dev.verbena.nessie.nnti;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Fuzz;
import dev.verbena.memory.RemoteDescriptor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A peer that sends anything costs a transport its connection at most: no exception, no event that
 * cannot be, no memory, and others are served. Here {@code right} is attacked, {@code left} is a
 * peer that keeps to the protocol.
 */
@Timeout(240)
class NntiHostileTest {
    private static final int MESSAGE_LENGTH = 64;
    private static final int ALLOCATION_MAX = 1 << 20;
    private static final int DESCRIPTOR_AT = Messages.GREETING_LENGTH - RemoteDescriptor.LENGTH;

    /** Kept for each peer at most, and then some. */
    private static final int FLOOD = (1 << 18) + 2000;

    private final NntiPair pair = new NntiPair("shm", NntiOptions.DEFAULT);
    private final Stranger stranger = new Stranger(pair.raw());
    private final NntiTransport victim = pair.right;
    private final NntiBuffer queue = victim.alloc(MESSAGE_LENGTH, 8, BufferFlags.RECV_QUEUE);
    private final NntiBuffer target =
            victim.alloc(MESSAGE_LENGTH, 1, BufferFlags.PUT_DST | BufferFlags.GET_SRC);
    private final NntiBuffer readable = victim.alloc(MESSAGE_LENGTH, 1, BufferFlags.GET_SRC);
    private final NntiBuffer writable =
            victim.alloc(MESSAGE_LENGTH, 1, BufferFlags.PUT_DST | BufferFlags.RECV_DST);
    private final NntiBuffer source = pair.left.alloc(MESSAGE_LENGTH, 1, BufferFlags.SEND_SRC);
    private final NntiStatus received = new NntiStatus();

    /** The victim's view of who sent the last message. */
    private NntiPeer sender;

    @BeforeEach
    void lookAtVariables() {
        // As a program does that is called for a variable.
        victim.onVariableChanged(victim::variable);
    }

    @AfterEach
    void close() {
        stranger.close();
        // Would name a region or a message that was left behind.
        pair.close();
    }

    private void pump(String what, BooleanSupplier condition) {
        pair.pump(
                what,
                () -> {
                    stranger.progress();
                    drain();
                    return condition.getAsBoolean();
                });
    }

    /** Takes every event, and requires that it can be. */
    private void drain() {
        while (victim.await(queue, 0, received) == NntiResult.OK) {
            assertThat(received.operation()).isEqualTo(NntiOperation.RECEIVE);
            assertThat(received.offset() % MESSAGE_LENGTH).isZero();
            assertThat(received.length()).isLessThanOrEqualTo(MESSAGE_LENGTH);
            sender = received.peer();
            victim.release(received);
        }
        require(target, NntiOperation.TARGET_PUT, NntiOperation.TARGET_GET);
        require(readable, NntiOperation.TARGET_GET);
        require(writable, NntiOperation.TARGET_PUT, NntiOperation.RECEIVE);
    }

    private void require(NntiBuffer buffer, NntiOperation... possible) {
        while (victim.await(buffer, 0, received) == NntiResult.OK) {
            assertThat(received.operation()).isIn((Object[]) possible);
            assertThat(received.offset()).isBetween(0L, MESSAGE_LENGTH - received.length());
            assertThat(received.peer()).isNotNull();
        }
    }

    private static byte[] message(int length, Consumer<UnsafeBuffer> write) {
        byte[] bytes = new byte[length];
        write.accept(new UnsafeBuffer(bytes));
        return bytes;
    }

    private static byte[] greeting(NntiBuffer variables) {
        RemoteDescriptor descriptor = variables.handle().segment(0);
        return message(Messages.GREETING_LENGTH, to -> Messages.greeting(to, 0, 4711, descriptor));
    }

    private static byte[] notice(int operation, int id, long offset, long length) {
        return message(
                Messages.NOTICE_LENGTH,
                to -> Messages.notice(to, 0, operation, id, offset, length));
    }

    private static byte[] answer(int number, NntiResult result) {
        return message(Messages.ANSWER_LENGTH, to -> Messages.answer(to, 0, number, result));
    }

    private static byte[] data(int number, int length) {
        return message(
                Messages.DATA_OFFSET + length, to -> Messages.begin(to, 0, Messages.DATA, number));
    }

    private List<byte[]> corpus() {
        List<byte[]> corpus = new ArrayList<>(Collections.nCopies(20, greeting(target)));
        for (NntiBuffer each : List.of(queue, target, readable, writable)) {
            int id = each.handle().bufferId();
            for (NntiOperation operation : NntiOperation.values()) {
                corpus.add(notice(operation.ordinal(), id, 8, 8));
            }
        }
        corpus.add(notice(Messages.ATOMIC, 3, 24, 8));
        corpus.addAll(List.of(answer(1, NntiResult.OK), answer(2, NntiResult.ENOENT)));
        corpus.addAll(List.of(data(0, 10), data(7, 10), data(1, MESSAGE_LENGTH + 1)));
        return corpus;
    }

    private void connect(byte[] hello) {
        stranger.connect(victim.url());
        pump("connected", stranger::isConnected);
        send(hello);
    }

    private void send(byte[] message) {
        pump("sent", () -> !stranger.isConnected() || stranger.send(message));
        pump("taken", () -> !stranger.isConnected() || stranger.isIdle());
    }

    /** Whether this one is served, before and after whatever others do. */
    private void requireService() {
        WorkRequest work = new WorkRequest();
        assertThat(pair.left.send(pair.toRight, source, null, work)).isEqualTo(NntiResult.OK);
        pump("served", work::isComplete);
        assertThat(work.status().result()).isEqualTo(NntiResult.OK);
        assertThat(pair.left.fetchAdd(pair.toRight, 0, 1, work)).isEqualTo(NntiResult.OK);
        pump("added", work::isComplete);
        assertThat(work.status().result()).isEqualTo(NntiResult.OK);
    }

    /** Makes the checksum right, for half of the greetings: else few would be read at all. */
    private static void mend(byte[] input, int at) {
        if (input.length >= at + RemoteDescriptor.LENGTH && (input[input.length - 1] & 1) == 0) {
            CRC32C crc = new CRC32C();
            int crcAt = at + RemoteDescriptor.LENGTH - Integer.BYTES;
            crc.update(input, at, crcAt - at);
            new UnsafeBuffer(input).putInt(crcAt, (int) crc.getValue(), LITTLE_ENDIAN);
        }
    }

    @Test
    void shouldBearEveryMessage() {
        byte[] hello = greeting(target);
        new Fuzz("NNTI message", corpus(), ALLOCATION_MAX)
                .run(
                        input -> {
                            boolean isHello = input.length > 0 && input[0] == Messages.GREETING;
                            if (isHello && stranger.isConnected()) {
                                stranger.disconnect();
                            }
                            if (!stranger.isConnected()) {
                                mend(input, DESCRIPTOR_AT);
                                connect(isHello ? input : hello);
                            }
                            if (isHello) {
                                useVariables();
                            } else {
                                send(input);
                            }
                        });
        assertThat(victim.refusedCount()).isPositive();
        requireService();
    }

    /** As if the variables that a greeting names were those of a good peer. */
    private void useVariables() {
        sender = null;
        long refused = victim.refusedCount();
        send(data(0, 1));
        pump(
                "used, dropped or refused",
                () -> !stranger.isConnected() || sender != null || victim.refusedCount() > refused);
        WorkRequest work = new WorkRequest();
        if (sender != null && victim.fetchAdd(sender, 0, 1, work) == NntiResult.OK) {
            pump("ended", work::isComplete);
        }
    }

    private NntiPeer left() {
        NntiPeer left = victim.startConnect(pair.left.url(), 10_000_000_000L);
        pump("connected", () -> left.state() == NntiPeer.State.READY);
        return left;
    }

    /** A handle that a peer sends is used in puts and gets; nobody knows what is behind it. */
    @Test
    void shouldBearEveryHandle() {
        List<NntiBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int flags = BufferFlags.PUT_DST | BufferFlags.GET_SRC;
            buffers.add(pair.left.alloc(MESSAGE_LENGTH, 1, flags));
        }
        List<BufferHandle> handles = buffers.stream().map(NntiBuffer::handle).toList();
        List<byte[]> corpus = new ArrayList<>();
        for (BufferHandle each : List.of(handles.get(0), new BufferHandle().join(handles))) {
            corpus.add(message(each.encodedLength(), to -> each.encode(to, 0)));
        }
        NntiBuffer own = victim.alloc(MESSAGE_LENGTH, 1, BufferFlags.PUT_SRC | BufferFlags.GET_DST);
        NntiPeer peer = left();
        BufferHandle handle = new BufferHandle();
        WorkRequest work = new WorkRequest();
        new Fuzz("NNTI handle", corpus, ALLOCATION_MAX)
                .run(
                        input -> {
                            mend(input, BufferHandle.LENGTH_OF_ONE - RemoteDescriptor.LENGTH);
                            NntiResult known =
                                    handle.decode(new UnsafeBuffer(input), 0, input.length);
                            assertThat(known).isIn(NntiResult.OK, NntiResult.EDECODE);
                            if (victim.put(peer, own, 0, 8, handle, 8, work) == NntiResult.OK) {
                                pump("put", work::isComplete);
                            }
                            if (victim.get(peer, handle, 8, 8, own, 0, work) == NntiResult.OK) {
                                pump("got", work::isComplete);
                            }
                        });
        requireService();
    }

    @Test
    void shouldBearEveryNotification() {
        connect(greeting(target));
        int[] tags = {-1, 0, 1, 2, 3, 5, 6, 7, Messages.ATOMIC, Integer.MAX_VALUE};
        for (NntiBuffer each : List.of(target, writable)) {
            for (int tag : tags) {
                RemoteDescriptor descriptor = each.handle().segment(0);
                pump("put", () -> stranger.put(descriptor, 8, 8, tag));
                pump("placed", stranger::isIdle);
            }
        }
        // Of the tags 0, 1, 2: a send and a put fit one buffer, a put and a get the other.
        pump("refused", () -> victim.refusedCount() == 2L * tags.length - 4);
        requireService();
    }

    @Test
    void shouldBelieveAnswersOfThePeerOnlyThatWasAsked() {
        connect(greeting(target));
        NntiPeer toLeft = left();
        NntiBuffer out = victim.alloc(8, 1, BufferFlags.SEND_SRC);
        WorkRequest work = new WorkRequest();
        assertThat(victim.send(toLeft, out, null, work)).isEqualTo(NntiResult.OK);
        victim.progress();
        for (int number = 1; number <= 100; number++) {
            byte[] forged = answer(number, NntiResult.OK);
            while (!stranger.send(forged)) {
                stranger.progress();
                victim.progress();
            }
        }
        while (victim.refusedCount() < 100) {
            stranger.progress();
            victim.progress();
        }
        assertThat(work.isComplete()).isFalse();
        pump("answered", work::isComplete);
        assertThat(work.status().result()).isEqualTo(NntiResult.ENOENT);
    }

    /** One that asks for answers and takes none gets none after a while; all others do. */
    @Test
    void shouldAnswerOthersWhileOneTakesNothing() {
        stranger.takeNothing();
        connect(greeting(target));
        byte[] message = data(1, 0);
        for (int i = 0; i < FLOOD; i++) {
            while (!stranger.send(message)) {
                stranger.progress();
                victim.progress();
                drain();
            }
        }
        pump("too many answers wait", () -> victim.refusedCount() > 0);
        requireService();
    }
}
