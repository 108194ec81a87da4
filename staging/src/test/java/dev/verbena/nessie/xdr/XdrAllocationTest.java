package dev.verbena.nessie.xdr;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class XdrAllocationTest {
    private static final int ROUNDS = 10_000;

    @TempDir Path folder;

    /** Encodes and decodes each value, in turn with a second one of its type, into one object. */
    private static void measure(List<XdrValue> values, List<XdrValue> targets) {
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[1 << 20]);
        int[] sink = new int[1];
        AllocationMeter.requireNone(
                () -> {
                    for (int i = 0; i < ROUNDS; i++) {
                        int length = values.get(i % values.size()).encode(buffer, 0);
                        sink[0] += targets.get(i % targets.size()).decode(buffer, 0, length);
                    }
                });
        assertThat(sink[0]).isNotZero();
    }

    @Test
    void shouldNotAllocateForTheTransferService() throws Exception {
        try (GeneratedXdr xdr = GeneratedXdr.compile(folder, "xfer.x", XdrFigure4Test.SOURCE)) {
            XdrObject arguments = xdr.make("XferWriteEncodeArgs");
            ((XdrArray) GeneratedXdr.get(arguments, "array")).resize(33);
            measure(List.of(arguments), List.of(xdr.make("XferWriteEncodeArgs")));
        }
    }

    @Test
    void shouldNotAllocateForAnyType() throws Exception {
        RandomXdr random = new RandomXdr(77, 40);
        SplittableRandom seed = new SplittableRandom(78);
        try (GeneratedXdr xdr = GeneratedXdr.compile(folder, "random.x", random.source())) {
            List<XdrValue> values = new ArrayList<>();
            List<XdrValue> targets = new ArrayList<>();
            for (RandomXdr.Type type : random.types()) {
                XdrObject target = xdr.make(type.java());
                for (int i = 0; i < 2; i++) {
                    XdrObject value = xdr.make(type.java());
                    random.fill(value, type, seed);
                    values.add(value);
                    targets.add(target);
                }
            }
            measure(values, targets);
        }
    }
}
