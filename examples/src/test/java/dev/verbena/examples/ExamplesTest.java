package dev.verbena.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.verbena.portals.PortalsInterface;
import dev.verbena.transport.TransportProvider;
import dev.verbena.transport.Transports;
import dev.verbena.ugni.CommunicationDomain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(30)
class ExamplesTest {
    static Stream<String> schemes() {
        return Transports.providers().stream()
                .filter(TransportProvider::isAvailable)
                .map(TransportProvider::scheme);
    }

    @Test
    void shouldHaveAProviderToRunOn() {
        assertThat(schemes()).contains("shm");
    }

    @ParameterizedTest
    @MethodSource("schemes")
    void shouldPutAndGet(String scheme) throws Exception {
        assertThat(PutGet.run(scheme, "Grüße")).isEqualTo("Grüße");
    }

    @ParameterizedTest
    @MethodSource("schemes")
    void shouldSendAndReceive(String scheme) throws Exception {
        assertThat(SendReceive.ask(scheme, "abc")).isEqualTo("ABC");
    }

    @ParameterizedTest
    @MethodSource("schemes")
    void shouldStageAMessage(String scheme) throws Exception {
        assertThat(DartHello.run(scheme, "hello")).isEqualTo("greeting: hello");
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        try (Stream<Path> left = Files.list(temporary)) {
            assertThat(left).noneMatch(file -> file.toString().contains("dart-hello"));
        }
    }

    @Test
    void shouldSortMessagesIntoAMatchList() {
        assumeThat(PortalsInterface.unavailabilityCause()).isNull();
        assertThat(PortalsMailbox.run())
                .containsExactly(
                        "PUT_END \"one\" at 0", "UNLINK", "PUT_END \"two\" at 1024", "1 dropped");
    }

    @Test
    void shouldPutAndNotify() {
        assumeThat(CommunicationDomain.unavailabilityCause()).isNull();
        assertThat(UgniNotify.run())
                .containsExactly("the put went well", "instance 2 wrote \"hello\"");
    }

    @Test
    void shouldSimulateARing() {
        assertThat(SimulatedRing.run(64)).isEqualTo("64 processes: 0.5715 us");
    }

    @Test
    void shouldNeedNoEventClassOfTheirOwn() throws IOException {
        Path consumer = Path.of("../ci/consumer/src/main/java/example/Consumer.java");
        assertThat(consumer).content().doesNotContain("TransportHandler");
        try (Stream<Path> files = Files.list(Path.of("src/main/java/dev/verbena/examples"))) {
            assertThat(files.filter(Files::isRegularFile))
                    .allSatisfy(f -> assertThat(f).content().doesNotContain("TransportHandler"));
        }
    }

    @Test
    void shouldStaySmall() throws IOException {
        Path folder = Path.of("src/main/java/dev/verbena/examples");
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(Files.readAllLines(file)).as("%s", file).hasSizeLessThan(150);
            }
        }
    }
}
