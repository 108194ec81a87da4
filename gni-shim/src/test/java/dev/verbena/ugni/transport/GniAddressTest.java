package dev.verbena.ugni.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of the form that the Nessie paper has, with an incarnation. */
class GniAddressTest {
    /** Longest address that a control record of DART holds. */
    private static final int ADDRESS_MAX = 80;

    @Test
    void shouldReadTheFormOfTheNessiePaper() {
        GniAddress address = GniAddress.of(URI.create("gni://nid00042:4711/?ptag=77&cookie=65536"));
        assertThat(address).isEqualTo(new GniAddress("nid00042", 4711, "", 77, 65536, 0));
    }

    @Test
    void shouldReadHexadecimalNumbersAndALabel() {
        GniAddress address =
                GniAddress.of(URI.create("gni://localhost:1/x.y?ptag=0x4d&cookie=0xffffffff"));
        assertThat(address).isEqualTo(new GniAddress("localhost", 1, "x.y", 77, 4294967295L, 0));
        assertThat(GniAddress.of(URI.create("gni://h:9")).ptag()).isEqualTo(-1);
    }

    @Test
    void shouldGiveBackWhatItWasMadeFrom() {
        GniAddress longest = new GniAddress("localhost", 65535, "", 255, 4294967295L, -1);
        assertThat(GniAddress.of(longest.uri())).isEqualTo(longest);
        assertThat(longest.uri().toString().length()).isLessThanOrEqualTo(ADDRESS_MAX);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "shm://job/name",
                "gni://h/",
                "gni://h:0/",
                "gni://h:65536/",
                "gni://h:1/?ptag=256",
                "gni://h:1/?ptag=x",
                "gni://h:1/?cookie=4294967296",
                "gni://h:1/?incarnation=11112222333344445",
                "gni://h:1/?other=1",
                "gni://h:1/a/b"
            })
    void shouldNameTheFormWhenAnAddressDoesNotFit(String text) {
        assertThatThrownBy(() -> GniAddress.of(URI.create(text)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gni://host:port/name?ptag=n");
    }
}
