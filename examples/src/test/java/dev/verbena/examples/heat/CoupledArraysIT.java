package dev.verbena.examples.heat;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two servers here, and two programs of two and three processes. */
@Timeout(240)
class CoupledArraysIT {
    @Test
    void shouldComputeTheSameBitsAsTheWholeRod() throws Exception {
        assertThat(CoupledArrays.couple(40))
                .isEqualTo(
                        "40 steps of programs of 2 and 3 processes equal the whole rod bit for"
                                + " bit");
    }
}
