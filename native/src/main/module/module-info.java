/** The software NIC, its generated bindings, and loading of native code. */
@SuppressWarnings("module") // dev.verbena.api depends on this one and is not there yet
module dev.verbena.natives {
    requires transitive org.bytedeco.javacpp;

    exports dev.verbena.rdma;
    exports dev.verbena.rdma.bindings to
            dev.verbena.api;
    exports dev.verbena.rdma.calls to
            dev.verbena.api;
    exports dev.verbena.rdma.presets;
    exports dev.verbena.softnic;
    exports dev.verbena.softnic.bindings to
            dev.verbena.api;
    exports dev.verbena.softnic.presets;
}
