package dev.verbena.rdma.calls;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Method;

/**
 * The calls of posting and polling, by the cheapest way into native code that this JVM has: from
 * JDK 22 on calls of the foreign-function interface that leave the thread's state alone ("critical"
 * ones), which cost a third of a JNI call; else JNI. A garbage collection waits for a critical
 * call, so only calls that never sleep are here.
 *
 * <p>Critical calls are made only where native access is enabled for this module, or was granted
 * when the JNI library was loaded: so no JVM warns because of them. {@code
 * -Dverbena.verbs.criticalCalls=false} leaves them out.
 *
 * <p>Threads, arguments and results as of {@link verbscalls}.
 */
public final class HotCalls {
    /** System property: false for JNI on every JDK. */
    public static final String PROPERTY = "verbena.verbs.criticalCalls";

    private static final int FIRST_JDK = 22;

    // Numbers of vv_hot_call.
    private static final int CALL_POST_SEND = 0;
    private static final int CALL_POST_RECV = 1;
    private static final int CALL_POLL_CQ = 2;
    private static final int CALL_POST_AND_POLL = 3;

    // Static and final, so that the compiler knows them, and that they are null on older JDKs.
    private static final MethodHandle POST_SEND =
            handle(CALL_POST_SEND, int.class, long.class, long.class, long.class);
    private static final MethodHandle POST_RECV =
            handle(CALL_POST_RECV, int.class, long.class, long.class, long.class);
    private static final MethodHandle POLL_CQ =
            handle(CALL_POLL_CQ, int.class, long.class, int.class, long.class);
    private static final MethodHandle POST_AND_POLL =
            handle(
                    CALL_POST_AND_POLL,
                    long.class,
                    long.class,
                    long.class,
                    long.class,
                    long.class,
                    int.class,
                    long.class);

    private HotCalls() {}

    /** True if calls here are critical ones. */
    public static boolean areCritical() {
        return POST_AND_POLL != null;
    }

    /** {@link verbscalls#vv_post_send}. */
    public static int postSend(long queue, long request, long bad) {
        if (POST_SEND == null) {
            return verbscalls.vv_post_send(queue, request, bad);
        }
        try {
            return (int) POST_SEND.invokeExact(queue, request, bad);
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    /** {@link verbscalls#vv_post_recv}. */
    public static int postReceive(long queue, long request, long bad) {
        if (POST_RECV == null) {
            return verbscalls.vv_post_recv(queue, request, bad);
        }
        try {
            return (int) POST_RECV.invokeExact(queue, request, bad);
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    /** {@link verbscalls#vv_poll_cq}. */
    public static int poll(long queue, int limit, long completions) {
        if (POLL_CQ == null) {
            return verbscalls.vv_poll_cq(queue, limit, completions);
        }
        try {
            return (int) POLL_CQ.invokeExact(queue, limit, completions);
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    /** {@link verbscalls#vv_post_and_poll}. */
    public static long postAndPoll(
            long queue, long request, long bad, long from, int limit, long completions) {
        if (POST_AND_POLL == null) {
            return verbscalls.vv_post_and_poll(queue, request, bad, from, limit, completions);
        }
        try {
            return (long) POST_AND_POLL.invokeExact(queue, request, bad, from, limit, completions);
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    /** Native code throws nothing; what comes is the JVM's own. */
    private static RuntimeException failure(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException("a call of libibverbs did not end well", e);
    }

    /** Null where there are no critical calls, or may be none. */
    private static MethodHandle handle(int call, Class<?> result, Class<?>... parameters) {
        long address = verbscalls.vv_hot_call(call); // loads the JNI library first
        if (Runtime.version().feature() < FIRST_JDK
                || address == 0
                || "false".equals(System.getProperty(PROPERTY))) {
            return null;
        }
        try {
            boolean isEnabled =
                    (boolean)
                            Module.class
                                    .getMethod("isNativeAccessEnabled")
                                    .invoke(HotCalls.class.getModule());
            return isEnabled ? critical(address, result, parameters) : null;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null; // a JVM without the linker: JNI does
        }
    }

    /** By reflection: this is compiled for JDK 17. */
    private static MethodHandle critical(long address, Class<?> result, Class<?>... parameters)
            throws ReflectiveOperationException {
        Class<?> linkers = foreign("Linker");
        Class<?> segments = foreign("MemorySegment");
        Class<?> descriptors = foreign("FunctionDescriptor");
        Class<?> layouts = foreign("MemoryLayout");
        Class<?> options = foreign("Linker$Option");
        Object arguments = Array.newInstance(layouts, parameters.length);
        for (int i = 0; i < parameters.length; i++) {
            Array.set(arguments, i, layoutOf(parameters[i]));
        }
        Object descriptor =
                descriptors
                        .getMethod("of", layouts, arguments.getClass())
                        .invoke(null, layoutOf(result), arguments);
        Object segment = segments.getMethod("ofAddress", long.class).invoke(null, address);
        Object chosen = Array.newInstance(options, 1);
        Array.set(chosen, 0, options.getMethod("critical", boolean.class).invoke(null, false));
        Object linker = linkers.getMethod("nativeLinker").invoke(null);
        Method downcall =
                linkers.getMethod("downcallHandle", segments, descriptors, chosen.getClass());
        return (MethodHandle) downcall.invoke(linker, segment, descriptor, chosen);
    }

    private static Object layoutOf(Class<?> type) throws ReflectiveOperationException {
        String name = type == int.class ? "JAVA_INT" : "JAVA_LONG";
        return foreign("ValueLayout").getField(name).get(null);
    }

    private static Class<?> foreign(String name) throws ClassNotFoundException {
        return Class.forName("java.lang.foreign." + name);
    }
}
