package dev.verbena.nessie.xdr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nessie.xdr.compiler.XdrCompiler;
import dev.verbena.nessie.xdr.compiler.XdrSourceException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class XdrCompilerTest {
    private static final XdrCompiler.Options OPTIONS = new XdrCompiler.Options("p", 100, 64);

    @TempDir Path folder;

    private static void compile(String source) {
        XdrCompiler.compile("f.x", source, OPTIONS);
    }

    @Test
    void shouldTakeTheWholeLanguage() throws Exception {
        try (GeneratedXdr xdr = GeneratedXdr.compile(folder, "samples.x", XdrSamples.SOURCE)) {
            Class<?> constants = xdr.type("SamplesConstants");
            assertThat(constants.getField("SMALL").get(null)).isEqualTo(3);
            assertThat(constants.getField("BIG").get(null)).isEqualTo(1L << 32);
            assertThat(constants.getField("OCTAL").get(null)).isEqualTo(8);
            Class<?> color = xdr.type("Color");
            assertThat(color.getEnumConstants())
                    .extracting(Object::toString)
                    .containsExactly("RED", "GREEN", "BLUE");
            assertThat(color.getMethod("of", int.class).invoke(null, 5)).hasToString("BLUE");
            assertThat(color.getMethod("of", int.class).invoke(null, 1)).isNull();
            assertThat(xdr.make("Inner")).hasToString("Inner{x=0, side=LEFT}");
            assertThat(xdr.make("HashCode").encodedLength()).isEqualTo(16);
            assertThat(xdr.make("ObjectValue").encodedLength()).isEqualTo(8);
            assertThat(xdr.files()).doesNotContainKey("Number.java").containsKey("Numbers.java");
        }
    }

    @Test
    void shouldGiveOperationsNamesAndNumbers() throws Exception {
        try (GeneratedXdr xdr = GeneratedXdr.compile(folder, "samples.x", XdrSamples.SOURCE)) {
            assertThat(xdr.type("Store").getField("NUMBER").get(null)).isEqualTo(0x20000099);
            XdrOperation<?, ?> none = operation(xdr, "FirstOperations", "NULL_CALL");
            assertThat(none.number()).isZero();
            assertThat(none.arguments().get()).isInstanceOf(XdrVoid.class);
            assertThat(none.result().get().encodedLength()).isZero();
            XdrOperation<?, ?> add = operation(xdr, "FirstOperations", "ADD");
            assertThat(add.name()).isEqualTo("ADD");
            assertThat(List.of(add.program(), add.version(), add.number()))
                    .containsExactly(0x20000099, 1, 1);
            Object arguments = add.arguments().get();
            GeneratedXdr.set(arguments, "value1", 5);
            GeneratedXdr.set(arguments, "value2", 6);
            assertThat(arguments).hasToString("ADD1Arguments{value1=5, value2=6}");
            assertThat(add.result().get()).isInstanceOf(XdrInts.class);
            XdrOperation<?, ?> name = operation(xdr, "SecondOperations", "NAME");
            assertThat(name.version()).isEqualTo(2);
            assertThat(name.arguments().get()).isInstanceOf(xdr.type("ObjectValue"));
            assertThat(GeneratedXdr.get(name.result().get(), "value"))
                    .isInstanceOf(XdrString.class);
        }
    }

    private static XdrOperation<?, ?> operation(GeneratedXdr xdr, String version, String name)
            throws ReflectiveOperationException {
        return (XdrOperation<?, ?>) xdr.type("Store$" + version).getField(name).get(null);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    struct a { int b }; | 1:18 | expected ';', found '}'
                    struct a { int; }; | 1:15 | expected the name of a field or type, found ';'
                    struct a { void; }; | 1:12 | a struct has no field of type void
                    struct a { b c; }; | 1:12 | 'b' is not defined
                    struct a { a b; }; | 1:8 | 'a' contains itself
                    struct a { b c; }; struct b { a d[2]; }; | 1:8 | 'a' contains itself
                    struct a { int b[N]; }; | 1:18 | no constant 'N' is defined above
                    struct a { int b[0]; }; | 1:18 | a length cannot be 0
                    struct a { int b<-1>; }; | 1:18 | a length cannot be -1
                    struct a { double b[0x10000000]; }; | 1:8 | 'a' takes at least 2 GiB encoded
                    struct a { quadruple b; }; | 1:12 | Java has no type for a quadruple
                    struct a { int b_c; int bC; }; | 1:25 | 'b_c' and 'bC' both become bC in Java
                    struct a_b { int i; }; struct aB { int i; }; | 1:31 | 'a_b' and 'aB' both become AB in Java
                    struct a { int i; }; enum a { B }; | 1:27 | 'a' is defined already, at f.x:1:8
                    struct int { int i; }; | 1:8 | expected the name of a type, found 'int'
                    struct a { int i; } | 1:20 | expected ';', found the end of the file
                    struct a { struct { int i; | 1:27 | expected a type, found the end of the file
                    enum a { B = 1, C = 1 }; | 1:17 | two constants of 'a' are 1
                    enum a { B, B }; | 1:13 | 'B' has a value already
                    enum a { B = 0x80000000 }; | 1:10 | 2147483648 does not fit into an enum
                    union a switch (float f) { case 1: void; }; | 1:23 | a union is selected by an int, an enum or a bool
                    union a switch (int f) { default: void; }; | 1:1 | the union has no case
                    union a switch (int f) { case 1: void; case 1: int i; }; | 1:45 | there is a case 1 already
                    union a switch (bool f) { case 2: void; }; | 1:32 | the discriminant is never 2
                    enum e { A }; union a switch (e f) { case 7: void; }; | 1:43 | no constant of 'e' is 7
                    union a switch (int f) { case 1: void; default: void; case 2: void; }; | 1:55 | expected '}', for default is the last arm
                    typedef a b; typedef b a; | 1:9 | 'a' is only another name of itself
                    typedef void; | 1:9 | void is no type to name
                    const A = 09; | 1:11 | '09' is no number
                    const A = 99999999999999999999; | 1:11 | 99999999999999999999 does not fit into 64 bits
                    const A = ; | 1:11 | expected a number or a constant, found ';'
                    const A = 1; struct b { A c; }; | 1:25 | 'A' is no type
                    program P { version V { int F(void, int) = 1; } = 1; } = 1; | 1:31 | void is no argument beside others
                    program P { version V { int F(int) = -1; } = 1; } = 1; | 1:38 | -1 does not fit into 32 bits
                    int a; | 1:1 | expected const, enum, struct, union, typedef or program, found 'int'
                    /* a | 1:1 | the comment has no end
                    #define A 1 | 1:1 | directives of the C preprocessor: run the file through cpp first
                    struct a { int b; } $ | 1:21 | '$' has no meaning here
                    """)
    void shouldSayWhereAndWhatIsWrong(String source, String at, String what) {
        assertThatThrownBy(() -> compile(source))
                .isInstanceOf(XdrSourceException.class)
                .hasMessage("f.x:" + at + ": " + what);
    }

    @Test
    void shouldCountLinesAndColumnsFromOneAndFollowMarkersOfThePreprocessor() {
        assertThatThrownBy(() -> compile("/* two\nlines */\n  bad"))
                .isInstanceOf(XdrSourceException.class)
                .hasMessageStartingWith("f.x:3:3: ");
        assertThatThrownBy(() -> compile("# 7 \"other.x\" 2\nbad"))
                .hasMessageStartingWith("other.x:7:1: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a.", "a..b", "a.class", "1a", "a/b"})
    void shouldRefuseWhatIsNoPackage(String name) {
        assertThatThrownBy(() -> new XdrCompiler.Options(name, 1, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + name + "'");
    }

    @Test
    void shouldEndInAValueOrANamedErrorWhateverTheSource() {
        byte[] source = XdrSamples.SOURCE.getBytes(StandardCharsets.ISO_8859_1);
        new dev.verbena.Fuzz("xdr compiler", List.of(source), 64 << 20)
                .run(
                        input -> {
                            try {
                                compile(new String(input, StandardCharsets.ISO_8859_1));
                            } catch (XdrSourceException e) {
                                assertThat(e.getMessage()).containsPattern(":[1-9]\\d*:[1-9]");
                            }
                        });
    }
}
