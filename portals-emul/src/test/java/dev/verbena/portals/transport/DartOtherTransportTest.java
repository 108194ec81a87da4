package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that was told another transport than the job's is refused, and at once. */
@Timeout(60)
class DartOtherTransportTest {
    private static final long LONG_NS = 50_000_000_000L;
    private static final long AT_ONCE_NS = 10_000_000_000L;

    @TempDir private Path folder;

    private DartServer.Context server(RealEnvironment environment) {
        return new DartServer.Context()
                .environment(environment)
                .configurationFile(folder.resolve("job.conf").toString())
                .discard(true)
                .bootTimeoutNs(LONG_NS);
    }

    private static void isRefused(Throwable e) {
        assertThat(((DartException) e).code()).isEqualTo(DartException.Code.INCOMPATIBLE);
        assertThat(e)
                .hasMessageContaining("is of transport 'portals', but this process uses 'shm'")
                .hasMessageContaining("Name no transport here, or 'portals'");
    }

    @Test
    void shouldRefuseAtOnceWhoWasToldAnotherTransport() {
        try (RealEnvironment environment = RealEnvironment.builder().errorHandler(e -> {}).build();
                DartServer master =
                        DartServer.launch(server(environment).master().transport("portals"))) {
            master.awaitReady(LONG_NS);
            long begin = System.nanoTime();
            DartClient.Context context =
                    new DartClient.Context()
                            .environment(environment)
                            .configurationFile(folder.resolve("job.conf").toString())
                            .transport("shm")
                            .bootTimeoutNs(LONG_NS);
            assertThatThrownBy(() -> DartClient.connect(context))
                    .satisfies(DartOtherTransportTest::isRefused);
            try (DartServer slave =
                    DartServer.launch(server(environment).slave().transport("shm"))) {
                assertThatThrownBy(() -> slave.awaitReady(LONG_NS))
                        .satisfies(DartOtherTransportTest::isRefused);
            }
            assertThat(System.nanoTime() - begin).isLessThan(AT_ONCE_NS);
        }
    }

    @Test
    void shouldOpenTheSameTransportInEveryMasterThatWasToldNone() {
        try (RealEnvironment environment = RealEnvironment.builder().errorHandler(e -> {}).build();
                DartServer master = DartServer.launch(server(environment).master())) {
            master.awaitReady(LONG_NS);
            assertThat(master.uri().getScheme()).isEqualTo(DartServer.TRANSPORT_DEFAULT);
        }
    }
}
