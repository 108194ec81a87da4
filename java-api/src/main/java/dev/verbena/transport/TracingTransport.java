package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/**
 * Writes a line for every call and every event of another transport.
 *
 * <pre>
 * 1203 call put connection=3 context=5 flags=0 region=7 offset=0 remote=RemoteDescriptor{...} remoteOffset=8 length=64 = ACCEPTED
 * 2410 event completion connection=3 context=5 operation=put status=OK value=64
 * </pre>
 *
 * <p>The first number is the transport's time since the trace began, nanoseconds. Polls that
 * deliver nothing leave no line. Allocates for every line; same thread rules as the transport
 * within.
 */
public final class TracingTransport extends ForwardingTransport {
    /**
     * Traces {@code delegate}, which is closed with this.
     *
     * @param sink gets each line without a line end, on the thread of the call; {@code wakeup} and
     *     {@code close} may come from any thread
     */
    public TracingTransport(Transport delegate, Consumer<String> sink) {
        super(new Tracer(delegate, sink).transport());
    }

    @Override
    public String explain() {
        return "traced: " + delegate.explain();
    }

    @Override
    public int poll(TransportHandler handler, int limit) {
        requireHandler(handler);
        return delegate.poll(handler, limit);
    }

    /** Name of an answer of a posting call, for messages to people. */
    static String answerName(long answer) {
        if (answer > 0) {
            return Long.toString(answer);
        }
        return switch ((int) answer) {
            case ACCEPTED -> "ACCEPTED";
            case BACK_PRESSURED -> "BACK_PRESSURED";
            case NOT_CONNECTED -> "NOT_CONNECTED";
            case CLOSED -> "CLOSED";
            case TOO_LONG -> "TOO_LONG";
            case NOT_SUPPORTED -> "NOT_SUPPORTED";
            default -> Long.toString(answer);
        };
    }

    /** Makes views of a transport and of handlers that write lines. */
    private record Tracer(Transport traced, Consumer<String> sink, long startNs) {
        Tracer(Transport traced, Consumer<String> sink) {
            this(traced, sink, traced.nanoTime());
        }

        Transport transport() {
            return proxy(Transport.class, (self, method, arguments) -> call(method, arguments));
        }

        private TransportHandler handler(TransportHandler handler) {
            return proxy(
                    TransportHandler.class,
                    (self, method, arguments) -> {
                        line("event " + eventFormat(method).formatted(texts(method, arguments)));
                        return invoke(handler, method, arguments);
                    });
        }

        private static <T> T proxy(Class<T> type, InvocationHandler calls) {
            return type.cast(
                    Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
        }

        private Object call(Method method, Object[] arguments) throws Throwable {
            String format = callFormat(method);
            if (format == null) {
                return invoke(traced, method, arguments);
            }
            String call = "call " + format.formatted(texts(method, arguments));
            boolean isPoll = method.getName().equals("poll");
            if (isPoll) {
                arguments[0] = handler((TransportHandler) arguments[0]);
            }
            try {
                Object answer = invoke(traced, method, arguments);
                if (!isPoll || (int) answer < 0) {
                    line(call + " = " + answerText(answer));
                }
                return answer;
            } catch (RuntimeException e) {
                line(call + " threw " + e);
                throw e;
            }
        }

        private static Object invoke(Object target, Method method, Object[] arguments)
                throws Throwable {
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private void line(String text) {
            sink.accept(traced.nanoTime() - startNs + " " + text);
        }
    }

    /** How a call is written, by its arguments; null: it leaves no line. */
    private static String callFormat(Method call) {
        String operation = " connection=%1$s context=%" + (call.getParameterCount() - 1);
        operation += "$s flags=%" + call.getParameterCount() + "$s";
        String range = " region=%2$s offset=%3$s remote=%4$s remoteOffset=%5$s length=%6$s";
        String arguments =
                switch (call.getName()) {
                    case "allocate", "register" -> " length=%s rights=%s";
                    case "connect" -> " peer=%1$s privateData=%4$s context=%5$s timeoutNs=%6$s";
                    case "accept" -> " connection=%s context=%s";
                    case "reject", "disconnect" -> " connection=%s";
                    case "send" -> operation + " region=%2$s offset=%3$s length=%4$s";
                    case "put", "get" ->
                            operation
                                    + (call.getParameterTypes()[1] == TransferVector.class
                                            ? " remote=%3$s%2$s"
                                            : range);
                    case "putNotify" -> operation + " tag=%7$s" + range;
                    case "putSummed", "getSummed" -> operation + range;
                    case "fetchAdd" -> operation + " remote=%2$s remoteOffset=%3$s delta=%4$s";
                    case "compareSwap" ->
                            operation + " remote=%2$s remoteOffset=%3$s expected=%4$s update=%5$s";
                    case "retain", "release" -> " token=%s";
                    case "poll" -> " limit=%2$s";
                    case "listen", "wakeup", "close" -> "";
                    default -> null;
                };
        return arguments == null ? null : call.getName() + arguments;
    }

    private static String eventFormat(Method event) {
        String of = " connection=%1$s context=%2$s";
        return switch (event.getName()) {
            case "onCompletion" ->
                    "completion connection=%1$s context=%3$s operation=%2$s status=%4$s value=%5$s";
            case "onMessage" -> "message" + of + " length=%5$s token=%6$s";
            case "onNotify" -> "notify" + of + " tag=%3$s region=%4$s offset=%5$s length=%6$s";
            case "onConnectRequest" -> "connectRequest connection=%1$s peer=%2$s privateData=%5$s";
            case "onConnected" -> "connected" + of;
            case "onConnectFailed" -> "connectFailed" + of + " status=%3$s reason=%4$s";
            case "onDisconnected" -> "disconnected" + of;
            default -> "peerLost" + of + " reason=%3$s";
        };
    }

    /** The arguments as they are written: flags, operations and statuses by their names. */
    private static Object[] texts(Method method, Object[] arguments) {
        if (arguments == null) {
            return new Object[0];
        }
        Object[] texts = new Object[arguments.length];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = text(arguments[i]);
        }
        int last = texts.length - 1;
        switch (method.getName()) {
            case "onCompletion" -> {
                texts[1] = Operation.name((int) arguments[1]);
                texts[3] = Status.name((int) arguments[3]);
            }
            case "register" -> texts[0] = ((OffHeapMemory) arguments[0]).length();
            case "onConnectFailed" -> texts[2] = Status.name((int) arguments[2]);
            case "send",
                    "put",
                    "putNotify",
                    "putSummed",
                    "get",
                    "getSummed",
                    "fetchAdd",
                    "compareSwap" -> {
                if (((int) arguments[last] & FENCE) != 0) {
                    texts[last] = "FENCE";
                }
            }
            default -> {}
        }
        return texts;
    }

    private static Object text(Object argument) {
        if (argument instanceof RegisteredRegion region) {
            return region.id();
        }
        if (argument instanceof TransferVector vector) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < vector.count(); i++) {
                text.append(
                        " [region=%s offset=%s remoteOffset=%s length=%s]"
                                .formatted(
                                        vector.region(i).id(),
                                        vector.offset(i),
                                        vector.remoteOffset(i),
                                        vector.length(i)));
            }
            return text;
        }
        return argument;
    }

    private static String answerText(Object answer) {
        if (answer instanceof RegisteredRegion region) {
            return answerName(region.id());
        }
        return answerName(answer == null ? ACCEPTED : ((Number) answer).longValue());
    }
}
