package dev.verbena.portals;

/** A Portals call failed: which call, on what, the code by name, and the library's own words. */
public final class PortalsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String call;
    private final int code;
    private final String object;

    PortalsException(String call, int code, String object, String why) {
        super(
                "%s: %s (%s) for %s%s"
                        .formatted(
                                call,
                                PortalsCode.name(code),
                                code,
                                object,
                                why.isEmpty() ? "" : "; " + why));
        this.call = call;
        this.code = code;
        this.object = object;
    }

    /** C name of the call. */
    public String call() {
        return call;
    }

    /** One of {@link PortalsCode}. */
    public int code() {
        return code;
    }

    /** What the call was about. */
    public String object() {
        return object;
    }
}
