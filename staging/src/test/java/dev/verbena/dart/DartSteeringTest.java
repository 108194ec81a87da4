package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DartSteeringTest {
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[DartSteering.LENGTH_MAX + 16]);

    @Test
    void shouldReadSteeringCommandsAndRefuseOthers() {
        DartSteering command =
                new DartSteering(DartSteering.USER + 3)
                        .fromStep(9)
                        .number(Long.MIN_VALUE)
                        .real(-0.5)
                        .text("é".repeat(127));
        int length = command.encode(buffer, 8);
        assertThat(new DartSteering(0).decode(buffer, 8, length).toString())
                .isEqualTo(command.toString());
        for (int wrong : new int[] {0, DartSteering.FIXED_LENGTH - 1, length - 1, length + 1}) {
            assertThatThrownBy(() -> new DartSteering(0).decode(buffer, 8, wrong))
                    .isInstanceOf(DartException.class)
                    .hasMessageContaining("steering command");
        }
        assertThatThrownBy(() -> command.text("x".repeat(256)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
