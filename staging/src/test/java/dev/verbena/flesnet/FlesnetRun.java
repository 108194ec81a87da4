package dev.verbena.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.staging.Checksum;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.UnsafeBuffer;

/** A whole run in one process, over real shared memory, each node on a thread of its own. */
public final class FlesnetRun implements AutoCloseable {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    final List<Throwable> errors = new CopyOnWriteArrayList<>();
    public final List<CheckedTimeslices> delivered = new ArrayList<>();
    final List<FlesnetCompute> computes = new ArrayList<>();
    final List<FlesnetInput> inputs = new ArrayList<>();
    final FlesnetContext context;
    private final RealEnvironment environment;
    private final String job =
            "flesnet" + ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet();

    /** Keeps what it needs to compare of each timeslice, and releases it. */
    public static final class CheckedTimeslices implements TimesliceHandler {
        public final List<Long> indices = new CopyOnWriteArrayList<>();
        final List<Long> sums = new CopyOnWriteArrayList<>();
        final List<Integer> flags = new CopyOnWriteArrayList<>();
        private final Checksum checksum = new Checksum();
        private final MicrosliceFlyweight microslice = new MicrosliceFlyweight();

        @Override
        public void onTimeslice(Timeslice timeslice) {
            long sum = 0;
            for (int i = 0; i < timeslice.componentCount(); i++) {
                sum = sum * 31 + (timeslice.hasComponent(i) ? check(timeslice, i) : 7);
            }
            indices.add(timeslice.index());
            sums.add(sum);
            flags.add(timeslice.flags());
            timeslice.release();
        }

        /** The component has the microslices that it must have, each with its ramp. */
        private int check(Timeslice timeslice, int input) {
            byte[] bytes = new byte[timeslice.size(input)];
            timeslice.copy(input, 0, bytes, 0, bytes.length);
            UnsafeBuffer buffer = new UnsafeBuffer(bytes);
            int count = timeslice.microsliceCount(input);
            int at = count * MicrosliceFlyweight.LENGTH;
            for (int m = 0; m < count; m++) {
                microslice.wrap(buffer, m * MicrosliceFlyweight.LENGTH).check();
                int size = (int) microslice.size();
                if (microslice.equipment() != input
                        || !PatternSource.isRamp(buffer, at, size, input)
                        || !microslice.isContentValid(checksum.of(buffer, at, size))) {
                    throw new AssertionError("timeslice " + timeslice.index() + " of " + input);
                }
                at += size;
            }
            if (at != bytes.length) {
                throw new AssertionError(at + " bytes of " + bytes.length);
            }
            return checksum.of(buffer, 0, bytes.length);
        }
    }

    public FlesnetRun(Path directory, UnaryOperator<FlesnetContext> change) {
        environment = RealEnvironment.builder().job(job).errorHandler(errors::add).build();
        context =
                change.apply(
                        new FlesnetContext()
                                .environment(environment)
                                .directory(directory.toString())
                                .job(job)
                                // No node is killed here: a thread that waits for a processor
                                // must not count as one.
                                .heartbeatNs(60_000_000_000L)
                                .peerTimeoutNs(60_000_000_000L)
                                .timeslice(4, 1)
                                .rings(14, 4)
                                .sourceRing(18, 10));
    }

    FlesnetRun compute(int index) {
        delivered.add(new CheckedTimeslices());
        return compute(index, delivered.get(delivered.size() - 1));
    }

    FlesnetRun compute(int index, TimesliceHandler handler) {
        computes.add(FlesnetCompute.launch(context, index, handler));
        return this;
    }

    FlesnetRun input(int index, MicrosliceSource source) {
        inputs.add(FlesnetInput.launch(context, index, source));
        return this;
    }

    /** All nodes, with so many timeslices of ramps. */
    public FlesnetRun all(int timeslices, int meanBytes, int spreadBytes) {
        for (int c = 0; c < context.computes(); c++) {
            compute(c);
        }
        for (int i = 0; i < context.inputs(); i++) {
            input(i, pattern(i, timeslices, meanBytes, spreadBytes));
        }
        return this;
    }

    PatternSource pattern(int input, int timeslices, int meanBytes, int spreadBytes) {
        long count = (long) timeslices * context.timesliceSize() + context.overlap();
        return new PatternSource(input, count, meanBytes, spreadBytes, 0);
    }

    public FlesnetRun awaitDone() {
        Await.until(
                () -> "done: " + state(),
                () ->
                        inputs.stream().allMatch(FlesnetInput::isDone)
                                        && computes.stream().allMatch(FlesnetCompute::isDone)
                                || failure() != null);
        assertThat(failure()).isNull();
        return this;
    }

    FlesnetException failure() {
        for (FlesnetInput input : inputs) {
            if (input.failure() != null) {
                return input.failure();
            }
        }
        return computes.stream()
                .map(FlesnetCompute::failure)
                .filter(f -> f != null)
                .findFirst()
                .orElse(null);
    }

    String state() {
        StringBuilder text = new StringBuilder(errors.toString());
        inputs.forEach(i -> text.append(" in ").append(i.statistics().timeslices()));
        computes.forEach(c -> text.append(" out ").append(c.statistics().timeslices()));
        return text.toString();
    }

    @Override
    public void close() {
        inputs.forEach(FlesnetInput::close);
        computes.forEach(FlesnetCompute::close);
        environment.close();
    }
}
