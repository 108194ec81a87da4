package dev.verbena.portals.model;

import dev.verbena.portals.PortalsEventKind;
import java.util.Arrays;

/** An event as a row of numbers, so that one line compares all of it. */
final class ModelEvent {
    static final int KIND = 0;
    static final int PROCESS = 1;
    static final int UID = 2;
    static final int JID = 3;
    static final int PORTAL = 4;
    static final int BITS = 5;
    static final int REQUESTED = 6;
    static final int LENGTH = 7;
    static final int OFFSET = 8;
    static final int MD = 9;
    static final int MD_START = 10;
    static final int MD_LENGTH = 11;
    static final int MD_THRESHOLD = 12;
    static final int MD_MAX_SIZE = 13;
    static final int MD_OPTIONS = 14;
    static final int MD_USER = 15;
    static final int HEADER = 16;
    static final int LINK = 17;
    static final int FAIL = 18;
    static final int SEQUENCE = 19;
    static final int WORDS = 20;

    /** In place of a link: no event of that operation was logged, so nobody can know. */
    static final long ANY_LINK = Long.MIN_VALUE;

    private static final String[] NAMES = {
        "kind",
        "process",
        "uid",
        "jid",
        "portal",
        "bits",
        "rlength",
        "mlength",
        "offset",
        "md",
        "md.start",
        "md.length",
        "md.threshold",
        "md.max_size",
        "md.options",
        "md.user_ptr",
        "hdr_data",
        "link",
        "ni_fail_type",
        "sequence"
    };

    private ModelEvent() {}

    /** What differs, for people; null if nothing does. */
    static String difference(long[] expected, long[] actual) {
        if (expected[LINK] == ANY_LINK) {
            expected[LINK] = actual[LINK];
        }
        if (Arrays.equals(expected, actual)) {
            return null;
        }
        StringBuilder text = new StringBuilder(PortalsEventKind.name((int) expected[KIND]));
        for (int i = 0; i < WORDS; i++) {
            if (expected[i] != actual[i]) {
                text.append(", ").append(NAMES[i]).append(" should be ").append(expected[i]);
                text.append(" and is ").append(actual[i]);
            }
        }
        return text.toString();
    }
}
