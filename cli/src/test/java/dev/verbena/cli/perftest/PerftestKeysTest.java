package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.verbs.Gid;
import dev.verbena.verbs.QueuePairAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What perftest's programs tell each other, and what strangers might. */
@Timeout(60)
class PerftestKeysTest {
    private static final Gid GID = Gid.parse("00000000000000000000ffff0a630001");
    private static final PerftestKeys KEYS =
            new PerftestKeys(0, 16, 0x17, 0xabcdef, 0x80001234, 0xffff_8000_1234_5000L, GID, 0);

    private static byte[] ascii(String text, int length) {
        return Arrays.copyOf(text.getBytes(StandardCharsets.ISO_8859_1), length);
    }

    @Test
    void shouldBeOneLineOfHexadecimalFields() {
        String line =
                "0000:0010:000017:abcdef:80001234:ffff800012345000:"
                        + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:63:00:01:00000000:";
        assertThat(KEYS.bytes()).isEqualTo(ascii(line, 108));
        PerftestKeys without = new PerftestKeys(5, 1, 2, 3, 4, 6, null, 7);
        String shortLine = "0005:0001:000002:000003:00000004:0000000000000006:00000007";
        assertThat(without.bytes()).isEqualTo(ascii(shortLine, 59));
    }

    @Test
    void shouldBeReadAsTheyWereWritten() {
        assertThat(PerftestKeys.parse(KEYS.bytes(), true)).isEqualTo(KEYS);
        PerftestKeys without = new PerftestKeys(0xffff, 1, 2, 3, -1, -1, null, -7);
        assertThat(PerftestKeys.parse(without.bytes(), false)).isEqualTo(without);
        assertThat(KEYS.target()).isEqualTo(new QueuePairAddress(0x17, 0xabcdef, 0, GID));
    }

    @Test
    void shouldRefuseWhatIsNoKeys() {
        String good = new String(KEYS.bytes(), 0, 107, StandardCharsets.US_ASCII);
        String[] bad = {
            "",
            ":",
            good.substring(1) + "::",
            good.replace(":ff:", ":fg:"),
            good.replace("abcdef", "abcde-"),
            good.replace("0010", "+010"),
            "1" + good,
            good.replace("000017", "1000017"),
            good + "00:",
            good.substring(0, good.length() - 1),
            good.replace("80001234:", "80001234::"),
            "\u0000" + good,
        };
        for (String line : bad) {
            assertThatThrownBy(() -> PerftestKeys.parse(ascii(line, 108), true))
                    .as(line)
                    .isInstanceOf(Messages.Failure.class)
                    .hasMessageContaining("does not speak as perftest does");
        }
        assertThatThrownBy(() -> PerftestKeys.parse(KEYS.bytes(), false))
                .isInstanceOf(Messages.Failure.class)
                .hasMessageContaining("-x");
    }

    @Test
    void shouldEitherReadOrRefuseAnyBytes() {
        long seed = 4711;
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = KEYS.bytes();
            for (int damage = 0; damage <= i % 5; damage++) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                PerftestKeys keys = PerftestKeys.parse(bytes, true);
                assertThat(keys.target().number()).isBetween(0, 0xffffff);
            } catch (Messages.Failure e) {
                assertThat(e).hasMessageMatching("[ -~]+");
            }
        }
    }

    @Test
    void shouldHaveAFormForQueuePairs() {
        Gid gid = Gid.of(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
        PerftestKeys keys = new PerftestKeys(7, 16, 0x123456, 0xabcdef, 0x89abcdef, -2, gid, 5);
        byte[] bytes = keys.structure();
        assertThat(bytes)
                .hasSize(PerftestKeys.STRUCTURE_LENGTH)
                .startsWith(0, 0, 0, 7, 0, 0, 0, 16, 0, 0x12, 0x34, 0x56);
        assertThat(bytes[31]).isEqualTo((byte) -2);
        assertThat(bytes[47]).isEqualTo((byte) 15);
        assertThat(PerftestKeys.parseStructure(bytes)).isEqualTo(keys);
        for (int at : new int[] {0, 4, 8, 12}) {
            byte[] damaged = bytes.clone();
            damaged[at] = 1;
            assertThatThrownBy(() -> PerftestKeys.parseStructure(damaged))
                    .isInstanceOf(Messages.Failure.class)
                    .hasMessageContaining("too large");
        }
    }
}
