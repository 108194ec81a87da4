package dev.verbena.ugni.transport;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * Another transport in one of its incarnations, and where its control mailbox is once that is
 * known. Others read the fields; the methods write them.
 */
final class GniPeer {
    final int address;
    final int instance;
    final long incarnation;

    /** Of an endpoint for control records, whose events name no connection. */
    final long endpoint;

    /** Connections to it. */
    private int users;

    /** Number of the datagram that asks for its control mailbox; 0: none is under way. */
    long question;

    /** What the answer is written to. */
    UnsafeBuffer answer;

    /** Where its control mailbox is; control mailbox 0: not known yet. */
    long control;

    long controlLow;
    long controlHigh;
    String name = "";

    GniPeer(int address, int instance, long incarnation, long endpoint) {
        this.address = address;
        this.instance = instance;
        this.incarnation = incarnation;
        this.endpoint = endpoint;
    }

    boolean isKnown() {
        return control != 0;
    }

    void know(String name, long control, long controlLow, long controlHigh) {
        this.name = name;
        this.control = control;
        this.controlLow = controlLow;
        this.controlHigh = controlHigh;
    }

    /** Fits the descriptors of this incarnation and, but for one in 2^32, of no other. */
    int generation() {
        return generation(incarnation);
    }

    /** What descriptors say of the incarnation that made them. */
    static int generation(long incarnation) {
        return (int) (incarnation ^ incarnation >>> Integer.SIZE);
    }

    /** One more connection to it. */
    void use() {
        users++;
    }

    /** One connection less; true if that was the last. */
    boolean unuse() {
        users--;
        return users <= 0;
    }

    /** The answer to a question will be written there. */
    void expectAnswerIn(UnsafeBuffer buffer) {
        answer = buffer;
    }

    /** A datagram asks for its control mailbox. */
    void asked(long question) {
        this.question = question;
    }

    /** The datagram came back; what it says is read. */
    void answered() {
        question = 0;
    }

    /** No more answers are needed. */
    void forgetAnswer() {
        answer = null;
    }

    @Override
    public String toString() {
        return "instance " + instance;
    }
}
