package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.shm.ShmTesting;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each operation reaches the transport within as it was asked for, with every argument. */
@Timeout(60)
class DecoratedOperationsTest {
    private static final List<String> NAMES =
            List.of(
                    "send",
                    "put",
                    "putNotify",
                    "get",
                    "put",
                    "get",
                    "fetchAdd",
                    "compareSwap",
                    "putSummed",
                    "getSummed");
    private static final int ANSWER = Transport.TOO_LONG;

    private final Transport plain = ShmTesting.open("plain");
    private final RegisteredRegion region = plain.allocate(64, 0);
    private final RemoteDescriptor remote = new RemoteDescriptor();
    private final TransferVector vector =
            new TransferVector(2).add(region, 31, 32, 33).add(region, 34, 35, 36);
    private final TransferSum sum = new TransferSum();
    private final List<List<Object>> asked = new ArrayList<>();
    private RuntimeException thrown;
    private int answer = ANSWER;

    /** Keeps what operations it is asked for; for everything else it is the plain one. */
    private final Transport recorder =
            (Transport)
                    Proxy.newProxyInstance(
                            Transport.class.getClassLoader(),
                            new Class<?>[] {Transport.class},
                            (self, method, arguments) -> call(method, arguments));

    private Object call(Method method, Object[] arguments) throws Throwable {
        if (NAMES.contains(method.getName())) {
            List<Object> call = new ArrayList<>(List.of(method.getName()));
            call.addAll(Arrays.asList(arguments));
            asked.add(call);
            if (thrown != null) {
                throw thrown;
            }
            return answer;
        }
        try {
            return method.invoke(plain, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** The operations in the order of {@link #NAMES}, no two arguments of one alike. */
    private List<ToIntFunction<Transport>> operations() {
        return List.of(
                t -> t.send(3, region, 4, 5, 6, 7),
                t -> t.put(3, region, 4, remote, 5, 6, 7, 8),
                t -> t.putNotify(3, region, 4, remote, 5, 6, 7, 8, 9),
                t -> t.get(3, region, 4, remote, 5, 6, 7, 8),
                t -> t.put(3, vector, remote, 4, 5),
                t -> t.get(3, vector, remote, 4, 5),
                t -> t.fetchAdd(3, remote, 4, 5, 6, 7),
                t -> t.compareSwap(3, remote, 4, 5, 6, 7, 8),
                t -> t.putSummed(3, region, 4, remote, 5, 6, sum, 7, 8),
                t -> t.getSummed(3, region, 4, remote, 5, 6, sum, 7, 8));
    }

    private List<List<Object>> askOf(Transport transport) {
        asked.clear();
        for (ToIntFunction<Transport> operation : operations()) {
            assertThat(operation.applyAsInt(transport)).isEqualTo(answer);
        }
        return List.copyOf(asked);
    }

    private Map<String, UnaryOperator<Transport>> decorators() {
        return Map.of(
                "tracing", t -> new TracingTransport(t, line -> {}),
                "checking", t -> new CheckingTransport(t, violation -> {}),
                "faulty", t -> new FaultyTransport(t, FaultOptions.none(1)));
    }

    @AfterEach
    void close() {
        region.close();
        plain.close();
    }

    @Test
    void shouldHandOnEachOperationWithItsArgumentsAndItsAnswer() {
        List<List<Object>> expected = askOf(recorder);
        assertThat(expected).extracting(call -> call.get(0)).isEqualTo(List.<Object>copyOf(NAMES));
        decorators()
                .forEach(
                        (name, decorate) ->
                                assertThat(askOf(decorate.apply(recorder)))
                                        .as(name)
                                        .isEqualTo(expected));
    }

    @Test
    void shouldHandOnWhatTheTransportThrows() {
        thrown = new IllegalArgumentException("refused");
        for (UnaryOperator<Transport> decorate : decorators().values()) {
            for (ToIntFunction<Transport> operation : operations()) {
                assertThatThrownBy(() -> operation.applyAsInt(decorate.apply(recorder)))
                        .isSameAs(thrown);
            }
        }
    }

    @Test
    void shouldAskTheTransportNothingWhenAFaultAnswers() {
        answer = Transport.BACK_PRESSURED;
        Transport faulty = new FaultyTransport(recorder, FaultOptions.none(1).backPressure(1));
        assertThat(askOf(faulty)).isEmpty();
    }

    @Test
    void shouldCheckEachOperationByItsName() {
        answer = Transport.ACCEPTED;
        List<String> found = new ArrayList<>();
        askOf(new CheckingTransport(recorder, violation -> found.add(violation.getMessage())));
        String to = plain.uri() + ": ";
        assertThat(found)
                .isEqualTo(
                        NAMES.stream()
                                .map(n -> to + n.replace("Summed", "") + " accepted on 3, not open")
                                .toList());
    }

    @Test
    void shouldTraceEachOperationWithItsArguments() {
        List<String> lines = new ArrayList<>();
        askOf(new TracingTransport(recorder, line -> lines.add(line.replaceFirst("^\\d+ ", ""))));
        String range = " region=" + region.id() + " offset=4";
        String at = " remote=" + remote + " remoteOffset=";
        String id = "[region=" + region.id();
        String parts =
                String.format(
                        " %s offset=31 remoteOffset=32 length=33]"
                                + " %s offset=34 remoteOffset=35 length=36]",
                        id, id);
        assertThat(lines)
                .containsExactly(
                        "call send connection=3 context=6 flags=FENCE"
                                + range
                                + " length=5 = TOO_LONG",
                        "call put connection=3 context=7 flags=8"
                                + range
                                + at
                                + "5 length=6 = TOO_LONG",
                        "call putNotify connection=3 context=8 flags=FENCE tag=7"
                                + range
                                + at
                                + "5 length=6 = TOO_LONG",
                        "call get connection=3 context=7 flags=8"
                                + range
                                + at
                                + "5 length=6 = TOO_LONG",
                        "call put connection=3 context=4 flags=FENCE remote="
                                + remote
                                + parts
                                + " = TOO_LONG",
                        "call get connection=3 context=4 flags=FENCE remote="
                                + remote
                                + parts
                                + " = TOO_LONG",
                        "call fetchAdd connection=3 context=6 flags=FENCE"
                                + at
                                + "4 delta=5 = TOO_LONG",
                        "call compareSwap connection=3 context=7 flags=8"
                                + at
                                + "4 expected=5 update=6 = TOO_LONG",
                        "call putSummed connection=3 context=7 flags=8"
                                + range
                                + at
                                + "5 length=6 = TOO_LONG",
                        "call getSummed connection=3 context=7 flags=8"
                                + range
                                + at
                                + "5 length=6 = TOO_LONG");
    }
}
