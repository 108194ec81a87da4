package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.transport.core.ConnectionLife;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class ControlRecordTest {
    private static final int IPV4 = 16;

    private static ControlRecord request(int nameLength) {
        ControlRecord record =
                new ControlRecord().wrap(new UnsafeBuffer(new byte[ControlRecord.LENGTH]), 0);
        record.sender(77, 1, 1_000_000_000L, new byte[nameLength]);
        record.write(ConnectionLife.CONNECT, 0, 4711, 1, 64, null);
        return record;
    }

    @Test
    void shouldRefuseANameThatIsNoAddressOfThisKind() {
        assertThat(request(IPV4).fault(IPV4)).isEmpty();
        assertThat(request(IPV4 + 4).fault(IPV4)).contains("a name of 20 bytes");
        assertThat(request(IPV4 + 4).fault(ControlRecord.ANY_LENGTH)).isEmpty();
        assertThat(request(0).fault(ControlRecord.ANY_LENGTH)).contains("a name of 0 bytes");
    }
}
