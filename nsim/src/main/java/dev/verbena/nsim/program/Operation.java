package dev.verbena.nsim.program;

/** Codes of operations in a script. */
final class Operation {
    static final int END = 0;
    static final int COMPUTE = 1;
    static final int PUT = 2;
    static final int GET = 3;
    static final int POLL = 4;
    static final int POLL_FROM = 5;
    static final int COMPLETE = 6;
    static final int COMPLETE_ALL = 7;
    static final int LOOP = 8;
    static final int LOOP_END = 9;
    static final int SEND = 10;
    static final int RECEIVE = 11;
    static final int AWAIT = 12;
    static final int AWAIT_ALL = 13;
    static final int CALCULATE = 14;

    /** Flags of a send: part of a collective, asks before it sends data. */
    static final int COLLECTIVE = 1;

    static final int ASKS_FIRST = 2;

    private Operation() {}
}
