package dev.verbena.examples.pic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.verbena.agent.JobIdentity;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportProvider;
import dev.verbena.transport.Transports;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class TransportExchangeTest {
    private static final long TIMEOUT_NS = 20_000_000_000L;
    private static final PicParameters SMALL =
            new PicParameters(20_000, 64, 10.2604, 0.2, 1.0, 0.02, 0.01, 1);

    @TempDir private Path folder;

    static Stream<String> schemes() {
        return Transports.providers().stream()
                .filter(TransportProvider::isAvailable)
                .map(TransportProvider::scheme);
    }

    private static JobIdentity identity(int rank, int size) {
        return JobIdentity.discover(
                Map.of(),
                Map.of(
                        "verbena.app", "compute",
                        "verbena.rank", Integer.toString(rank),
                        "verbena.size", Integer.toString(size)));
    }

    private static Transport open(String scheme) {
        String job = "exchange-test-" + ProcessHandle.current().pid();
        return Transports.open(scheme, new TransportContext().job(job));
    }

    @ParameterizedTest
    @MethodSource("schemes")
    void shouldSumOverAllProcessesWhateverTheirTiming(String scheme) throws Exception {
        int count = 4;
        List<Integer> done =
                Threads.runAll(
                        count,
                        rank ->
                                () -> {
                                    SplittableRandom random = new SplittableRandom(rank);
                                    long[] values = new long[5];
                                    int rounds = 0;
                                    try (Transport transport = open(scheme);
                                            TransportExchange exchange =
                                                    TransportExchange.connect(
                                                            transport,
                                                            identity(rank, count),
                                                            folder,
                                                            5,
                                                            TIMEOUT_NS)) {
                                        for (; rounds < 300; rounds++) {
                                            for (int i = 0; i < 5; i++) {
                                                values[i] = (long) rank * 1000 + rounds + i;
                                            }
                                            long spin = random.nextInt(100);
                                            while (spin-- > 0) {
                                                Thread.onSpinWait();
                                            }
                                            exchange.sum(values);
                                            for (int i = 0; i < 5; i++) {
                                                long sum = 6000 + 4L * (rounds + i);
                                                assertThat(values[i]).isEqualTo(sum);
                                            }
                                        }
                                    }
                                    return rounds;
                                });
        assertThat(done).containsExactly(300, 300, 300, 300);
    }

    @ParameterizedTest
    @MethodSource("schemes")
    void shouldGiveTheSameBitsAsOneProcess(String scheme) throws Exception {
        PicSimulation alone = PicSimulation.start(SMALL, 0, 1, PicExchange.ALONE);
        for (int i = 0; i < 20; i++) {
            alone.advance();
        }
        int count = 2;
        List<List<PicSample>> told =
                Threads.runAll(
                        count,
                        rank ->
                                () -> {
                                    try (Transport transport = open(scheme);
                                            TransportExchange exchange =
                                                    TransportExchange.connect(
                                                            transport,
                                                            identity(rank, count),
                                                            folder,
                                                            PicSimulation.sharedLength(SMALL),
                                                            TIMEOUT_NS)) {
                                        PicSimulation part =
                                                PicSimulation.start(SMALL, rank, count, exchange);
                                        for (int i = 0; i < 20; i++) {
                                            part.advance();
                                        }
                                        return List.copyOf(part.samples());
                                    }
                                });
        assertThat(told).allMatch(samples -> samples.equals(alone.samples()));
    }

    @ParameterizedTest
    @MethodSource("schemes")
    void shouldNameTheProcessThatDoesNotCome(String scheme) {
        long soon = 300_000_000L;
        assertThatThrownBy(
                        () -> {
                            try (Transport transport = open(scheme)) {
                                TransportExchange.connect(
                                        transport, identity(0, 3), folder, 5, soon);
                            }
                        })
                .hasMessageEndingWith("2 of 3 processes did not come within 300 ms: ranks {1, 2}");
    }

    @ParameterizedTest
    @MethodSource("schemes")
    void shouldNameTheProcessThatWasLost(String scheme) throws Exception {
        List<String> messages =
                Threads.runAll(
                        2,
                        rank ->
                                () -> {
                                    try (Transport transport = open(scheme);
                                            TransportExchange exchange =
                                                    TransportExchange.connect(
                                                            transport,
                                                            identity(rank, 2),
                                                            folder,
                                                            5,
                                                            TIMEOUT_NS)) {
                                        exchange.sum(new long[5]);
                                        if (rank == 1) {
                                            return "ended early";
                                        }
                                        exchange.sum(new long[5]);
                                        return "went on";
                                    } catch (IllegalStateException e) {
                                        return e.getMessage();
                                    }
                                });
        assumeThat(messages.get(1)).isEqualTo("ended early");
        assertThat(messages.get(0)).startsWith("compute process 0 lost compute process 1");
    }
}
