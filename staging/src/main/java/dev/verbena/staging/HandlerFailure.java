package dev.verbena.staging;

/**
 * What users' handlers may throw: anything. A handler that is wrong must not leave a message, a
 * step or a command half done, for everything behind it would wait for ever.
 */
public final class HandlerFailure {
    private HandlerFailure() {}

    /** Throws on what says that the virtual machine itself cannot be relied on. */
    public static void check(Throwable e) {
        if (e instanceof VirtualMachineError) {
            throw (VirtualMachineError) e;
        }
    }

    /** For somebody on another machine, who sees only this. */
    public static String text(Throwable e) {
        boolean isPlain = e instanceof RuntimeException && e.getMessage() != null;
        return isPlain ? e.getMessage() : e.toString();
    }
}
