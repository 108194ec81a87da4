package dev.verbena.jmh;

import dev.verbena.softnic.NativeAccess;
import dev.verbena.softnic.bindings.softnic;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a call from Java into C costs that does nothing there; beside it, a call that stays here.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(3)
public class NativeCallBenchmark {
    private int count;

    /** Loads the bindings. */
    @Setup(Level.Trial)
    public void open() {
        NativeAccess.open();
        count = softnic.vna_layout_count();
    }

    /** Answers a constant of the library. */
    @Benchmark
    public int call() {
        return softnic.vna_layout_count();
    }

    /** Answers the same from a field: what measuring costs. */
    @Benchmark
    public int field() {
        return count;
    }
}
