/** The software NIC, its generated bindings, and loading of native code. */
module dev.verbena.natives {
    requires transitive org.bytedeco.javacpp;

    exports dev.verbena.softnic;
    exports dev.verbena.softnic.bindings to
            dev.verbena.api;
    exports dev.verbena.softnic.presets;
}
