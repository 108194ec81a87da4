package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.verbs.Gid;
import dev.verbena.verbs.QueuePairAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What rdma-core's pingpong programs tell each other, and what strangers might. */
@Timeout(60)
class PingPongAddressTest {
    private static final Gid GID = Gid.parse("00000000000000000000ffff0a630001");

    private static byte[] ascii(String text) {
        return Arrays.copyOf(text.getBytes(StandardCharsets.ISO_8859_1), PingPongAddress.LENGTH);
    }

    @Test
    void shouldBeOneLineOfHexadecimalFields() {
        QueuePairAddress address = new QueuePairAddress(0x11, 0xfedcba, 3, GID);
        byte[] bytes = PingPongAddress.bytes(address);
        String line = "0003:000011:fedcba:00000000000000000000ffff0a630001";
        assertThat(bytes).isEqualTo(ascii(line));
        assertThat(PingPongAddress.parse(bytes)).isEqualTo(address);
        QueuePairAddress without = new QueuePairAddress(0x11, 0xfedcba, 0xabcd, null);
        assertThat(PingPongAddress.parse(PingPongAddress.bytes(without))).isEqualTo(without);
    }

    @Test
    void shouldRefuseWhatIsNoAddress() {
        String good = "0003:000011:fedcba:00000000000000000000ffff0a630001";
        String[] bad = {
            "",
            good.replace("fedcba", "fedcbg"),
            good.replace("0003:", "+003:"),
            good.replace("0003:", "0003-"),
            good.substring(1),
            good.toUpperCase(java.util.Locale.ROOT),
            good + "0",
            "\u0000" + good,
        };
        for (String line : bad) {
            assertThatThrownBy(() -> PingPongAddress.parse(ascii(line)))
                    .as(line)
                    .isInstanceOf(Messages.Failure.class)
                    .hasMessageContaining("does not speak as rdma-core's pingpong does");
        }
    }
}
