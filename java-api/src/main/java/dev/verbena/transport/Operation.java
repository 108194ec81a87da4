package dev.verbena.transport;

/** Kinds of operation as reported in completions. */
public final class Operation {
    public static final int SEND = 1;
    public static final int PUT = 2;
    public static final int PUT_NOTIFY = 3;
    public static final int GET = 4;
    public static final int FETCH_ADD = 5;
    public static final int COMPARE_SWAP = 6;

    private Operation() {}

    /** Name for messages to people. */
    public static String name(int operation) {
        return switch (operation) {
            case SEND -> "send";
            case PUT -> "put";
            case PUT_NOTIFY -> "putNotify";
            case GET -> "get";
            case FETCH_ADD -> "fetchAdd";
            case COMPARE_SWAP -> "compareSwap";
            default -> "operation " + operation;
        };
    }
}
