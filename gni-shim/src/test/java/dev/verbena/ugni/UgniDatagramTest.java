package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Datagrams through the Java objects. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class UgniDatagramTest extends UgniPair {
    private final UnsafeBuffer bytes = new UnsafeBuffer(new byte[256]);

    private UnsafeBuffer text(String text) {
        bytes.setMemory(0, bytes.capacity(), (byte) 0);
        bytes.putBytes(0, text.getBytes(StandardCharsets.US_ASCII));
        return bytes;
    }

    private void expect(String text) {
        assertThat(datagram.state()).isEqualTo(DatagramState.COMPLETED);
        assertThat(datagram.bytes().getStringWithoutLengthAscii(0, text.length())).isEqualTo(text);
    }

    @Test
    @Tag("ugni-79")
    @Tag("ugni-85")
    void shouldExchangeBytesOnceBothHavePosted() {
        endpoint.postData(text("from here"), 0, 9);
        assertThat(endpoint.testData(datagram)).isEqualTo(DatagramState.PENDING);
        assertThat(endpoint.isIdle()).isFalse();
        back.postData(text("from there"), 0, 10);
        assertThat(endpoint.awaitData(1000, datagram)).isEqualTo(DatagramState.COMPLETED);
        expect("from there");
        assertThat(datagram.instance()).isEqualTo(2);
        assertThat(back.awaitData(1000, datagram)).isEqualTo(DatagramState.COMPLETED);
        expect("from here");
        assertThat(back.testData(datagram)).isEqualTo(DatagramState.NONE);
    }

    @Test
    @Tag("ugni-80")
    @Tag("ugni-86")
    void shouldTakeWhoeverComesWhereNoPeerIsNamed() {
        try (Endpoint open = target.endpoint(null)) {
            open.postData(7, text("whoever"), 0, 7);
            assertThat(target.probeDataById(datagram)).isFalse();
            endpoint.postData(text("me"), 0, 2);
            assertThat(target.awaitDataById(1000, datagram)).isTrue();
            assertThat(datagram.id()).isEqualTo(7);
            assertThat(target.probeDataById(datagram)).isTrue();
            assertThat(open.testData(7, datagram)).isEqualTo(DatagramState.COMPLETED);
            expect("me");
            assertThat(datagram.address()).isEqualTo(initiator.address());
            assertThat(datagram.instance()).isEqualTo(1);
            assertThat(target.probeDataById(datagram)).isFalse();
            assertThat(endpoint.awaitData(1000, datagram)).isEqualTo(DatagramState.COMPLETED);
            expect("whoever");
        }
    }

    @Test
    @Tag("ugni-81")
    @Tag("ugni-82")
    @Tag("ugni-83")
    void shouldRefuseWhatDoesNotFit() {
        assertThatThrownBy(() -> endpoint.postData(bytes, 0, 129))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> endpoint.postData(bytes, 250, 100))
                .isInstanceOf(IndexOutOfBoundsException.class);
        endpoint.postData(bytes, 0, 128);
        assertThatThrownBy(() -> endpoint.postData(bytes, 0, 8))
                .hasMessageContaining("ERROR_RESOURCE");
        try (Endpoint open = initiator.endpoint(null)) {
            assertThatThrownBy(() -> open.postData(bytes, 0, 8))
                    .hasMessageContaining("INVALID_PARAM");
            assertThatThrownBy(() -> open.postData(-1, bytes, 0, 8))
                    .hasMessageContaining("INVALID_PARAM");
        }
    }

    @Test
    @Tag("ugni-87")
    void shouldServeOpenDatagramsInTheirOrder() {
        try (Endpoint open = target.endpoint(null);
                Endpoint second = initiatorOf(3)) {
            open.postData(1, text("first"), 0, 5);
            open.postData(2, text("second"), 0, 6);
            endpoint.postData(text("a"), 0, 1);
            second.postData(text("b"), 0, 1);
            assertThat(open.awaitData(1, 1000, datagram)).isEqualTo(DatagramState.COMPLETED);
            expect("a");
            assertThat(open.awaitData(2, 1000, datagram)).isEqualTo(DatagramState.COMPLETED);
            expect("b");
            second.owner.domain().closeAll();
        }
    }

    private Endpoint initiatorOf(int instance) {
        CommunicationDomain third = CommunicationDomain.create(instance, PTAG, cookie, 0);
        return third.attach(0).endpoint(null).bind(target.address(), target.instance());
    }

    @Test
    @Tag("ugni-89")
    @Tag("ugni-90")
    void shouldGiveDatagramsUp() {
        try (Endpoint open = target.endpoint(null)) {
            open.postData(4, bytes, 0, 8);
            assertThat(open.cancelData(4)).isTrue();
            assertThat(open.testData(4, datagram)).isEqualTo(DatagramState.NONE);
            assertThat(open.cancelData(4)).isFalse();
        }
        endpoint.postData(bytes, 0, 8);
        assertThat(endpoint.cancelData()).isTrue();
        assertThat(endpoint.testData(datagram)).isEqualTo(DatagramState.TERMINATED);
        endpoint.postData(bytes, 0, 8);
    }

    @Test
    @Tag("ugni-91")
    void shouldStopWaitingInTime() {
        endpoint.postData(5, bytes, 0, 8);
        assertThatThrownBy(() -> endpoint.awaitData(5L, 0, datagram))
                .hasMessageContaining("INVALID_PARAM");
        assertThat(endpoint.awaitData(5L, 50, datagram)).isEqualTo(DatagramState.PENDING);
    }

    @Test
    void shouldForgetDatagramsWithTheirEndpoint() {
        Endpoint open = target.endpoint(null);
        for (int i = 0; i < 100; i++) {
            open.postData(i, bytes, 0, 128);
        }
        open.close();
        endpoint.postData(bytes, 0, 8);
        assertThat(endpoint.testData(datagram)).isEqualTo(DatagramState.PENDING);
        assertThatThrownBy(() -> open.testData(datagram)).hasMessageContaining("closed");
    }
}
