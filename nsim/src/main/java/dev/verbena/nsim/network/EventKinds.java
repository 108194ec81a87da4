package dev.verbena.nsim.network;

/** The kinds of events of the network. Kinds from {@link #FREE} on are of programs. */
final class EventKinds {
    static final int READY = 0;
    static final int CREDIT = 1;
    static final int WAKE = 2;
    static final int ARRIVE = 3;
    static final int READ = 4;
    static final int WRITTEN = 5;
    static final int SUBMIT = 6;
    static final int LOCAL = 7;
    static final int FLIT = 8;
    static final int FLIT_SENT = 9;
    static final int FLOW = 10;
    static final int ASKED = 11;
    static final int CONFIRMED = 12;
    static final int FREE = 16;

    private static final String[] NAMES = {
        "ready",
        "credit",
        "wake",
        "arrive",
        "read",
        "written",
        "submit",
        "local",
        "flit",
        "flit-sent",
        "flow",
        "asked",
        "confirmed",
    };

    private EventKinds() {}

    static String name(int kind) {
        if (kind == FREE) {
            return "program";
        }
        return kind >= 0 && kind < NAMES.length ? NAMES[kind] : "kind-" + kind;
    }
}
