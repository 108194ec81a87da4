/** Portals 3.3 over the software NIC: Java objects and the transport {@code portals://}. */
module dev.verbena.portals {
    requires transitive dev.verbena.api;
    requires dev.verbena.natives;
    requires transitive org.bytedeco.javacpp;

    exports dev.verbena.portals;
    exports dev.verbena.portals.transport;
    exports dev.verbena.portals.presets;

    provides dev.verbena.transport.TransportProvider with
            dev.verbena.portals.transport.PortalsTransportProvider;
}
