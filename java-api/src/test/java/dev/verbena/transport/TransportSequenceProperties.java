package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.softnic.NativeAccess;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;

/**
 * Random sequences of operations, shrunk when one disagrees with the model. jqwik prints the seed
 * and the smallest failing sequence. A provider is tested by a subclass that opens it.
 */
public abstract class TransportSequenceProperties {
    static {
        NativeAccess.open();
    }

    private static final int LENGTH = 4096;
    private static final int SHOWN_AT = 512;
    private static final int SHOWN = 2048;
    private static final long LIMIT_NS = 60_000_000_000L;

    /** One step: what, where from, where to, how long. */
    public record Step(int kind, int from, int to, int length) {}

    /** Opens a transport under test. */
    protected abstract Transport open(TransportContext context);

    @Provide
    public Arbitrary<List<Step>> steps() {
        Arbitrary<Step> step =
                Combinators.combine(
                                Arbitraries.integers().between(0, 4),
                                Arbitraries.integers().between(0, LENGTH / 2),
                                Arbitraries.integers().between(-64, SHOWN + 64),
                                Arbitraries.integers().between(0, LENGTH / 2))
                        .as(Step::new);
        return step.list().ofMinSize(1).ofMaxSize(40);
    }

    @Property(tries = 60, shrinking = ShrinkingMode.BOUNDED)
    public void shouldAgreeWithTheModel(@ForAll("steps") List<Step> steps) {
        TransportContext context =
                new TransportContext().job("jqwik-" + ProcessHandle.current().pid());
        context.receiveSlotCount(64).outstandingMax(64).connectionsMax(4);
        List<Throwable> violations = new ArrayList<>();
        try (ContractNode a =
                        new ContractNode(new CheckingTransport(open(context), violations::add));
                ContractNode b = new ContractNode(open(context))) {
            run(a, b, steps);
        }
        assertThat(violations).isEmpty();
    }

    private static void run(ContractNode a, ContractNode b, List<Step> steps) {
        b.transport.listen();
        long handle = a.connect(b.transport.uri(), 1);
        pump(a, b, () -> a.count("connected", handle) == 1);
        RegisteredRegion local = a.allocate(LENGTH);
        RegisteredRegion remote = b.allocate(LENGTH);
        RemoteDescriptor d =
                remote.describe(
                        SHOWN_AT, SHOWN, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
        byte[] data = ContractFixture.random(LENGTH, steps.hashCode());
        ContractFixture.fill(local, 0, data);
        byte[] model = new byte[LENGTH];
        Map<Long, Integer> expected = new HashMap<>();
        int messages = 0;
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            boolean fits = step.to >= 0 && step.to + step.length <= SHOWN;
            long context = i;
            Transport t = a.transport;
            int[] answer = new int[1];
            pump(
                    a,
                    b,
                    () -> {
                        answer[0] =
                                switch (step.kind) {
                                    case 0, 1 ->
                                            t.put(
                                                    handle,
                                                    local,
                                                    step.from,
                                                    d,
                                                    step.to,
                                                    step.length,
                                                    context,
                                                    Transport.FENCE);
                                    case 2 ->
                                            t.get(
                                                    handle,
                                                    local,
                                                    step.from,
                                                    d,
                                                    step.to,
                                                    step.length,
                                                    context,
                                                    Transport.FENCE);
                                    default ->
                                            t.send(
                                                    handle,
                                                    local,
                                                    step.from,
                                                    step.length,
                                                    context,
                                                    0);
                                };
                        return answer[0] != Transport.BACK_PRESSURED;
                    });
            assertThat(answer[0]).isEqualTo(Transport.ACCEPTED);
            boolean isSend = step.kind > 2;
            messages += isSend ? 1 : 0;
            expected.put(context, isSend || fits ? Status.OK : Status.BOUNDS);
            int posted = i + 1;
            pump(a, b, () -> a.completions.size() == posted);
            if (fits && step.kind < 2) {
                System.arraycopy(data, step.from, model, SHOWN_AT + step.to, step.length);
            } else if (fits && step.kind == 2) {
                System.arraycopy(model, SHOWN_AT + step.to, data, step.from, step.length);
            }
        }
        int sent = messages;
        pump(a, b, () -> b.messages.size() == sent);
        for (ContractNode.Completion c : a.completions) {
            assertThat(expected.remove(c.context())).as("%s", c).isEqualTo(c.status());
        }
        assertThat(expected).isEmpty();
        assertThat(ContractFixture.bytes(remote, 0, LENGTH)).isEqualTo(model);
        assertThat(ContractFixture.bytes(local, 0, LENGTH)).isEqualTo(data);
    }

    private static void pump(
            ContractNode a, ContractNode b, java.util.function.BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            a.poll();
            b.poll();
            if (System.nanoTime() - start > LIMIT_NS) {
                throw new AssertionError("not within 60 s");
            }
        }
    }
}
