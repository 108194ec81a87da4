package dev.verbena.verbs.transport;

import dev.verbena.verbs.Gid;
import dev.verbena.verbs.QueuePairAddress;
import java.nio.ByteBuffer;

/**
 * What one end of a connection tells the other about itself.
 *
 * @param out its queue pair that posts requests
 * @param in its queue pair that carries out the other end's requests
 * @param mtu bytes of a packet
 * @param readsMax reads and atomics that it carries out at a time
 * @param credits messages that the other end may have in flight
 * @param messageLengthMax bytes of a message
 * @param peerTimeoutNs after so long without a word it takes the other end for lost
 * @param incarnation of the transport; what its descriptors say
 */
record Endpoint(
        QueuePairAddress out,
        QueuePairAddress in,
        int mtu,
        int readsMax,
        int credits,
        int messageLengthMax,
        long peerTimeoutNs,
        long incarnation) {
    static final int LENGTH = 9 * Integer.BYTES + Gid.LENGTH + 2 * Long.BYTES;
    private static final int BITS_24 = 0xff_ffff;
    private static final int READS_MAX = 255;
    private static final int CREDITS_MAX = 1 << 12;
    private static final int MESSAGE_MIN = 64;
    private static final int MESSAGE_MAX = 1 << 20;

    void encode(ByteBuffer to) {
        to.putInt(out.number()).putInt(out.packetNumber());
        to.putInt(in.number()).putInt(in.packetNumber()).putInt(out.lid());
        to.put(out.gid() == null ? new byte[Gid.LENGTH] : out.gid().bytes());
        to.putInt(mtu).putInt(readsMax).putInt(credits).putInt(messageLengthMax);
        to.putLong(peerTimeoutNs).putLong(incarnation);
    }

    /**
     * Reads what a peer wrote.
     *
     * @throws IllegalArgumentException naming what makes no sense
     */
    static Endpoint decode(ByteBuffer from) {
        Frames.need(from, LENGTH);
        int outNumber = from.getInt();
        int outPacket = from.getInt();
        int inNumber = from.getInt();
        int inPacket = from.getInt();
        int lid = from.getInt();
        byte[] bytes = new byte[Gid.LENGTH];
        from.get(bytes);
        Frames.check(((outNumber | outPacket | inNumber | inPacket) & ~BITS_24) == 0, "numbers");
        Frames.check((lid & ~0xffff) == 0, "LID");
        Gid gid = Gid.of(bytes).isZero() ? null : Gid.of(bytes);
        Endpoint endpoint =
                new Endpoint(
                        new QueuePairAddress(outNumber, outPacket, lid, gid),
                        new QueuePairAddress(inNumber, inPacket, lid, gid),
                        from.getInt(),
                        from.getInt(),
                        from.getInt(),
                        from.getInt(),
                        from.getLong(),
                        from.getLong());
        endpoint.check();
        return endpoint;
    }

    private void check() {
        Frames.check(Integer.bitCount(mtu) == 1 && mtu >= 256 && mtu <= 4096, "MTU");
        Frames.check(readsMax >= 0 && readsMax <= READS_MAX, "reads");
        Frames.check(
                credits >= 1 && credits <= CREDITS_MAX && Integer.bitCount(credits) == 1,
                "credits");
        Frames.check(
                messageLengthMax >= MESSAGE_MIN && messageLengthMax <= MESSAGE_MAX,
                "message length");
        Frames.check(peerTimeoutNs >= 1_000_000L, "peer timeout");
    }

    /** Of another queue pair at its port. */
    QueuePairAddress at(int number, int packet) {
        return new QueuePairAddress(number, packet, in.lid(), in.gid());
    }
}
