package dev.verbena.portals.transport;

import dev.verbena.portals.PortalsProcess;
import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parts of {@code portals://job/nid.pid?incarnation=hex}.
 *
 * @param process null if the name is not of the form nid.pid, as that of nobody
 */
record PortalsAddress(String job, PortalsProcess process, long incarnation) {
    private static final Pattern FORM =
            Pattern.compile(
                    "portals://([A-Za-z0-9._-]{1,63})/([A-Za-z0-9._-]{1,63})"
                            + "(?:\\?incarnation=([0-9a-f]{1,16}))?");
    private static final Pattern PROCESS = Pattern.compile("([0-9]{1,10})\\.([0-9]{1,5})");
    private static final int HEX = 16;
    private static final int PID_MAX = 0xFFFE;
    private static final long NID_MAX = 0xFFFF_FFFEL;

    /**
     * Takes a URI apart.
     *
     * @throws IllegalArgumentException naming the form
     */
    static PortalsAddress of(URI uri) {
        Matcher matcher = FORM.matcher(uri.toString());
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + uri + "' is not of the form portals://job/nid.pid?incarnation=hex");
        }
        String incarnation = matcher.group(3);
        return new PortalsAddress(
                matcher.group(1),
                process(matcher.group(2)),
                incarnation == null ? 0 : Long.parseUnsignedLong(incarnation, HEX));
    }

    /** Null if the text names no process. */
    static PortalsProcess process(String text) {
        Matcher matcher = PROCESS.matcher(text);
        if (!matcher.matches()) {
            return null;
        }
        long nid = Long.parseLong(matcher.group(1));
        int pid = Integer.parseInt(matcher.group(2));
        return nid < 1 || nid > NID_MAX || pid < 1 || pid > PID_MAX
                ? null
                : new PortalsProcess((int) nid, pid);
    }

    URI uri() {
        return URI.create(
                "portals://"
                        + job
                        + "/"
                        + process
                        + "?incarnation="
                        + Long.toHexString(incarnation));
    }
}
