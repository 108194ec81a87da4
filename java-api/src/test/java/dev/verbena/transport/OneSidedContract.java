package dev.verbena.transport;

import static dev.verbena.memory.RemoteDescriptor.REMOTE_ALL;
import static dev.verbena.memory.RemoteDescriptor.REMOTE_ATOMIC;
import static dev.verbena.memory.RemoteDescriptor.REMOTE_READ;
import static dev.verbena.memory.RemoteDescriptor.REMOTE_WRITE;
import static dev.verbena.transport.Transport.ACCEPTED;
import static dev.verbena.transport.Transport.FENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.ContractNode.Completion;
import dev.verbena.transport.ContractNode.Notification;
import java.io.IOException;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Put, get, notify, atomics: what arrives, what is refused, how often it is reported. */
public abstract class OneSidedContract extends DescriptorContract {
    private static final int GUARD = 64;

    private int[] lengths() {
        return new int[] {0, 1, 7, 8, 63, 64, 4095, 4096, (1 << 20) + 3, lengthAboveSegmentLimit()};
    }

    /** Moves every length at several alignments, and checks the bytes and the ones around them. */
    private void move(boolean isPut) {
        Pair p = new Pair();
        int longest = lengthAboveSegmentLimit() + 3 * GUARD;
        RegisteredRegion from = (isPut ? p.a : p.b).allocate(longest);
        RegisteredRegion to = (isPut ? p.b : p.a).allocate(longest);
        RemoteDescriptor remote = describe(isPut ? to : from);
        UnsafeBuffer target = whole(to);
        long context = 1L << 40;
        for (int length : lengths()) {
            for (int skew : new int[] {0, 1, 7, 13}) {
                byte[] data = random(length, ++context);
                int source = GUARD + skew;
                int at = GUARD + (skew * 5) % 11;
                fill(from, source, data);
                target.setMemory(at - GUARD, length + 2 * GUARD, (byte) 0x5A);
                long id = context;
                post(
                        "transfer of " + length,
                        () ->
                                isPut
                                        ? p.a.transport.put(
                                                p.ab, from, source, remote, at, length, id, 0)
                                        : p.a.transport.get(
                                                p.ab, to, at, remote, source, length, id, 0));
                int operation = isPut ? Operation.PUT : Operation.GET;
                assertThat(completion(p.a))
                        .isEqualTo(new Completion(p.ab, operation, id, Status.OK, length));
                assertThat(bytes(to, at, length)).as("%d bytes", length).isEqualTo(data);
                for (int i = 1; i <= GUARD; i++) {
                    assertThat(target.getByte(at - i)).as("byte before").isEqualTo((byte) 0x5A);
                    assertThat(target.getByte(at + length + i - 1))
                            .as("byte after %d bytes", length)
                            .isEqualTo((byte) 0x5A);
                }
            }
        }
    }

    @Test
    void shouldPutAnyLengthAtAnyAlignment() {
        move(true);
    }

    @Test
    void shouldGetAnyLengthAtAnyAlignment() {
        move(false);
    }

    @Test
    void shouldCompleteEachAcceptedOperationOnceWithItsContext() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(4096);
        RegisteredRegion remote = p.b.allocate(4096);
        RemoteDescriptor d = describe(remote);
        Set<Long> expected = new HashSet<>();
        Random random = new Random(17);
        for (int i = 0; i < times(2_000); i++) {
            long context = random.nextLong();
            int length = random.nextInt(200);
            boolean isPut = random.nextBoolean();
            post(
                    "operation " + i,
                    () ->
                            isPut
                                    ? p.a.transport.put(p.ab, local, 0, d, 0, length, context, 0)
                                    : p.a.transport.get(p.ab, local, 0, d, 0, length, context, 0));
            expected.add(context);
        }
        pump("all", () -> p.a.completions.size() >= expected.size());
        settle();
        assertThat(p.a.completions).hasSize(expected.size());
        assertThat(p.a.completions).allMatch(c -> c.status() == Status.OK);
        Set<Long> seen = new HashSet<>();
        p.a.completions.forEach(c -> seen.add(c.context()));
        assertThat(seen).isEqualTo(expected);
        assertThat(p.b.completions).isEmpty();
    }

    @Test
    void shouldMoveAllSegmentsOfAVectorWithOneCompletion() {
        Pair p = new Pair();
        RegisteredRegion first = p.a.allocate(1 << 16);
        RegisteredRegion second = p.a.allocate(1 << 16);
        RegisteredRegion remote = p.b.allocate(1 << 17);
        RemoteDescriptor d = describe(remote);
        fill(first, 0, random(1 << 16, 1));
        fill(second, 0, random(1 << 16, 2));
        TransferVector vector =
                new TransferVector(4)
                        .add(first, 100, 7, 5_000)
                        .add(second, 3, 9_000, 0)
                        .add(second, 33, 9_001, 60_000)
                        .add(first, 0, 100_000, 1);
        assertThat(p.a.transport.put(p.ab, vector, d, 5, 0)).isEqualTo(ACCEPTED);
        assertThat(completion(p.a))
                .isEqualTo(new Completion(p.ab, Operation.PUT, 5, Status.OK, 65_001));
        assertThat(bytes(remote, 7, 5_000)).isEqualTo(bytes(first, 100, 5_000));
        assertThat(bytes(remote, 9_001, 60_000)).isEqualTo(bytes(second, 33, 60_000));
        assertThat(bytes(remote, 100_000, 1)).isEqualTo(bytes(first, 0, 1));
        assertThat(bytes(remote, 5_007, 3_993)).containsOnly(0);

        byte[] before = bytes(remote, 7, 5_000);
        fill(first, 0, new byte[1 << 16]);
        vector.clear().add(first, 1, 7, 5_000).add(second, 0, 9_001, 10);
        assertThat(p.a.transport.get(p.ab, vector, d, 6, 0)).isEqualTo(ACCEPTED);
        assertThat(completion(p.a).value()).isEqualTo(5_010);
        assertThat(bytes(first, 1, 5_000)).isEqualTo(before);
        settle();
        assertThat(p.a.completions).isEmpty();
    }

    @Test
    void shouldReportTheWorstStatusWhenOneSegmentOfAVectorDoesNotFit() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(4096);
        RegisteredRegion remote = p.b.allocate(4096);
        TransferVector vector =
                new TransferVector(3)
                        .add(local, 0, 0, 100)
                        .add(local, 0, 4_090, 100)
                        .add(local, 0, 200, 100);
        assertThat(p.a.transport.put(p.ab, vector, describe(remote), 1, 0)).isEqualTo(ACCEPTED);
        assertThat(completion(p.a).status()).isEqualTo(Status.BOUNDS);
        settle();
        assertThat(p.a.completions).isEmpty();
        vector.clear().add(local, 4_000, 0, 97);
        assertThatThrownBy(() -> p.a.transport.put(p.ab, vector, describe(remote), 1, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldPutFromMemoryThatMayOnlyBeReadAndLetPeersReadIt() throws IOException {
        Pair p = new Pair();
        requires(p.b, Capability.FOREIGN_MEMORY, "FOREIGN_MEMORY");
        int length = 3 * 4096 + 5;
        byte[] mine = random(length, 9);
        byte[] theirs = random(length, 10);
        try (TestMemory here = TestMemory.readOnly(mine);
                TestMemory there = TestMemory.readOnly(theirs)) {
            RegisteredRegion source = registerReadOnly(p.a, here);
            RegisteredRegion shared = p.b.transport.register(there, REMOTE_READ);
            RegisteredRegion target = p.b.allocate(length);
            RegisteredRegion local = p.a.allocate(length);
            post(
                    "put",
                    () -> p.a.transport.put(p.ab, source, 0, describe(target), 0, length, 1, 0));
            assertThat(completion(p.a).status()).isEqualTo(Status.OK);
            assertThat(bytes(target, 0, length)).isEqualTo(mine);
            post("get", () -> p.a.transport.get(p.ab, local, 0, describe(shared), 0, length, 2, 0));
            assertThat(completion(p.a).status()).isEqualTo(Status.OK);
            assertThat(bytes(local, 0, length)).isEqualTo(theirs);
            assertThat(status(p, local, describe(shared), "put")).isEqualTo(Status.ACCESS);
            assertThat(status(p, local, claimingAll(shared), "put")).isNotEqualTo(Status.OK);
            assertThat(there.buffer(0, 1).getByte(0)).isEqualTo(theirs[0]);
            source.close();
            shared.close();
        }
    }

    /** Skips where this kernel registers no such memory with an RDMA card. */
    private static RegisteredRegion registerReadOnly(ContractNode node, TestMemory memory) {
        try {
            return node.transport.register(memory, 0);
        } catch (TransportException e) {
            boolean isOldKernel = linux() < 602 && e.getMessage().contains("before Linux 6.2");
            throw isOldKernel
                    ? new SkipsForCapabilities.Lacking(
                            "before Linux 6.2 no shared read-only pages are registered")
                    : e;
        }
    }

    /** Version of the kernel: 602 for 6.2. */
    private static int linux() {
        String[] parts = System.getProperty("os.version").split("[^0-9]");
        return 100 * Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]);
    }

    @Test
    void shouldReachForeignMemoryAtAnyAlignment() {
        Pair p = new Pair();
        requires(p.b, Capability.FOREIGN_MEMORY, "FOREIGN_MEMORY");
        int length = (1 << 20) + 3;
        try (TestMemory here = new TestMemory(length, 3);
                TestMemory there = new TestMemory(length, 5)) {
            RegisteredRegion local = p.a.transport.register(here, 0);
            RegisteredRegion remote = p.b.transport.register(there, REMOTE_ALL);
            byte[] data = random(length, 8);
            here.buffer(0, length).putBytes(0, data);
            post("put", () -> p.a.transport.put(p.ab, local, 0, describe(remote), 0, length, 1, 0));
            assertThat(completion(p.a).status()).isEqualTo(Status.OK);
            byte[] seen = new byte[length];
            there.buffer(0, length).getBytes(0, seen);
            assertThat(seen).isEqualTo(data);
            here.buffer(0, length).setMemory(0, length, (byte) 0);
            post("get", () -> p.a.transport.get(p.ab, local, 1, describe(remote), 1, 99_999, 2, 0));
            assertThat(completion(p.a).status()).isEqualTo(Status.OK);
            assertThat(bytes(local, 1, 99_999))
                    .isEqualTo(java.util.Arrays.copyOfRange(data, 1, 100_000));
            local.close();
            remote.close();
        }
    }

    @Test
    void shouldNotifyOnceWithTagAndPlaceWhenAllBytesAreVisible() {
        Pair p = new Pair();
        requires(p.b, Capability.PUT_NOTIFY, "PUT_NOTIFY");
        int max = lengthAboveSegmentLimit();
        RegisteredRegion local = p.a.allocate(max);
        RegisteredRegion remote = p.b.allocate(max + 256);
        RemoteDescriptor d = remote.describe(128, max, REMOTE_WRITE, new RemoteDescriptor());
        UnsafeBuffer target = whole(remote);
        AtomicReference<byte[]> expected = new AtomicReference<>();
        p.b.hook =
                event -> {
                    if (event instanceof Notification n) {
                        byte[] seen = new byte[(int) n.length()];
                        target.getBytes((int) n.offset(), seen);
                        assertThat(seen).isEqualTo(expected.get());
                    }
                };
        int tag = Integer.MIN_VALUE;
        for (int length : new int[] {0, 1, 8, 4095, (1 << 20) + 3, max}) {
            byte[] data = random(length, length + 1);
            expected.set(data);
            fill(local, 0, data);
            int at = length == max ? 0 : 5;
            int sent = tag++;
            post(
                    "notify",
                    () -> p.a.transport.putNotify(p.ab, local, 0, d, at, length, sent, 9, 0));
            pump("a notification", () -> !p.b.notifications.isEmpty());
            assertThat(p.b.notifications.poll())
                    .isEqualTo(new Notification(p.ba, 22, sent, remote.id(), 128 + at, length));
            assertThat(completion(p.a))
                    .isEqualTo(new Completion(p.ab, Operation.PUT_NOTIFY, 9, Status.OK, length));
        }
        assertThat(status(p, local, d.set(d.kind(), 0, 0, 0, 0, 0, 0), "notify"))
                .isNotEqualTo(Status.OK);
        settle();
        assertThat(p.b.notifications).isEmpty();
        assertThat(p.a.completions).isEmpty();
    }

    @Test
    void shouldAnswerWhatWasThereBeforeWhenAtomicsHappen() {
        Pair p = new Pair();
        requires(p.a, Capability.ATOMICS, "ATOMICS");
        RegisteredRegion remote = p.b.allocate(64);
        RemoteDescriptor d = remote.describe(16, 48, REMOTE_ATOMIC, new RemoteDescriptor());
        UnsafeBuffer target = whole(remote);
        target.putLong(24, 40);
        assertThat(p.a.transport.fetchAdd(p.ab, d, 8, -42, 1, 0)).isEqualTo(ACCEPTED);
        assertThat(completion(p.a))
                .isEqualTo(new Completion(p.ab, Operation.FETCH_ADD, 1, Status.OK, 40));
        assertThat(target.getLong(24)).isEqualTo(-2);
        assertThat(p.a.transport.compareSwap(p.ab, d, 8, 7, 8, 2, 0)).isEqualTo(ACCEPTED);
        assertThat(completion(p.a))
                .isEqualTo(new Completion(p.ab, Operation.COMPARE_SWAP, 2, Status.OK, -2));
        assertThat(target.getLong(24)).isEqualTo(-2);
        assertThat(p.a.transport.compareSwap(p.ab, d, 8, -2, Long.MIN_VALUE, 3, 0))
                .isEqualTo(ACCEPTED);
        assertThat(completion(p.a).value()).isEqualTo(-2);
        assertThat(target.getLong(24)).isEqualTo(Long.MIN_VALUE);
        assertThat(p.a.transport.fetchAdd(p.ab, d, 48, 1, 4, 0)).isEqualTo(ACCEPTED);
        assertThat(completion(p.a).status()).isEqualTo(Status.BOUNDS);
        assertThatThrownBy(() -> p.a.transport.fetchAdd(p.ab, d, 4, 1, 5, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> p.a.transport.compareSwap(p.ab, d, 1, 1, 1, 5, 0))
                .isInstanceOf(IllegalArgumentException.class);
        settle();
        assertThat(p.a.completions).isEmpty();
    }

    /** However few events a poll delivers. */
    @Test
    void shouldDeliverAMessageToWhoPostsAnewAtEachCompletion() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(64);
        RegisteredRegion remote = p.b.allocate(64);
        RemoteDescriptor d = describe(remote);
        Runnable put =
                () ->
                        assertThat(p.a.transport.put(p.ab, local, 0, d, 0, 64, 1, 0))
                                .isEqualTo(ACCEPTED);
        p.a.hook = event -> repeat(event, put);
        for (int limit : new int[] {1, 4}) {
            p.a.messages.clear();
            put.run(); // so many more are under way with the higher limit
            put.run();
            post("send", () -> p.b.transport.send(p.ba, remote, 0, 8, 2, 0));
            for (int polls = 0; p.a.messages.isEmpty(); polls++) {
                assertThat(polls).as("polls of %s", limit).isLessThan(1_000_000);
                p.a.transport.poll(p.a, limit);
                p.a.completions.clear();
                p.b.poll();
            }
        }
        p.a.hook = event -> {};
        pump("the end", () -> p.a.poll() == 0);
    }

    private static void repeat(Object event, Runnable put) {
        if (event instanceof ContractNode.Completion) {
            put.run();
        }
    }

    @Test
    void shouldPlaceEarlierOperationsFirstWhenFenced() throws Exception {
        Pair p = new Pair();
        int length = (1 << 20) + 3;
        RegisteredRegion local = p.a.allocate(length + 8);
        RegisteredRegion remote = p.b.allocate(length + 5 + 8);
        RemoteDescriptor d = describe(remote);
        UnsafeBuffer source = whole(local);
        UnsafeBuffer target = whole(remote);
        AtomicReference<String> wrong = new AtomicReference<>();
        int rounds = 30;
        Thread reader =
                new Thread(
                        () -> {
                            for (int round = 1; round <= rounds; round++) {
                                while (target.getLongVolatile(0) != round) {
                                    Thread.onSpinWait();
                                    if (Thread.interrupted()) {
                                        return;
                                    }
                                }
                                byte first = target.getByte(8);
                                byte last = target.getByte(8 + length - 1);
                                if (first != (byte) round || last != (byte) round) {
                                    wrong.set("round " + round + ": " + first + ", " + last);
                                }
                                target.putLongVolatile(0, -round);
                            }
                        });
        reader.start();
        try {
            for (int round = 1; round <= rounds; round++) {
                source.setMemory(8, length, (byte) round);
                source.putLong(0, round);
                post("data", () -> p.a.transport.put(p.ab, local, 8, d, 8, length, 1, 0));
                post("flag", () -> p.a.transport.put(p.ab, local, 0, d, 0, 8, 2, FENCE));
                int seen = -round;
                pump("the reader", () -> target.getLongVolatile(0) == seen);
                pump("completions", () -> p.a.completions.size() == 2);
                p.a.completions.clear();
            }
        } finally {
            reader.interrupt();
            reader.join();
        }
        assertThat(wrong.get()).isNull();
    }
}
