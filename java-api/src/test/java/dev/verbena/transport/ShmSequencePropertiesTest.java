package dev.verbena.transport;

/** Random sequences over shared memory. */
class ShmSequencePropertiesTest extends TransportSequenceProperties {
    @Override
    protected Transport open(TransportContext context) {
        return Transports.open("shm", context);
    }
}
