package dev.verbena.verbs;

/** What posting answers when it does not take everything; all negative. */
public final class Post {
    /** The queue is full; poll completions. */
    public static final int BACK_PRESSURED = -1;

    /** The queue is closed. */
    public static final int CLOSED = -2;

    /**
     * A region or an address handle that a request names is closed; or a datagram names none, or is
     * no send.
     */
    public static final int REGION_CLOSED = -3;

    /** An inline request is longer than the queue pair takes. */
    public static final int TOO_LONG = -4;

    /**
     * The library refused: wrong state of the queue pair, operation that its type lacks. {@code
     * refusal()} of the queue has the errno.
     */
    public static final int REFUSED = -5;

    /** An inline request or a raw packet names memory that has no address in this process. */
    public static final int NOT_INLINE = -6;

    /** A raw packet whose first piece of memory has not the 14 bytes of an Ethernet header. */
    public static final int NO_FRAME = -7;

    /** A window that another thread binds; {@link MemoryWindow#handOver} there first. */
    public static final int WINDOW_ELSEWHERE = -8;

    /**
     * A shared receive queue has no place left, because the NIC dropped completions of queue pairs
     * that were closed, each with the place of its receive: make another queue. Queue pairs that
     * are put into error, and whose completions are polled until none comes, lose no place when
     * they are closed then.
     */
    public static final int PLACES_LOST = -9;

    private Post() {}

    /** Name, for people. */
    public static String name(int result) {
        return switch (result) {
            case BACK_PRESSURED -> "BACK_PRESSURED: the queue is full; poll completions";
            case CLOSED -> "CLOSED: the queue is closed";
            case REGION_CLOSED ->
                    "REGION_CLOSED: a region or address that it names is closed, or a datagram has none";
            case TOO_LONG -> "TOO_LONG: longer than may be inline";
            case NOT_INLINE ->
                    "NOT_INLINE: a region without an address here cannot be inline or a raw packet";
            case NO_FRAME -> "NO_FRAME: a raw packet begins with an Ethernet header of 14 bytes";
            case WINDOW_ELSEWHERE ->
                    "WINDOW_ELSEWHERE: another thread binds that window; handOver() there first";
            case PLACES_LOST ->
                    "PLACES_LOST: closed queue pairs took the places with them; make another queue";
            case REFUSED -> "REFUSED: see refusal() of the queue";
            default -> result >= 0 ? "posted " + result : "code " + result;
        };
    }
}
