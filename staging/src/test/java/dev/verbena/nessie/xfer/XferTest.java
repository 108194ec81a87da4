package dev.verbena.nessie.xfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nessie.xdr.XdrException;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The transfer service over shm://, and what needs no transport. */
class XferTest extends XferContract {
    @Override
    protected String scheme() {
        return "shm";
    }

    @Test
    @Tag("nessie-X4")
    void shouldDistributeClientsOverServers() {
        int[] counts = new int[3];
        int last = 0;
        for (int client = 0; client < 7; client++) {
            int server = Distribution.BLOCK.serverOf(client, 7, 3);
            assertThat(server).isBetween(last, last + 1);
            counts[server]++;
            last = server;
        }
        assertThat(counts).containsExactly(3, 2, 2);
        assertThat(IntStream.range(0, 7).map(i -> Distribution.ROUND_ROBIN.serverOf(i, 7, 3)))
                .containsExactly(0, 1, 2, 0, 1, 2, 0);
        assertThat(Distribution.BLOCK.serverOf(1, 2, 5)).isEqualTo(1);
        assertThatThrownBy(() -> Distribution.BLOCK.serverOf(7, 7, 3))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** The server keeps the object for the next request. */
    @Test
    void shouldKeepNoMemoryOfArgumentsThatAreRefused() {
        XferArgs sent = new XferArgs(new DataArray().resize(1 << 17));
        sent.set(5, 0, Validation.NONE);
        UnsafeBuffer encoded = new UnsafeBuffer(new byte[sent.encodedLength()]);
        sent.encode(encoded, 0);
        XferArgs args = new XferArgs(new DataArray());
        assertThatThrownBy(() -> args.decode(encoded, 0, encoded.capacity()))
                .isInstanceOf(XdrException.class)
                .hasMessage("131072 elements, announced 5, validation 0");
        assertThat(args.array.memory().capacity()).isZero();
    }

    @Test
    @Tag("nessie-X3")
    void shouldEncodeElementsAsRfc4506() {
        DataArray array = new DataArray().resize(1);
        DataArray.fill(array.memory(), 0, 1, 1 - 1024, 0);
        UnsafeBuffer encoded = new UnsafeBuffer(new byte[20]);
        assertThat(array.encode(encoded, 0)).isEqualTo(20);
        assertThat(java.util.HexFormat.of().formatHex(encoded.byteArray()))
                .isEqualTo("00000001" + "00000001" + "3f800000" + "3ff0000000000000");
    }
}
