package dev.verbena.ofi.transport;

import dev.verbena.agent.HeldPort;
import dev.verbena.staging.carrier.TransportStreamsContract;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** Streams of bytes over libfabric's provider tcp. */
@ExtendWith(NeedsLibfabric.class)
class TransportStreamsOverOfiTest extends TransportStreamsContract {
    private final List<HeldPort> ports = new ArrayList<>();

    @Override
    protected URI address(String number) {
        HeldPort port = new HeldPort();
        ports.add(port);
        return URI.create("ofi://127.0.0.1:" + port.port() + "?provider=tcp");
    }

    @AfterEach
    void releasePorts() {
        ports.forEach(HeldPort::close);
    }
}
