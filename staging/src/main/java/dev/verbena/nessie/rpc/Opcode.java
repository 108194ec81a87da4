package dev.verbena.nessie.rpc;

/** Operations that every server has (specification, section 2.2). */
public final class Opcode {
    /** Answers. */
    public static final int NULL = 1000;

    /** Answers what the server says of itself, see {@link ServiceSearch}. */
    public static final int GET_SERVICE = 1001;

    /** Ends the server: its argument is the signal, 0 in order. */
    public static final int KILL_SERVICE = 1002;

    /** Ends the present trace of the server, and may begin another one. */
    public static final int TRACE_RESET = 1003;

    private Opcode() {}

    /** Whether the server's own thread handles it, whatever threads there are. */
    static boolean isOfServer(int opcode) {
        return opcode == KILL_SERVICE || opcode == TRACE_RESET;
    }
}
