package dev.verbena.savime.wire;

/** Types of STG/1 messages, and the shortest length of each, header included. */
public final class StgType {
    public static final int HELLO = 0x01;
    public static final int HELLO_ACK = 0x02;
    public static final int DATASET_OPEN = 0x03;
    public static final int DATASET_OPENED = 0x04;
    public static final int BLOCK_REQUEST = 0x05;
    public static final int BLOCK_GRANT = 0x06;
    public static final int BLOCK_RELEASE = 0x07;
    public static final int DATASET_SYNC = 0x08;
    public static final int DATASET_DONE = 0x09;
    public static final int DATASET_ABORT = 0x0A;
    public static final int RUN = 0x0B;
    public static final int RUN_RESULT = 0x0C;
    public static final int STATUS = 0x0D;
    public static final int STATUS_REPLY = 0x0E;
    public static final int HEARTBEAT = 0x0F;
    public static final int BYE = 0x10;
    public static final int DATASET_EVENT = 0x11;
    public static final int BLOCK_DATA = 0x20;

    private static final int[] LENGTHS_MIN = {
        0, 68, 64, 56, 58, 56, 120, 48, 56, 56, 40, 40, 40, 40, 68, 32, 32, 52
    };

    private StgType() {}

    /** Shortest legal length; 0: there is no such type. */
    public static int lengthMin(int type) {
        if (type == BLOCK_DATA) {
            return StgFlyweight.DATA_OFFSET;
        }
        return type < 1 || type >= LENGTHS_MIN.length ? 0 : LENGTHS_MIN[type];
    }
}
