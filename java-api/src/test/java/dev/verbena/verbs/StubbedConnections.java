package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A channel of rdma_cm over the recording libraries, all of whose objects each test destroys. */
abstract class StubbedConnections {
    static final int ENODEV = 19;
    static final int EINVAL = 22;
    static final long SECOND_NS = 1_000_000_000L;
    static final InetSocketAddress HERE = new InetSocketAddress("10.99.0.1", 7471);
    CmStub stub;
    ConnectionChannel channel;
    int objectsBefore;

    @BeforeEach
    void open() {
        stub = CmStub.open();
        channel = stub.channel;
        objectsBefore = stub.openObjects();
    }

    @AfterEach
    void close() {
        assertThat(stub.unacknowledged()).isZero();
        assertThat(stub.openObjects()).as("objects not destroyed").isEqualTo(objectsBefore);
        channel.close();
    }

    static InetSocketAddress address(int port, int... bytes) throws Exception {
        byte[] host = new byte[bytes.length];
        for (int i = 0; i < host.length; i++) {
            host[i] = (byte) bytes[i];
        }
        return new InetSocketAddress(InetAddress.getByAddress(host), port);
    }

    static byte[] counting(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i + 1);
        }
        return bytes;
    }

    ConnectionIdentifier resolved(PortSpace space) {
        ConnectionIdentifier identifier = channel.createIdentifier(space);
        stub.tell(ConnectionEventType.ADDRESS_RESOLVED, 0, identifier, 0);
        stub.tell(ConnectionEventType.ROUTE_RESOLVED, 0, identifier, 0);
        identifier.resolve(HERE, SECOND_NS);
        return identifier;
    }
}
