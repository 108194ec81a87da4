package dev.verbena.ugni.transport;

/** A call of the control path that failed; becomes a {@code TransportException} at the surface. */
final class GniFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** A {@code gni_return_t}. */
    final int code;

    GniFailure(String message, int code) {
        super(message);
        this.code = code;
    }
}
