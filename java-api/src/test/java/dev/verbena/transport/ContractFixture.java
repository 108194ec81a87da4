package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.softnic.NativeAccess;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** What the parts of {@link TransportContract} share: transports, pairs, pumping, patterns. */
@Timeout(120)
@Tag("transport-contract")
abstract class ContractFixture {
    static {
        NativeAccess.open();
    }

    private static final long LIMIT_NS = 60_000_000_000L;

    /** After so many rounds without work only time or another thread brings some. */
    private static final int IDLE_ROUNDS = 500;

    private static final long PAUSE_NS = 50_000L;
    private static final AtomicInteger SERIAL = new AtomicInteger();

    private final String job =
            "contract-" + ProcessHandle.current().pid() + "-" + SERIAL.getAndIncrement();
    private final List<ContractNode> nodes = new ArrayList<>();

    /** What transports reported to their error handlers; a test that provokes errors clears it. */
    final List<Throwable> errors = new CopyOnWriteArrayList<>();

    /** Scheme of the provider under test. */
    protected abstract String scheme();

    /** Opens a transport under test; a subclass may add options or wrap it. */
    protected Transport open(TransportContext context) {
        return Transports.open(scheme(), context);
    }

    /** A length above the provider's largest single transfer, so that it must segment. */
    protected int lengthAboveSegmentLimit() {
        return (4 << 20) + 5;
    }

    /** How often to repeat what is normally done so many times; less where each time is slow. */
    protected int times(int count) {
        return count;
    }

    /** How many clients one server has where many are tested; fewer where each is slow to open. */
    protected int manyClients() {
        return 40;
    }

    /** Whether polling is what lets time pass. */
    protected boolean isTimeVirtual() {
        return false;
    }

    /** Job of this test: isolates it from tests that run at the same time. */
    protected final String job() {
        return job;
    }

    /** A context for one more transport of this test. */
    protected TransportContext context() {
        return new TransportContext()
                .job(job)
                .receiveSlotCount(256)
                .outstandingMax(256)
                .connectionsMax(64)
                .errorHandler(errors::add);
    }

    final ContractNode node(TransportContext context) {
        ContractNode node = new ContractNode(open(context));
        nodes.add(node);
        return node;
    }

    final ContractNode node() {
        return node(context());
    }

    @AfterEach
    final void closeAll() {
        RuntimeException failure = null;
        for (ContractNode node : nodes) {
            try {
                node.close();
            } catch (RuntimeException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
        assertThat(errors).as("what transports reported to their error handlers").isEmpty();
    }

    /** Two connected transports. */
    final class Pair {
        final ContractNode a;
        final ContractNode b;

        /** Handles of the connection at either end. */
        long ab;

        long ba;

        Pair(ContractNode a, ContractNode b) {
            this.a = a;
            this.b = b;
            connect();
        }

        Pair() {
            this(node(), node());
        }

        private void connect() {
            b.transport.listen();
            b.acceptContext = 22;
            int before = b.requests.size();
            ab = a.connect(b.transport.uri(), 11);
            assertThat(ab).as("handle of connect").isPositive();
            pump("connected", () -> a.count("connected", ab) == 1 && b.requests.size() > before);
            ba = b.requests.peekLast().connection();
            pump("accepted", () -> b.count("connected", ba) == 1);
        }
    }

    /** Polls all transports of this test until the condition holds. */
    final void pump(String what, BooleanSupplier condition) {
        pump(() -> what, condition);
    }

    final void pump(Supplier<String> what, BooleanSupplier condition) {
        long start = System.nanoTime();
        int idleRounds = 0;
        while (!condition.getAsBoolean()) {
            int work = 0;
            for (int i = 0; i < nodes.size(); i++) {
                work += Math.max(nodes.get(i).poll(), 0);
            }
            idleRounds = work == 0 ? idleRounds + 1 : 0;
            if (idleRounds > IDLE_ROUNDS && !isTimeVirtual()) {
                LockSupport.parkNanos(PAUSE_NS);
            } else if (work == 0) {
                Thread.yield();
            }
            if (work == 0 && System.nanoTime() - start > LIMIT_NS) {
                throw new AssertionError("not within 60 s: " + what.get());
            }
        }
    }

    /** Posts until accepted, polling everything meanwhile. */
    final void post(String what, java.util.function.IntSupplier operation) {
        int[] result = new int[1];
        pump(
                () -> what + " accepted, last answer " + result[0],
                () -> {
                    result[0] = operation.getAsInt();
                    assertThat(result[0])
                            .as(what)
                            .isIn(Transport.ACCEPTED, Transport.BACK_PRESSURED);
                    return result[0] == Transport.ACCEPTED;
                });
    }

    /** Waits for one completion at a node and takes it. */
    final ContractNode.Completion completion(ContractNode node) {
        pump("a completion", () -> !node.completions.isEmpty());
        return node.completions.poll();
    }

    /** Polls everything until nothing has come for a while; what may not come would have come. */
    final void settle() {
        for (int quiet = 0; quiet < 200; ) {
            int work = 0;
            for (ContractNode node : nodes) {
                work += Math.max(node.poll(), 0);
            }
            quiet = work == 0 ? quiet + 1 : 0;
            Thread.yield();
        }
    }

    final void requires(ContractNode node, long capability, String name) {
        if ((node.transport.capabilities() & capability) == 0) {
            throw new SkipsForCapabilities.Lacking(scheme() + " lacks the capability " + name);
        }
    }

    static RemoteDescriptor describe(RegisteredRegion region) {
        return region.describe(0, region.length(), region.rights(), new RemoteDescriptor());
    }

    static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    static UnsafeBuffer whole(RegisteredRegion region) {
        return region.buffer(0, (int) region.length());
    }

    static byte[] bytes(RegisteredRegion region, long offset, int length) {
        byte[] bytes = new byte[length];
        region.buffer(offset, length).getBytes(0, bytes);
        return bytes;
    }

    static void fill(RegisteredRegion region, long offset, byte[] bytes) {
        region.buffer(offset, bytes.length).putBytes(0, bytes);
    }
}
