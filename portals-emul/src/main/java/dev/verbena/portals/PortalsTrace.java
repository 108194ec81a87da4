package dev.verbena.portals;

/**
 * Sees the Portals calls that an interface makes, with their arguments as text. For people and
 * tests; tracing allocates.
 */
@FunctionalInterface
public interface PortalsTrace {
    /**
     * One call has returned.
     *
     * @param call C name, for example {@code PtlPutRegion}
     * @param arguments {@code name=value} pairs, separated by spaces
     * @param result the code or outcome by name, or the handle made
     */
    void onCall(String call, String arguments, String result);
}
