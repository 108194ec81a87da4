package dev.verbena.auto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class AutoChoiceTest {
    private static final String BOTH =
            "auto://192.0.2.2:4711/a?h=0badcafe&incarnation=2fb929b31eda6de9";

    @ParameterizedTest
    @ValueSource(
            strings = {
                BOTH,
                "auto://local:0/a?h=0badcafe&incarnation=1",
                "auto://[2001:db8::1]:1/a",
                "auto://local:0/a?o=efa:0011&incarnation=1",
                "auto://192.0.2.2:4711/a?h=0badcafe&use=ofi"
            })
    void shouldWriteAnAddressAsItIsRead(String text) {
        assertThat(AutoAddress.of(URI.create(text)).uri()).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "auto://192.0.2.2/a",
                "auto://192.0.2.2:4711/",
                "auto://192.0.2.2:4711/a?h=12",
                "auto://192.0.2.2:4711/a?use=sockets",
                "auto://192.0.2.2:4711/a?colour=green",
                "shm://job/a"
            })
    void shouldNameTheFormOfAnAddressThatDoesNotFit(String text) {
        assertThatThrownBy(() -> AutoAddress.of(URI.create(text)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(text)
                .hasMessageContaining(AutoAddress.FORM);
    }

    @Test
    void shouldGiveEachPartItsOwnAddress() {
        AutoAddress both = AutoAddress.of(URI.create(BOTH));
        assertThat(both.shmUri("job")).hasToString("shm://job/a?incarnation=2fb929b31eda6de9");
        assertThat(both.ofiUri())
                .hasToString("ofi://192.0.2.2:4711/a?provider=tcp&incarnation=2fb929b31eda6de9");
        URI efa = URI.create("ofi://local:0/a?provider=efa&endpoint=0011&incarnation=1");
        AutoAddress plain = AutoAddress.of(URI.create("auto://local:0/a?incarnation=1"));
        assertThat(plain.withOfi(efa).ofiUri()).isEqualTo(efa);
    }

    private static Choice choice(String mark, String... schemes) {
        return new Choice(List.of(schemes), Map.of("verbs", "no RDMA device here"), mark, "job");
    }

    @Test
    void shouldChooseSharedMemoryWhereTheMarkIsTheSameAndSayWhatWouldBeFaster() {
        AutoAddress peer = AutoAddress.of(URI.create(BOTH));
        Choice here = choice("0badcafe", "shm", "ofi");
        assertThat(here.of(peer)).isZero();
        assertThat(here.isFastest(0, peer)).isTrue();
        assertThat(here.why(0, peer)).isEqualTo("shm, the same shared memory");
        Choice elsewhere = choice("00000001", "shm", "ofi");
        assertThat(elsewhere.of(peer)).isEqualTo(1);
        assertThat(elsewhere.why(1, peer))
                .isEqualTo(
                        "ofi, other shared memory; faster would be verbs, which is not here: no"
                                + " RDMA device here");
        AutoAddress asked = AutoAddress.of(URI.create(BOTH + "&use=ofi"));
        assertThat(here.of(asked)).isEqualTo(1);
        assertThat(here.why(1, asked))
                .isEqualTo("ofi, the address asks for it; faster would be shm");
    }

    @Test
    void shouldSayWhatEachHasWhereThereIsNoWay() {
        AutoAddress peer = AutoAddress.of(URI.create("auto://local:0/a?h=0badcafe"));
        assertThatThrownBy(() -> choice("00000001", "shm", "ofi").of(peer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("here is [shm, ofi]")
                .hasMessageContaining("there is shm of host mark 0badcafe, no ofi");
    }

    private static TransportContext context(Path directory) {
        return new TransportContext()
                .job("auto-choice")
                .option("auto.use", "shm")
                .option("shm.directory", directory.toString());
    }

    @Test
    void shouldHaveOneMarkInOneSharedMemory(@TempDir Path first, @TempDir Path second) {
        try (Transport a = Transports.open("auto", context(first));
                Transport b = Transports.open("auto", context(first));
                Transport c = Transports.open("auto", context(second))) {
            String mark = AutoAddress.of(a.uri()).mark();
            assertThat(mark).hasSize(8);
            assertThat(AutoAddress.of(b.uri()).mark()).isEqualTo(mark);
            assertThat(AutoAddress.of(c.uri()).mark()).isNotEqualTo(mark);
            assertThat(a.explain()).contains("host mark " + mark).contains("Without ofi: auto.use");
        }
    }

    @Test
    void shouldRefuseOptionsThatNoPartHas() {
        for (String[] option : new String[][] {{"colour", "green"}, {"auto.use", "shm,tcp"}}) {
            TransportContext context = new TransportContext().option(option[0], option[1]);
            assertThatThrownBy(() -> Transports.open("auto", context))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(option[0]);
        }
    }
}
