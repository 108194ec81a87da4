package dev.verbena.ugni;

/** A uGNI call failed: which call, on what, the code by name, and the library's own words. */
public final class UgniException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String call;
    private final int code;
    private final String object;

    UgniException(String call, int code, String object, String why) {
        super(
                "%s: %s (%s) for %s%s"
                        .formatted(
                                call,
                                UgniCode.name(code),
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

    /** One of {@link UgniCode}. */
    public int code() {
        return code;
    }

    /** What the call was about. */
    public String object() {
        return object;
    }
}
