package dev.verbena.nsim.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nsim.network.NetworkContext;
import org.junit.jupiter.api.Test;

class VirtualTimeTest {
    @Test
    void shouldCountToTheLastTimeAndNoFurther() {
        long last = Long.MAX_VALUE;
        assertThat(VirtualTime.sum(last - 1, 1)).isEqualTo(last);
        assertThatThrownBy(() -> VirtualTime.sum(last, 1)).hasMessageContaining("106 days");
        assertThat(VirtualTime.times(7, last / 7)).isEqualTo(last);
        assertThat(VirtualTime.times(0, last)).isZero();
        assertThatThrownBy(() -> VirtualTime.times(2, last)).hasMessageContaining("106 days");
        // The low 64 bits alone are positive, then 0.
        assertThatThrownBy(() -> VirtualTime.times(5, last)).hasMessageContaining("106 days");
        assertThatThrownBy(() -> VirtualTime.times(1L << 32, 1L << 32))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("shorten the computation or raise the bandwidth");
    }

    /** Four times a quarter of all numbers would be none. */
    @Test
    void shouldRefuseStagesOfARouterThatTakeTooLong() {
        long stage = 1L << 62;
        NetworkContext context = new NetworkContext().routingPs(stage).vcAllocationPs(stage);
        context.switchAllocationPs(stage).switchPs(stage);
        assertThatThrownBy(context::routerPs).hasMessageContainingAll("router.rc", "106 days");
    }
}
