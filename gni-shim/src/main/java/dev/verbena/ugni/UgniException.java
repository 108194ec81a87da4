package dev.verbena.ugni;

/** A uGNI call failed: which call, on what, the code by name, and the library's own words. */
public final class UgniException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int code;

    UgniException(String call, int code, String object, String why) {
        super(
                "%s: %s (%s) for %s%s"
                        .formatted(
                                call,
                                UgniCode.name(code),
                                code,
                                object,
                                why.isEmpty() ? "" : "; " + why));
        this.code = code;
    }

    /** One of {@link UgniCode}. */
    public int code() {
        return code;
    }
}
