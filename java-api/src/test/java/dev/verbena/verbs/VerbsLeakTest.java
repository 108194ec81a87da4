package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One of each object is opened and closed many times, over the recording libibverbs. */
@Timeout(120)
class VerbsLeakTest {
    private static final int CYCLES = 100;

    @Test
    void shouldLeaveNothingOfAnyObjectBehind() throws Exception {
        VerbsStub stub = VerbsStub.open();
        try {
            cycle();
            int objects = stub.openObjects();
            long descriptors = EveryObject.descriptors();
            for (int i = 0; i < CYCLES; i++) {
                cycle();
            }
            assertThat(stub.openObjects()).isEqualTo(objects);
            assertThat(EveryObject.descriptors()).isLessThanOrEqualTo(descriptors);
        } finally {
            stub.close();
        }
    }

    private static void cycle() {
        try (EveryObject all = EveryObject.of(VerbsStub.RECORDING)) {
            assertThat(all.refused).isEmpty();
        }
    }
}
