package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;

/**
 * What became of a put or get, as its call answers it; negative answers are negated {@link
 * PortalsCode}s and mean that nothing was started.
 *
 * <p>The emulation knows the outcome when the call returns, because the initiator does the target's
 * work. A real NIC does not: there an operation that nobody accepts is silence.
 */
public final class PortalsOutcome {
    /** Accepted by the target; a get has its data. */
    public static final int DELIVERED = portals.PTL_EXT_DELIVERED;

    /** Nothing at the target accepts it: dropped and counted there. */
    public static final int DROPPED = portals.PTL_EXT_DROPPED;

    /** The target served a get, but the descriptor here was gone or inactive. */
    public static final int REPLY_DROPPED = portals.PTL_EXT_REPLY_DROPPED;

    /** From here on: failed, with the reason added. */
    public static final int FAILED = portals.PTL_EXT_FAILED;

    /** No such process, or it closed its interface, or it is another incarnation. */
    public static final int UNREACHABLE = FAILED + portals.PTL_EXT_FAIL_UNREACHABLE;

    /** The target died meanwhile: may or may not have happened. */
    public static final int PEER_DIED = FAILED + portals.PTL_EXT_FAIL_PEER_DIED;

    /** Memory of either side could not be reached. */
    public static final int FAULT = FAILED + portals.PTL_EXT_FAIL_FAULT;

    /** A stopped process sits on the target's lock. */
    public static final int STALLED = FAILED + portals.PTL_EXT_FAIL_STALLED;

    /** The target's segment holds nonsense. */
    public static final int CORRUPT = FAILED + portals.PTL_EXT_FAIL_CORRUPT;

    private PortalsOutcome() {}

    /** Text for people, also for negated codes. */
    public static String name(int outcome) {
        if (outcome < 0) {
            return PortalsCode.name(-outcome);
        }
        return switch (outcome) {
            case DELIVERED -> "delivered";
            case DROPPED -> "dropped: nothing at the target accepts it";
            case REPLY_DROPPED -> "the reply was dropped: the descriptor is gone";
            case UNREACHABLE -> "no such process";
            case PEER_DIED -> "the target died";
            case FAULT -> "memory of either side could not be reached";
            case STALLED -> "a stopped process holds the target's lock";
            case CORRUPT -> "the target's segment is corrupt";
            default -> "failure " + outcome;
        };
    }
}
