package dev.verbena.nessie.nnti;

/** A call on the control path failed: its result, the call and its arguments. */
public final class NntiException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final NntiResult result;

    /** Its message begins with the result's name. */
    public NntiException(NntiResult result, String what) {
        super(result + ": " + what);
        this.result = result;
    }

    /** Why it failed. */
    public NntiResult result() {
        return result;
    }
}
