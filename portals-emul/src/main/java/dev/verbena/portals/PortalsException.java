package dev.verbena.portals;

/** A Portals call failed: which call, on what, the code by name, and the library's own words. */
public final class PortalsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int code;

    PortalsException(String call, int code, String object, String why) {
        super(
                "%s: %s (%s) for %s%s"
                        .formatted(
                                call,
                                PortalsCode.name(code),
                                code,
                                object,
                                why.isEmpty() ? "" : "; " + why));
        this.code = code;
    }

    /** One of {@link PortalsCode}. */
    public int code() {
        return code;
    }
}
