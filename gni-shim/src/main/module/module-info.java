/**
 * uGNI over the software NIC, or Cray's own library where one is: Java objects, and the transport
 * {@code gni://}.
 */
module dev.verbena.ugni {
    requires transitive dev.verbena.api;
    requires dev.verbena.natives;
    requires transitive org.bytedeco.javacpp;

    exports dev.verbena.ugni;
    exports dev.verbena.ugni.presets;
    exports dev.verbena.ugni.transport;

    provides dev.verbena.transport.TransportProvider with
            dev.verbena.ugni.transport.GniTransportProvider;
}
