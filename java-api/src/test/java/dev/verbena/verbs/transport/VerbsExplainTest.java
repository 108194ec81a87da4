package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.Transports;
import dev.verbena.verbs.Gid;
import dev.verbena.verbs.QueuePairAddress;
import dev.verbena.verbs.VerbsStub;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a transport says of the way to its peers, and what it tells the NIC of it: over the
 * recording libibverbs, whose port has a link-local and an IPv4 address, as RoCE v1 and v2 each.
 */
@Timeout(120)
class VerbsExplainTest {
    private static final Gid PEER = Gid.parse("00000000000000000000ffff0a630002");

    private final VerbsStub stub = VerbsStub.open();

    @AfterEach
    void close() {
        stub.close();
    }

    private static TransportContext context() {
        return new TransportContext()
                .job("explain")
                .connectionsMax(2)
                .option("device", "stub0")
                .option("address", "127.0.0.1");
    }

    private static String explain(TransportContext context) {
        try (Transport transport = Transports.open("verbs", context)) {
            return transport.explain();
        }
    }

    @Test
    void shouldSayWhichAddressWasChosenAndWhy() {
        assertThat(explain(context()))
                .startsWith("verbs: verbs://127.0.0.1:")
                .contains("device stub0 port 1, GID index 3 of 4, 10.99.0.1: ")
                .contains("RoCE v2, which can be routed, IPv4")
                .contains("fork: ")
                .contains("a lost packet is noticed after");
    }

    @Test
    void shouldSayThatTheAddressWasAskedFor() {
        assertThat(explain(context().option("gid", "1")))
                .contains("GID index 1: asked for by the option gid")
                .doesNotContain("which can be routed");
        assertThatThrownBy(() -> explain(context().option("gid", "4")))
                .isInstanceOf(TransportException.class)
                .hasMessageContaining("gid=4")
                .hasMessageContaining("./verbena devices");
    }

    private void assertPaths(TransportContext context, int level, int trafficClass, int gid) {
        long before = stub.pathCount();
        try (VerbsResources resources =
                VerbsResources.open(context, VerbsOptions.of(context), 2, 4)) {
            QueuePairs pairs = new QueuePairs(resources, context, 1);
            URI from = URI.create("verbs://127.0.0.1:1/explain/peer");
            VerbsConnection connection = new VerbsConnection(1, from, null, null);
            pairs.make(connection);
            pairs.join(
                    connection,
                    new Endpoint(
                            new QueuePairAddress(0x300, 1, 0, PEER),
                            new QueuePairAddress(0x301, 1, 0, PEER),
                            1024,
                            4,
                            2,
                            64,
                            1_000_000_000,
                            77));
            pairs.close(connection);
            pairs.closeAll();
        }
        assertThat(stub.pathCount() - before).as("a pair for each direction").isEqualTo(2);
        for (long path = before; path < before + 2; path++) {
            assertThat(stub.pathByte(path, VerbsLayout.AH_ATTR_SL)).isEqualTo(level);
            assertThat(stub.pathByte(path, VerbsLayout.AH_ATTR_GRH_TRAFFIC_CLASS))
                    .isEqualTo(trafficClass);
            assertThat(stub.pathByte(path, VerbsLayout.AH_ATTR_GRH_SGID_INDEX)).isEqualTo(gid);
            int last = VerbsLayout.AH_ATTR_GRH_DGID + 15;
            assertThat(stub.pathByte(path, last)).as("the peer's address").isEqualTo(2);
        }
    }

    @Test
    void shouldGiveEveryPacketItsServiceLevelAndTrafficClass() {
        assertPaths(context(), 0, 0, 3);
        assertPaths(
                context()
                        .option("serviceLevel", "5")
                        .option("trafficClass", "106")
                        .option("gid", "1"),
                5,
                106,
                1);
    }
}
