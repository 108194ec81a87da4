package dev.verbena.portals.model;

/** The native interface as numbers, so that it may be in this process or in another one. */
interface NicCalls extends AutoCloseable {
    int OPEN = 0; // cray, mes, mds, eqs, listMax, bytes, jid, foreign -> nid << 32 | pid
    int ATTACH = 1; // portal, nid, pid, bits, ignored, unlink, after
    int ATTACH_ANY = 2; // nid, pid, bits, ignored, unlink -> portal << 32 | handle
    int INSERT = 3; // base, nid, pid, bits, ignored, unlink, after
    int MD_ATTACH = 4; // me, start, length, threshold, maxSize, options, user, queue, unlink
    int BIND = 5; // as MD_ATTACH, without me
    int UPDATE = 6; // md, start, length, threshold, maxSize, options, user, queue, test
    int ME_UNLINK = 7;
    int MD_UNLINK = 8;
    int QUEUE = 9; // count
    int QUEUE_FREE = 10;
    int PUT = 11; // md, offset, length, ack, target, portal, access, bits, remote, header
    int GET = 12; // md, offset, length, target, portal, access, bits, remote
    int GET_PUT = 13; // get md, put md, target, portal, access, bits, remote, header
    int ACCESS = 14; // index, nid, pid, uid, jid, portal
    int STATUS = 15; // register
    int CHECK = 16; // -> number of faults
    int FILL = 17; // offset, length, seed
    int SUM = 18; // -> checksum of the memory
    int TAKE = 19; // queue -> 0, 1 (events were lost), negated code; the event is in event()
    int UID = 20;
    int CLOSE = 21;

    long call(int what, long... arguments);

    /** What TAKE found: {@link ModelEvent#WORDS} numbers. */
    long[] event();

    @Override
    void close();

    /** The byte that FILL writes. */
    static byte pattern(long seed, int at) {
        long mixed = (seed + at) * 0x9E3779B97F4A7C15L;
        return (byte) (mixed >>> 56);
    }
}
