package dev.verbena.nessie.xdr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class XdrValueTest {
    private static GeneratedXdr xdr;

    @BeforeAll
    static void compile(@TempDir Path folder) throws IOException {
        xdr = GeneratedXdr.compile(folder, "samples.x", XdrSamples.SOURCE, 1000, 8);
    }

    @AfterAll
    static void close() throws IOException {
        xdr.close();
    }

    private static byte[] bytes(XdrObject value) {
        byte[] bytes = new byte[value.encodedLength()];
        value.encode(new UnsafeBuffer(bytes), 0);
        return bytes;
    }

    private static int decode(XdrObject value, byte[] bytes) {
        return value.decode(new UnsafeBuffer(bytes), 0, bytes.length);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Name | 000000 | 1 bytes are missing: 4 are needed and 3 are left
                    Name | 00000009 | 9 elements; there may be 8
                    Name | ffffffff | 4294967295 elements; there may be 8
                    Name | 00000005414141 | 2 bytes are missing: 5 are needed and 3 are left
                    Name | 000000054141414141 | 3 bytes are missing: 8 are needed and 5 are left
                    Name | 000000014100ff00 | padding is not zero
                    Flag | 00000002 | a discriminant selects no arm
                    Tint | 00000004 | a discriminant selects no arm
                    ColorPair | 0000000000000001 | a number is none of enum Color
                    ColorPair | 00000000 | 4 bytes are missing: 8 are needed and 4 are left
                    Numbers | 00000004000000010000000200000003 | 4 bytes are missing: 16 are needed and 12 are left
                    Entries | 00000002 | 2 elements; there may be 1
                    Tree | 000000000000ffff | 65535 elements; there may be 1000
                    Tree | 00000000000003e8 | 8000 bytes are missing: 8000 are needed and 0 are left
                    """)
    void shouldNameWhatIsWrongWithBytes(String type, String hex, String message) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        XdrObject value = xdr.make(type);
        assertThatThrownBy(() -> decode(value, bytes))
                .isInstanceOf(XdrException.class)
                .hasMessage(message);
        // What is left is a value.
        assertThat(decode(value, bytes(value))).isEqualTo(value.encodedLength());
    }

    @Test
    void shouldRefuseNumbersThatAShortTypeDoesNotHave() {
        XdrObject all = xdr.make("All");
        assertThatThrownBy(() -> GeneratedXdr.set(all, "c", 128))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("128 is outside -128 to 127");
        byte[] bytes = bytes(all);
        bytes[51] = -1; // unsigned char uc, behind 48 bytes
        assertThat(decode(all, bytes)).isEqualTo(bytes.length);
        assertThat(GeneratedXdr.get(all, "uc")).isEqualTo(255);
        bytes[50] = 1;
        assertThatThrownBy(() -> decode(all, bytes))
                .isInstanceOf(XdrException.class)
                .hasMessage("511 is outside 0 to 255");
    }

    @Test
    void shouldLeaveTheBufferAloneWhenThereIsTooLittleRoom() {
        XdrObject pair = xdr.make("ColorPair");
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[12]);
        buffer.setMemory(0, 12, (byte) 7);
        assertThatThrownBy(() -> pair.encode(buffer, 5))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> pair.encode(buffer, -1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(buffer.byteArray()).containsOnly(7);
        assertThat(pair.encode(buffer, 4)).isEqualTo(8);
        assertThatThrownBy(() -> pair.decode(buffer, 4, 13))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> pair.decode(buffer, 8, 4))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> pair.decode(buffer, 4, 11)).isInstanceOf(XdrException.class);
        assertThat(pair.decode(buffer, 4, 12)).isEqualTo(8);
    }

    @Test
    void shouldWalkALinkedListOfAnyLengthWithinTheMaximum() {
        XdrObject list = linked(1000);
        byte[] bytes = bytes(list);
        assertThat(bytes).hasSize(4 + 1000 * 8);
        XdrObject again = xdr.make("Entries");
        assertThat(decode(again, bytes)).isEqualTo(bytes.length);
        assertThat(again).isEqualTo(list).hasSameHashCodeAs(list);
        assertThat(again.toString()).contains("...}}}").hasSizeLessThan(10_000);
        assertThatThrownBy(() -> linked(1001).encodedLength())
                .isInstanceOf(XdrException.class)
                .hasMessage("a linked list has more than 1000 nodes");
        byte[] longer = java.util.Arrays.copyOf(bytes, bytes.length + 8);
        longer[bytes.length - 1] = 1;
        assertThatThrownBy(() -> decode(again, longer))
                .isInstanceOf(XdrException.class)
                .hasMessage("a linked list has more than 1000 nodes");
    }

    private static XdrObject linked(int count) {
        XdrOptional<?> head = (XdrOptional<?>) xdr.make("Entries");
        XdrOptional<?> at = head;
        for (int i = 0; i < count; i++) {
            at = (XdrOptional<?>) GeneratedXdr.get(at.add(), "next");
        }
        return head;
    }

    @Test
    void shouldRefuseTooDeepNesting() {
        assertThat(decode(xdr.make("Tree"), nested(9))).isEqualTo(72);
        assertThatThrownBy(() -> decode(xdr.make("Tree"), nested(10)))
                .isInstanceOf(XdrException.class)
                .hasMessage("arrays or optional values are nested too deeply");
        XdrObject tree = xdr.make("Tree");
        XdrObject at = tree;
        for (int i = 0; i < 20; i++) {
            at = ((XdrList<?>) GeneratedXdr.get(at, "children")).add();
        }
        assertThatThrownBy(tree::encodedLength)
                .isInstanceOf(XdrException.class)
                .hasMessage("arrays or optional values are nested too deeply");
    }

    @Test
    void shouldDecodeTheDeepestNestingThatMayBeChosen(@TempDir Path folder) throws Exception {
        int depth = 512;
        try (GeneratedXdr deep =
                GeneratedXdr.compile(
                        folder, "t.x", "struct tree { int v; tree t<>; };", 9, depth)) {
            byte[] bytes = nested(depth + 1);
            XdrObject tree = deep.make("Tree");
            assertThat(decode(tree, bytes)).isEqualTo(bytes.length);
            assertThat(bytes(tree)).isEqualTo(bytes);
            assertThat(tree.toString()).startsWith("Tree{v=0, t=[Tree{v=0");
            assertThatThrownBy(() -> decode(tree, nested(depth + 2)))
                    .isInstanceOf(XdrException.class);
        }
    }

    /** Trees of one child each. */
    private static byte[] nested(int levels) {
        byte[] bytes = new byte[8 * levels];
        for (int i = 0; i < levels - 1; i++) {
            bytes[8 * i + 7] = 1;
        }
        return bytes;
    }

    @Test
    void shouldGiveAccessToTheSelectedArmOnly() {
        XdrObject result = xdr.make("Result");
        assertThat(result).hasToString("Result{status=0, pair=ColorPair{a=RED, b=RED}}");
        assertThatThrownBy(() -> GeneratedXdr.get(result, "message"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the discriminant does not select message");
        GeneratedXdr.set(result, "status", 77);
        ((XdrString) GeneratedXdr.get(result, "message")).text("gone");
        assertThat(HexFormat.of().formatHex(bytes(result))).isEqualTo("0000004d00000004676f6e65");
        GeneratedXdr.set(result, "status", -1);
        assertThat(HexFormat.of().formatHex(bytes(result))).isEqualTo("ffffffff");
        GeneratedXdr.set(result, "status", 78);
        assertThat(result).hasToString("Result{status=78, message=\"\"}");
        XdrObject tint = xdr.make("Tint");
        assertThatThrownBy(
                        () -> GeneratedXdr.set(tint, "c", xdr.type("Color").getEnumConstants()[1]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("GREEN selects no arm");
    }

    @Test
    void shouldKeepBoundsOfArraysAndForgetWhatWasInThem() {
        XdrObject all = xdr.make("All");
        XdrString text = (XdrString) GeneratedXdr.get(all, "text");
        text.text("abc");
        assertThatThrownBy(() -> text.text("abcd"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("4 elements; there are at most 3");
        assertThatThrownBy(() -> text.text("\u00e9\u00e9"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(text.text()).isEqualTo("abc");
        assertThatThrownBy(() -> text.get(3)).isInstanceOf(IndexOutOfBoundsException.class);
        XdrInts three = (XdrInts) GeneratedXdr.get(all, "three");
        three.set(2, 5);
        assertThatThrownBy(() -> three.resize(2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("2 elements; there are always 3");
        XdrLongs four = (XdrLongs) GeneratedXdr.get(all, "four");
        for (int i = 1; i <= 4; i++) {
            four.add(i);
        }
        assertThatThrownBy(() -> four.add(5)).isInstanceOf(IllegalStateException.class);
        four.resize(0);
        four.resize(4);
        assertThat(four).hasToString("[0, 0, 0, 0]");
        XdrOptional<?> pair = (XdrOptional<?>) GeneratedXdr.get(all, "pair");
        assertThatThrownBy(pair::get).isInstanceOf(IllegalStateException.class);
        pair.add();
        assertThat(all).isNotEqualTo(xdr.make("All"));
        all.reset();
        assertThat(all).isEqualTo(xdr.make("All")).hasSameHashCodeAs(xdr.make("All"));
    }
}
