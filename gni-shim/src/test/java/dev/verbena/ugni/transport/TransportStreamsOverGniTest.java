package dev.verbena.ugni.transport;

import dev.verbena.staging.carrier.TransportStreamsContract;
import java.net.URI;

/** Streams of bytes over the uGNI provider. */
class TransportStreamsOverGniTest extends TransportStreamsContract {
    @Override
    protected URI address(String number) {
        return URI.create("gni://localhost:0/receiver-" + number);
    }
}
