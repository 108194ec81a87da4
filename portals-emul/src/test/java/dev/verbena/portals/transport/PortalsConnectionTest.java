package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class PortalsConnectionTest {
    private static PortalsConnection sent(int sent, int taken) {
        PortalsConnection c = new PortalsConnection(0);
        c.agree(1, 16, 16, 64);
        for (int i = 0; i < sent; i++) {
            c.onMessageSent();
        }
        assertThat(c.onTakenByPeer(taken)).isTrue();
        return c;
    }

    @Test
    void shouldCountCreditsAcrossTheWrapOfSixteenBits() {
        PortalsConnection c = sent(0x10005, 0xFFFE);
        assertThat(c.onTaken(3)).isTrue();
        assertThat(c.takenByPeer).isEqualTo(0x10003);
        assertThat(c.credits - (c.sentCount - c.takenByPeer)).isEqualTo(14);
        assertThat(c.hasCredit()).isTrue();
    }

    @Test
    void shouldIgnoreOldNewsAndRefuseWhatCannotBe() {
        PortalsConnection c = sent(20, 12);
        assertThat(c.onTaken(10)).isTrue();
        assertThat(c.takenByPeer).isEqualTo(12);
        assertThat(c.onTaken(21)).isFalse();
        assertThat(c.takenByPeer).isEqualTo(12);
    }
}
