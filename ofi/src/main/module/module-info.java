/** libfabric: Java objects, and the transport {@code ofi://}. */
module dev.verbena.ofi {
    requires transitive dev.verbena.api;
    requires dev.verbena.natives;
    requires transitive org.bytedeco.javacpp;

    exports dev.verbena.ofi;
    exports dev.verbena.ofi.presets;
    exports dev.verbena.ofi.transport;

    provides dev.verbena.transport.TransportProvider with
            dev.verbena.ofi.transport.OfiTransportProvider;
}
