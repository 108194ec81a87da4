package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of {@code ofi://}. */
@Timeout(20)
class OfiAddressTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ofi://192.0.2.7:4711/?provider=tcp&incarnation=1f",
                "ofi://[fd00:0:0:0:0:0:0:2]:65535/name?provider=verbs",
                "ofi://local:0/?provider=efa&endpoint=0a0b0c&incarnation=1"
            })
    void shouldComeBackFromTheNameOfItsEndpoint(String text) throws UnknownHostException {
        OfiAddress address = OfiAddress.of(URI.create(text));
        assertThat(address.uri().toString()).isEqualTo(text);
        OfiAddress again =
                OfiAddress.of(
                        address.endpointName(),
                        address.port() != 0,
                        address.name(),
                        address.provider(),
                        address.incarnation());
        assertThat(again.uri().toString()).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ofi://host/",
                "ofi://host:0/",
                "ofi://host:65536/",
                "ofi://host:1/a/b",
                "ofi://host:1/?provider=tcp&incarnation=xyz",
                "ofi://host:1/?endpoint=0",
                "ofi://host:1/?nonsense=1",
                "shm://host:1/"
            })
    void shouldRefuseWhatIsNoAddress(String text) {
        assertThatThrownBy(() -> OfiAddress.of(URI.create(text)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(text);
    }

    @Test
    void shouldSayWhichHostHasNoAddress() {
        OfiAddress address = OfiAddress.of(URI.create("ofi://no-such-host.invalid:1/"));
        assertThatThrownBy(address::endpointName).isInstanceOf(UnknownHostException.class);
    }
}
