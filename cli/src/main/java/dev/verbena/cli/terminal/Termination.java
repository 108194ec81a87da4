package dev.verbena.cli.terminal;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Waits for the wish to end: Ctrl-C, a TERM or HUP signal, or the end of the parent. The program
 * then closes what it opened and ends with its own exit code. A second signal ends it at once, with
 * exit code 1, and so does closing that takes too long.
 *
 * <p>The JVM's own answer to a signal would be exit code 128 and the signal's number whatever the
 * program does, so the signals are taken over, through {@code sun.misc.Signal} (reflection: the
 * compiler knows no way to it without a warning). Where that does not work (-Xrs), a shutdown hook
 * waits instead.
 */
public final class Termination implements AutoCloseable {
    private static final List<String> SIGNALS = List.of("TERM", "INT", "HUP");

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final long closeTimeoutMs;
    private final Map<Object, Object> replaced = new LinkedHashMap<>();
    private volatile Runnable lastWords = () -> {};
    private Thread hook;
    private boolean isSignalled;

    /**
     * Begins to listen for the wish.
     *
     * @param closeTimeoutMs longest time from the wish to {@link #close}
     */
    public Termination(long closeTimeoutMs) {
        this.closeTimeoutMs = closeTimeoutMs;
        try {
            takeSignals();
        } catch (ReflectiveOperationException | RuntimeException e) {
            hook = new Thread(this::endInHook, "termination");
            Runtime.getRuntime().addShutdownHook(hook);
        }
        ChildProcess.endWithParent(asked::countDown);
    }

    /** What to say when a second signal, or time, ends the process before it has closed. */
    public void lastWords(Runnable words) {
        lastWords = words;
    }

    /** Removes a hook, which already runs if the JVM is ending. */
    public static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending.
        }
    }

    private void takeSignals() throws ReflectiveOperationException {
        Class<?> type = Class.forName("sun.misc.Signal");
        Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
        Method handle = type.getMethod("handle", type, handlerType);
        InvocationHandler answer =
                (proxy, method, arguments) -> {
                    if (method.getName().equals("handle")) {
                        onSignal();
                        return null;
                    }
                    return method.getName().equals("equals")
                            ? (Object) (proxy == arguments[0])
                            : method.getName().equals("hashCode")
                                    ? (Object) System.identityHashCode(proxy)
                                    : "termination";
                };
        Object handler =
                Proxy.newProxyInstance(
                        Termination.class.getClassLoader(), new Class<?>[] {handlerType}, answer);
        for (String name : SIGNALS) {
            Object signal = type.getConstructor(String.class).newInstance(name);
            replaced.put(signal, handle.invoke(null, signal, handler));
        }
    }

    private void giveSignalsBack() {
        replaced.forEach(
                (signal, before) -> {
                    try {
                        Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
                        signal.getClass()
                                .getMethod("handle", signal.getClass(), handlerType)
                                .invoke(null, signal, before);
                    } catch (ReflectiveOperationException e) {
                        throw new IllegalStateException("giving signal " + signal + " back", e);
                    }
                });
        replaced.clear();
    }

    private synchronized void onSignal() {
        // The parent may have closed the standard input before: that was a wish, not a signal.
        if (isSignalled) {
            endAtOnce("a second signal: ending at once");
        }
        isSignalled = true;
        asked.countDown();
        Thread watch = new Thread(this::endWhenLate, "termination");
        watch.setDaemon(true);
        watch.start();
    }

    private void endWhenLate() {
        try {
            if (!closed.await(closeTimeoutMs, TimeUnit.MILLISECONDS)) {
                endAtOnce("gave up closing in order");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void endAtOnce(String why) {
        System.err.println("verbena: " + why);
        try {
            lastWords.run();
        } finally {
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }

    private void endInHook() {
        asked.countDown();
        try {
            if (!closed.await(closeTimeoutMs, TimeUnit.MILLISECONDS)) {
                System.err.println("verbena: gave up closing in order");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits; true if the end is wished for. */
    public boolean await(long timeoutMs) throws InterruptedException {
        return asked.await(timeoutMs, TimeUnit.MILLISECONDS);
    }

    /** True if the end is wished for. */
    public boolean isAsked() {
        return asked.getCount() == 0;
    }

    /** Everything is closed: signals mean again what they meant before. */
    @Override
    public void close() {
        closed.countDown();
        giveSignalsBack();
        if (hook != null) {
            forget(hook);
        }
    }
}
