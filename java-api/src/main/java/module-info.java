/** Memory, the transport contract, agents and their environment, the shm and verbs providers. */
@SuppressWarnings("module") // the modules below depend on this one and are not there yet
module dev.verbena.api {
    requires transitive org.agrona;
    requires dev.verbena.natives;
    requires static chronicle.bytes;
    requires static chronicle.core;
    requires static jdk.jfr;

    exports dev.verbena.agent;
    exports dev.verbena.agent.internal to
            dev.verbena.portals,
            dev.verbena.ugni,
            dev.verbena.ofi,
            dev.verbena.staging;
    exports dev.verbena.memory;
    exports dev.verbena.memory.chronicle;
    exports dev.verbena.shm;
    exports dev.verbena.transport;
    exports dev.verbena.transport.core to
            dev.verbena.portals,
            dev.verbena.ugni,
            dev.verbena.ofi,
            dev.verbena.nsim;
    exports dev.verbena.verbs;

    uses dev.verbena.transport.TransportProvider;

    provides dev.verbena.transport.TransportProvider with
            dev.verbena.auto.AutoTransportProvider,
            dev.verbena.shm.ShmTransportProvider,
            dev.verbena.verbs.transport.VerbsTransportProvider;
}
