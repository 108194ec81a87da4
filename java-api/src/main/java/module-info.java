/** Memory, the transport contract, agents and their environment, the shm provider. */
module dev.verbena.api {
    requires transitive org.agrona;
    requires dev.verbena.natives;

    exports dev.verbena.agent;
    exports dev.verbena.memory;
    exports dev.verbena.transport;

    uses dev.verbena.transport.TransportProvider;
}
