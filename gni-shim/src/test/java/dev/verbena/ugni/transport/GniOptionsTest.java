package dev.verbena.ugni.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.Transports;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a transport over uGNI is opened with. */
class GniOptionsTest {
    private static TransportContext context() {
        return new TransportContext().job("options-" + ProcessHandle.current().pid());
    }

    private static Transport open(TransportContext context) {
        return Transports.open("gni", context);
    }

    @ParameterizedTest
    @CsvSource({
        "gni.ptag,256",
        "gni.ptag,seven",
        "gni.cookie,4294967296",
        "gni.cookie,-1",
        "gni.fmaMax,-1",
        "gni.fmaMax,all",
        "gni.colour,red"
    })
    void shouldRefuseOptionsByName(String option, String value) {
        assertThatThrownBy(() -> open(context().option(option, value)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(option);
    }

    @Test
    void shouldTakeTagAndCookieFromTheLauncherUnlessTold() {
        Map<String, String> launcher = Map.of("PMI_GNI_PTAG", "77", "PMI_GNI_COOKIE", "1234,5");
        GniResourcesContext told = GniTransportProvider.cardContext(context(), launcher);
        assertThat(told.ptag()).isEqualTo(77);
        assertThat(told.cookie()).isEqualTo(1234);
        TransportContext own = context().option("gni.ptag", "9").option("gni.cookie", "0x10");
        GniResourcesContext chosen = GniTransportProvider.cardContext(own, launcher);
        assertThat(chosen.ptag()).isEqualTo(9);
        assertThat(chosen.cookie()).isEqualTo(16);
    }

    @Test
    void shouldMakeTagAndCookieFromTheJob() {
        GniResourcesContext one = GniTransportProvider.cardContext(context(), Map.of());
        GniResourcesContext same = GniTransportProvider.cardContext(context(), Map.of());
        GniResourcesContext other =
                GniTransportProvider.cardContext(context().job("another"), Map.of());
        assertThat(one).isEqualTo(same);
        assertThat(one.ptag()).isBetween(3, 253);
        assertThat(other.cookie()).isNotEqualTo(one.cookie());
    }

    @Test
    void shouldTakeThePortThatItsNameIs() {
        try (Transport transport = open(context().name("4711"))) {
            assertThat(transport.uri().getPort()).isEqualTo(4711);
            assertThatThrownBy(() -> open(context().name("4711")))
                    .isInstanceOf(TransportException.class)
                    .hasMessageContaining("instance 4711");
        }
        open(context().name("4711")).close();
        try (Transport label = open(context().name("label"))) {
            assertThat(label.uri().getPort()).isPositive();
        }
    }
}
