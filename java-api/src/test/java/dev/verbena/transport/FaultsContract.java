package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.softnic.NativeAccess;
import dev.verbena.transport.ContractNode.Completion;
import dev.verbena.transport.ContractNode.Life;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Faults over a provider, stacked as a protocol's test does: what comes out keeps the contract. A
 * subclass says which provider.
 */
@Timeout(120)
public abstract class FaultsContract {
    static {
        NativeAccess.open();
    }

    private static final long LIMIT_NS = 60_000_000_000L;
    private static final int LENGTH = 64;

    /** Opens a transport of the provider. */
    protected abstract Transport open(TransportContext context);

    /** A transport with faults, checked, and a plain one, connected. */
    private final class Pair implements AutoCloseable {
        private final List<Throwable> violations = new ArrayList<>();
        private final List<Object> events = new ArrayList<>();
        private final ContractNode a;
        private final ContractNode b;
        private final RegisteredRegion local;
        private final RegisteredRegion remote;
        private long connection;
        private int accepted;
        private long sentByA;
        private long sentByB;

        Pair(FaultOptions options) {
            TransportContext context =
                    new TransportContext()
                            .job("faults-" + ProcessHandle.current().pid())
                            .receiveSlotCount(64)
                            .outstandingMax(64)
                            .connectionsMax(4)
                            .errorHandler(violations::add);
            Transport faulty = new FaultyTransport(open(context), options);
            a = new ContractNode(new CheckingTransport(faulty, violations::add));
            b = new ContractNode(open(context));
            a.hook = events::add;
            local = a.allocate(LENGTH);
            remote = b.allocate(LENGTH);
            b.transport.listen();
            while (connection <= 0) {
                connection = a.connect(b.transport.uri(), 1);
            }
            pump(() -> a.lives.size() == 1 && b.lives.size() == 1);
        }

        private void pump(BooleanSupplier condition) {
            long start = System.nanoTime();
            while (!condition.getAsBoolean()) {
                a.poll();
                b.poll();
                assertThat(System.nanoTime() - start).as("ns waited").isLessThan(LIMIT_NS);
            }
        }

        /** Random operations of one side, and numbered messages of the other. */
        private void traffic(long seed, int count) {
            Random random = new Random(seed);
            RemoteDescriptor d = ContractFixture.describe(remote);
            UnsafeBuffer number = new UnsafeBuffer(remote.buffer(0, Long.BYTES));
            Transport t = a.transport;
            for (int i = 0; i < count; i++) {
                int kind = random.nextInt(4);
                int answer =
                        switch (kind) {
                            case 0 -> t.put(connection, local, 8, d, 8, 56, i, 0);
                            case 1 -> t.get(connection, local, 8, d, 8, 56, i, 0);
                            case 2 -> t.fetchAdd(connection, d, 16, 1, i, 0);
                            default -> t.send(connection, local, 0, LENGTH, i, 0);
                        };
                accepted += answer == Transport.ACCEPTED ? 1 : 0;
                sentByA += answer == Transport.ACCEPTED && kind == 3 ? 1 : 0;
                number.putLong(0, sentByB);
                long theirs = b.lives.get(0).connection();
                if (b.transport.send(theirs, remote, 0, Long.BYTES, i, 0) == Transport.ACCEPTED) {
                    sentByB++;
                }
                a.poll();
                b.poll();
            }
            pump(() -> a.completions.size() == accepted);
        }

        /** Messages arrive in order, as many as there may be. */
        private void checkMessages() {
            long expected = 0;
            for (ContractNode.Message message : a.messages) {
                assertThat(new UnsafeBuffer(message.bytes()).getLong(0)).isEqualTo(expected++);
            }
            assertThat(expected).isLessThanOrEqualTo(sentByB);
        }

        @Override
        public void close() {
            a.close();
            b.close();
            assertThat(violations).isEmpty();
        }
    }

    @Test
    public void shouldKeepTheContractWhenEventsAreLateAndCallsAreRefused() {
        for (long seed = 1; seed <= 10; seed++) {
            FaultOptions options =
                    FaultOptions.none(seed).backPressure(0.3).delay(0.5, 9).spuriousWakeup(0.5);
            try (Pair p = new Pair(options)) {
                p.traffic(seed, 300);
                p.pump(() -> p.a.messages.size() == p.sentByB && p.b.messages.size() == p.sentByA);
                p.checkMessages();
                assertThat(p.accepted).as("seed %d", seed).isBetween(1, 280);
                assertThat(p.a.completions).allMatch(c -> c.status() == Status.OK);
                assertThat(p.a.completions.stream().map(Completion::context).toList())
                        .as("seed %d: each once", seed)
                        .doesNotHaveDuplicates();
            }
        }
    }

    @Test
    public void shouldReportTheLossOnceAfterEveryCompletionWhenAPeerDies() {
        for (long step = 1; step <= 40; step += 3) {
            FaultOptions options = FaultOptions.none(step).delay(0.6, 12).peerDeath(step);
            try (Pair p = new Pair(options)) {
                p.traffic(step, 60);
                p.pump(() -> p.a.lives.size() == 2 && p.b.lives.size() == 2);
                p.checkMessages();
                assertThat(p.a.lives)
                        .as("step %d", step)
                        .extracting(Life::what)
                        .containsExactly("connected", "lost");
                assertThat(p.events.indexOf(p.a.lives.get(1))).isEqualTo(p.events.size() - 1);
                assertThat(p.b.lives.get(1).what()).isEqualTo("disconnected");
                assertThat(p.accepted).as("step %d", step).isLessThan((int) step);
                assertThat(p.a.completions)
                        .allMatch(c -> c.status() == Status.OK || c.status() == Status.PEER_DEAD);
            }
        }
    }
}
