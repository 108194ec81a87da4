package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.shm.ShmTesting;
import dev.verbena.transport.ContractNode.Completion;
import dev.verbena.transport.ContractNode.Life;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Faults happen, and only such as the contract allows: the checking decorator sits on top. */
@Timeout(60)
class FaultyTransportTest {
    /** A faulty transport and a plain one, connected. */
    private static final class Pair implements AutoCloseable {
        final List<Throwable> violations = new ArrayList<>();
        final FaultyTransport faulty;
        final ContractNode a;
        final ContractNode b;
        final List<Object> events = new ArrayList<>();
        long connection;

        Pair(FaultOptions options) {
            TransportContext context = ShmTesting.context("faulty").outstandingMax(64);
            faulty = new FaultyTransport(Transports.open("shm", context), options);
            a = new ContractNode(new CheckingTransport(faulty, violations::add));
            b = new ContractNode(ShmTesting.open("peer"));
            a.hook = events::add;
            b.transport.listen();
            while (connection <= 0) {
                connection = a.connect(b.transport.uri(), 1);
            }
            a.pollUntilBothLive(b);
        }

        void pollBoth(int times) {
            for (int i = 0; i < times; i++) {
                a.poll();
                b.poll();
            }
        }

        @Override
        public void close() {
            pollBoth(50);
            a.close();
            b.close();
            assertThat(violations).isEmpty();
        }
    }

    /** Random traffic both ways; what was accepted. */
    private static int traffic(Pair p, long seed, int count) {
        Random random = new Random(seed);
        RegisteredRegion local = p.a.allocate(4096);
        RegisteredRegion remote = p.b.allocate(4096);
        RemoteDescriptor d = ContractFixture.describe(remote);
        int accepted = 0;
        long numberFromB = 0;
        for (int i = 0; i < count; i++) {
            int answer =
                    switch (random.nextInt(3)) {
                        case 0 -> p.a.transport.put(p.connection, local, 0, d, 0, 64, i, 0);
                        case 1 -> p.a.transport.get(p.connection, local, 0, d, 0, 64, i, 0);
                        default -> p.a.transport.send(p.connection, local, 0, 64, i, 0);
                    };
            accepted += answer == Transport.ACCEPTED ? 1 : 0;
            new UnsafeBuffer(remote.buffer(0, 8)).putLong(0, numberFromB);
            if (!p.b.lives.isEmpty()
                    && p.b.transport.send(p.b.lives.get(0).connection(), remote, 0, 8, i, 0)
                            == Transport.ACCEPTED) {
                numberFromB++;
            }
            p.pollBoth(1);
        }
        p.pollBoth(60);
        long expected = 0;
        for (ContractNode.Message message : p.a.messages) {
            assertThat(new UnsafeBuffer(message.bytes()).getLong(0)).isEqualTo(expected++);
        }
        assertThat(p.a.completions).hasSize(accepted);
        return accepted;
    }

    @Test
    void shouldChangeNothingWhenThereIsNoFault() {
        try (Pair p = new Pair(FaultOptions.none(1))) {
            assertThat(traffic(p, 1, 500)).isEqualTo(500);
            assertThat(p.a.messages).hasSize(500);
        }
    }

    @Test
    void shouldKeepTheContractWhenEventsAreLateAndCallsAreRefused() {
        for (long seed = 1; seed <= 40; seed++) {
            FaultOptions options =
                    FaultOptions.none(seed).backPressure(0.3).delay(0.5, 9).spuriousWakeup(0.5);
            try (Pair p = new Pair(options)) {
                int accepted = traffic(p, seed, 300);
                assertThat(accepted).as("seed %d", seed).isBetween(100, 280);
                List<Long> contexts = p.a.completions.stream().map(Completion::context).toList();
                assertThat(contexts.stream().sorted().toList())
                        .as("seed %d: completions overtake each other", seed)
                        .isNotEqualTo(contexts);
            }
        }
    }

    @Test
    void shouldGiveTheSameFaultsWhenTheSeedIsTheSame() {
        List<List<Object>> runs = new ArrayList<>();
        for (long seed : new long[] {5, 5, 6}) {
            try (Pair p = new Pair(FaultOptions.none(seed).backPressure(0.2).delay(0.5, 9))) {
                traffic(p, 3, 200);
                runs.add(
                        p.events.stream()
                                .filter(Completion.class::isInstance)
                                .map(e -> (Object) ((Completion) e).context())
                                .toList());
            }
        }
        assertThat(runs.get(0)).isEqualTo(runs.get(1)).isNotEqualTo(runs.get(2));
    }

    @Test
    void shouldReportTheLossOnceAfterEveryCompletionWhenAPeerDies() {
        for (long step = 1; step <= 60; step++) {
            FaultOptions options = FaultOptions.none(step).delay(0.6, 12).peerDeath(step);
            try (Pair p = new Pair(options)) {
                int accepted = traffic(p, step, 100);
                assertThat(accepted).as("step %d", step).isEqualTo((int) step - 1);
                List<Life> lives = p.a.lives;
                assertThat(lives).extracting(Life::what).containsExactly("connected", "lost");
                assertThat(p.events.indexOf(lives.get(1))).isEqualTo(p.events.size() - 1);
                assertThat(p.b.count("disconnected", p.b.lives.get(0).connection())).isEqualTo(1);
                assertThat(p.a.completions)
                        .allMatch(c -> c.status() == Status.OK || c.status() == Status.PEER_DEAD);
            }
        }
    }

    @Test
    void shouldFailRegistrationsAndConnectionsWhenAsked() {
        try (Pair p = new Pair(FaultOptions.none(1).registrationFailure(1))) {
            assertThatThrownBy(() -> p.a.transport.allocate(64, 0))
                    .isInstanceOf(TransportException.class)
                    .hasMessageContaining("seed 1");
        }
        try (Pair p = new Pair(FaultOptions.none(1).connectFailure(1))) {
            assertThat(p.a.lives).extracting(Life::what).containsExactly("failed");
            assertThat(p.a.lives.get(0).status()).isEqualTo(Status.TIMED_OUT);
            p.pollBoth(5);
            assertThat(p.b.hasEnded(p.b.lives.get(0).connection())).isTrue();
        }
        assertThatThrownBy(() -> FaultOptions.none(1).delay(1.5, 1))
                .hasMessageContaining("delayRate 1.5");
    }

    @Test
    void shouldReturnEarlyFromAwaitWhenAsked() {
        try (Pair p = new Pair(FaultOptions.none(1).spuriousWakeup(1))) {
            p.pollBoth(10);
            assertThat(p.a.transport.await(Long.MAX_VALUE / 2)).isTrue();
            assertThat(p.a.poll()).isZero();
        }
    }
}
