package dev.verbena.nsim.nessie;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.GridTopology;
import dev.verbena.nsim.topology.TieRule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bulk data of several clients on a torus. */
@Timeout(120)
class NessieScalingTest {
    private static double rate(int clients, boolean isWrite) {
        return NessieScaling.bytesPerSecond(
                GridTopology.torus(TieRule.POSITIVE, 2, 2, 2),
                new NetworkContext(),
                clients,
                isWrite);
    }

    /** A server's own link is what clients share: more of them come nearer to its rate. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldComeNearerToTheServersLinkWithMoreClients(boolean isWrite) {
        double one = rate(1, isWrite);
        double four = rate(4, isWrite);
        long link = new NetworkContext().linkRate();
        assertThat(one).isBetween(link / 10.0, (double) link);
        assertThat(four).isBetween(0.95 * one, (double) link);
    }

    @Test
    void shouldRepeat() {
        assertThat(rate(3, true)).isEqualTo(rate(3, true));
    }
}
