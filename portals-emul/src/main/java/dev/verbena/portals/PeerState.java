package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;

/** State of another process, as far as this one can tell. */
public final class PeerState {
    public static final int ALIVE = portals.PTL_EXT_ALIVE;

    /** Stopped by a signal. */
    public static final int STOPPED = portals.PTL_EXT_STOPPED;

    /** Dead, closed, or never there. */
    public static final int DEAD = portals.PTL_EXT_DEAD;

    private PeerState() {}
}
