package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.transport.TransportContext;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** Addresses and options, which people write. */
class VerbsAddressTest {
    @Test
    void shouldTakeApartWhatItPutTogether() {
        for (String host : new String[] {"10.99.0.1", "[fe80:0:0:0:0:0:0:1]", "node-17.cluster"}) {
            VerbsAddress address = new VerbsAddress(host, 40_001, "job", "na-me.1", 0x1234abcdL);
            assertThat(VerbsAddress.of(address.uri())).isEqualTo(address);
            assertThat(address.isNamed()).isEqualTo(host.startsWith("node"));
        }
        assertThat(VerbsAddress.of(URI.create("verbs://a:1/j/n")).incarnation()).isZero();
    }

    @Test
    void shouldRefuseWhatIsNoAddress() {
        for (String text :
                new String[] {
                    "shm://a:1/j/n",
                    "verbs://a/j/n",
                    "verbs://a:0/j/n",
                    "verbs://a:65536/j/n",
                    "verbs://a:1/j",
                    "verbs://a:1/j/n/m",
                    "verbs://a:1/j/n?incarnation=",
                    "verbs://a:1/j/n?incarnation=12345678901234567",
                    "verbs://a:1/j/n?other=1",
                    "verbs:///j/n",
                    "verbs://a:1/" + "j".repeat(64) + "/n"
                }) {
            assertThatThrownBy(() -> VerbsAddress.of(URI.create(text)))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("verbs://");
        }
    }

    @Test
    void shouldCheckOptionsByName() {
        VerbsOptions none = VerbsOptions.of(new TransportContext());
        assertThat(none.device()).isEmpty();
        assertThat(none.devicePort()).isEqualTo(1);
        assertThat(none.gid()).isEqualTo(-1);
        VerbsOptions some =
                VerbsOptions.of(
                        new TransportContext()
                                .option("gid", "3")
                                .option("serviceLevel", "15")
                                .option("trafficClass", "255"));
        assertThat(some.gid()).isEqualTo(3);
        assertThat(some.serviceLevel()).isEqualTo(15);
        assertThat(some.trafficClass()).isEqualTo(255);
        String[][] wrong = {
            {"serviceLevel", "16"}, {"gid", "-1"}, {"port", "x"}, {"timeout", "0"}, {"gids", "1"}
        };
        for (String[] option : wrong) {
            assertThatThrownBy(
                            () ->
                                    VerbsOptions.of(
                                            new TransportContext().option(option[0], option[1])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(option[0]);
        }
    }

    @Test
    void shouldTryAboutAsLongAsAPeerMayBeSilent() {
        for (long timeoutNs : new long[] {100_000_000L, 500_000_000L, 4_000_000_000L}) {
            long triesNs = (4096L << VerbsResources.timeoutCode(timeoutNs)) * 7;
            assertThat((double) triesNs / timeoutNs).isBetween(0.8, 1.6);
        }
        assertThat(VerbsResources.timeoutCode(1_000_000L)).isEqualTo(10);
        assertThat(VerbsResources.timeoutCode(Long.MAX_VALUE / 4)).isEqualTo(20);
    }

    @Test
    void shouldNeverGiveAnAddressTwice() {
        long end = 0;
        for (long length : new long[] {1, 4096, (2L << 20) - 1, 2L << 20, 5L << 30, 1, 1}) {
            for (long address : new long[] {0x7f00_0000_1000L, 0x7f00_001f_f008L}) {
                long base = VerbsRegions.nextBase(address, length);
                assertThat(base).isGreaterThan(end);
                assertThat(base & (2L << 20) - 1).isEqualTo(address & (2L << 20) - 1);
                end = base + length;
            }
        }
    }
}
