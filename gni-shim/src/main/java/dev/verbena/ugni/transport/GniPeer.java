package dev.verbena.ugni.transport;

import org.agrona.concurrent.UnsafeBuffer;

/** Another transport in one of its incarnations, and where its door is once that is known. */
final class GniPeer {
    final int address;
    final int instance;
    final long incarnation;

    /** Of an endpoint for control records, whose events name no connection. */
    final long endpoint;

    /** Connections to it. */
    int users;

    /** Number of the datagram that asks for its door; 0: none is under way. */
    long question;

    /** What the answer is written to. */
    UnsafeBuffer answer;

    /** Where its door is; door 0: not known yet. */
    long door;

    long doorLow;
    long doorHigh;
    String name = "";

    GniPeer(int address, int instance, long incarnation, long endpoint) {
        this.address = address;
        this.instance = instance;
        this.incarnation = incarnation;
        this.endpoint = endpoint;
    }

    boolean isKnown() {
        return door != 0;
    }

    void know(String name, long door, long doorLow, long doorHigh) {
        this.name = name;
        this.door = door;
        this.doorLow = doorLow;
        this.doorHigh = doorHigh;
    }

    /** Fits the descriptors of this incarnation and, but for one in 2^32, of no other. */
    int generation() {
        return generation(incarnation);
    }

    /** What descriptors say of the incarnation that made them. */
    static int generation(long incarnation) {
        return (int) (incarnation ^ incarnation >>> Integer.SIZE);
    }

    @Override
    public String toString() {
        return "instance " + instance;
    }
}
