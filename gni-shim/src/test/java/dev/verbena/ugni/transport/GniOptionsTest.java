package dev.verbena.ugni.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.Transports;
import java.util.HashMap;
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

    private static long fmaMax(String mode, String crossover) {
        Map<String, String> environment = new HashMap<>();
        environment.computeIfAbsent(TriosSettings.MODE, key -> mode);
        environment.computeIfAbsent(TriosSettings.CROSSOVER, key -> crossover);
        return GniTransportProvider.fmaMax(context(), environment);
    }

    @ParameterizedTest
    @CsvSource({
        ",,4096",
        ",100,100",
        "RDMA_CROSSOVER,,4096",
        "RDMA_CROSSOVER,0,0",
        "RDMA_FMA,100,1073741824",
        "RDMA_BTE,100,0",
        "RDMA_MIXED,100,0"
    })
    void shouldKnowTheModesOfTrios(String mode, String crossover, long max) {
        assertThat(fmaMax(mode, crossover)).isEqualTo(max);
    }

    @Test
    void shouldPreferItsOptionToTheVariablesOfTrios() {
        TransportContext own = context().option("gni.fmaMax", "8");
        Map<String, String> environment = Map.of(TriosSettings.MODE, "RDMA_BTE");
        assertThat(GniTransportProvider.fmaMax(own, environment)).isEqualTo(8);
    }

    @Test
    void shouldRefuseUnknownValuesOfTriosVariables() {
        assertThatThrownBy(() -> fmaMax("rdma_fma", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("TRIOS_NNTI_RDMA_MODE=rdma_fma")
                .hasMessageContaining("RDMA_MIXED");
        assertThatThrownBy(() -> fmaMax(null, "4k"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("TRIOS_NNTI_FMA_BTE_CROSSOVER_SIZE=4k");
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
