package dev.verbena.nessie.xdr;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HexFormat;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The source of the paper's Figure 4. */
@Timeout(60)
class XdrFigure4Test {
    /** Oldfield, Kordenbrock, Lofstead (2012), Figure 4, but for its last line, "...". */
    static final String SOURCE =
            """
            /* Data structure to transfer */
            struct data_t {
                int int_val;           /* 4 bytes */
                float float_val;      /* 4 bytes */
                double double_val;    /* 8 bytes */
            };

            /* Array of data structures */
            typedef data_t data_array_t<>;

            /* Arguments for xfer_write_encode */
            struct xfer_write_encode_args {
                data_array_t array;
            };

            /* Arguments for xfer_write_rdma */
            struct xfer_write_rdma_args {
                int len;
            };
            """;

    @TempDir Path folder;

    private static String hex(XdrObject value) {
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[value.encodedLength()]);
        assertThat(value.encode(buffer, 0)).isEqualTo(buffer.capacity());
        return HexFormat.of().formatHex(buffer.byteArray());
    }

    private static void fill(Object data, int value) {
        GeneratedXdr.set(data, "intVal", value);
        GeneratedXdr.set(data, "floatVal", (float) value);
        GeneratedXdr.set(data, "doubleVal", (double) value);
    }

    @Test
    @Tag("nessie-X3")
    void shouldEncodeTheDataOfTheTransferService() throws Exception {
        try (GeneratedXdr xdr = GeneratedXdr.compile(folder, "xfer.x", SOURCE)) {
            assertThat(xdr.files())
                    .containsOnlyKeys(
                            "DataT.java",
                            "DataArrayT.java",
                            "XferWriteEncodeArgs.java",
                            "XferWriteRdmaArgs.java");
            XdrObject data = xdr.make("DataT");
            fill(data, 1);
            assertThat(hex(data)).isEqualTo("000000013f8000003ff0000000000000");
            assertThat(data).hasToString("DataT{intVal=1, floatVal=1.0, doubleVal=1.0}");
            assertThat(xdr.type("DataT").getField("LENGTH").getInt(null)).isEqualTo(16);

            XdrObject arguments = xdr.make("XferWriteEncodeArgs");
            XdrList<?> array = (XdrList<?>) GeneratedXdr.get(arguments, "array");
            fill(array.add(), 1);
            fill(array.add(), -2);
            assertThat(hex(arguments))
                    .isEqualTo(
                            "00000002"
                                    + "000000013f8000003ff0000000000000"
                                    + "fffffffec0000000c000000000000000");

            XdrObject length = xdr.make("XferWriteRdmaArgs");
            GeneratedXdr.set(length, "len", 1000);
            assertThat(hex(length)).isEqualTo("000003e8");
        }
    }
}
