package dev.verbena.verbs.transport;

import dev.verbena.verbs.Gid;
import dev.verbena.verbs.QueuePairAddress;
import java.nio.ByteBuffer;

/**
 * What one end of a connection tells the other about itself.
 *
 * @param outNumber its queue pair that posts requests, and that pair's first packet number
 * @param inNumber its queue pair that carries out the other end's requests
 * @param lid of its port, 0 on Ethernet
 * @param gid of its port
 * @param mtu bytes of a packet
 * @param readsMax reads and atomics that it carries out at a time
 * @param credits messages that the other end may have in flight
 * @param messageLengthMax bytes of a message
 * @param peerTimeoutNs after so long without a word it takes the other end for lost
 * @param incarnation of the transport; what its descriptors say
 */
record Endpoint(
        int outNumber,
        int outPacket,
        int inNumber,
        int inPacket,
        int lid,
        Gid gid,
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
        to.putInt(outNumber).putInt(outPacket).putInt(inNumber).putInt(inPacket).putInt(lid);
        to.put(gid.bytes()).putInt(mtu).putInt(readsMax).putInt(credits).putInt(messageLengthMax);
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
        byte[] gid = new byte[Gid.LENGTH];
        from.get(gid);
        Endpoint endpoint =
                new Endpoint(
                        outNumber,
                        outPacket,
                        inNumber,
                        inPacket,
                        lid,
                        Gid.of(gid),
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
        Frames.check(((outNumber | outPacket | inNumber | inPacket) & ~BITS_24) == 0, "numbers");
        Frames.check((lid & ~0xffff) == 0, "LID");
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

    /** Where our requests go. */
    QueuePairAddress in() {
        return new QueuePairAddress(inNumber, inPacket, lid, gidOrNull());
    }

    /** Where the requests come from that we carry out. */
    QueuePairAddress out() {
        return new QueuePairAddress(outNumber, outPacket, lid, gidOrNull());
    }

    QueuePairAddress at(int number, int packet) {
        return new QueuePairAddress(number, packet, lid, gidOrNull());
    }

    private Gid gidOrNull() {
        return gid.isZero() ? null : gid;
    }
}
