package dev.verbena.nessie.xdr;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random types and values, beside the C that rpcgen makes of the same source: C decodes the bytes
 * of Java to the same values and encodes these to the same bytes.
 */
@Timeout(300)
class XdrRpcgenIT {
    private static final int TYPES = 40;
    private static final String MAIN =
            """
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <arpa/inet.h>
            #include "r.h"
            static void hex(const char *bytes, size_t n)
            {
                putchar('x');
                for (size_t i = 0; i < n; i++)
                    printf("%02x", (unsigned char)bytes[i]);
                putchar(' ');
            }
            static unsigned float_bits(float v) { unsigned bits; memcpy(&bits, &v, 4); return bits; }
            static unsigned long double_bits(double v) { unsigned long bits; memcpy(&bits, &v, 8); return bits; }
            PRINTERS
            static const struct { size_t size; xdrproc_t proc; void (*print)(void *); } all[] = {
            TABLE};
            int main(void)
            {
                unsigned head[2];
                while (fread(head, 4, 2, stdin) == 2) {
                    unsigned type = ntohl(head[0]), length = ntohl(head[1]);
                    char *in = malloc(length + 4), *out = malloc(length + 4);
                    if (fread(in, 1, length, stdin) != length)
                        return 1;
                    void *value = calloc(1, all[type].size);
                    XDR xdrs;
                    xdrmem_create(&xdrs, in, length, XDR_DECODE);
                    int is_decoded = all[type].proc(&xdrs, value);
                    unsigned taken = xdr_getpos(&xdrs);
                    if (!is_decoded) {
                        printf("not decoded\\n");
                        continue;
                    }
                    xdrmem_create(&xdrs, out, length, XDR_ENCODE);
                    int is_encoded = all[type].proc(&xdrs, value);
                    printf("%u %d ", taken, is_encoded);
                    hex(out, xdr_getpos(&xdrs));
                    all[type].print(value);
                    putchar('\\n');
                }
                return 0;
            }
            """;

    @TempDir Path folder;

    private static void need(String program, String debianPackage) {
        boolean isThere =
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(path -> Files.isExecutable(Path.of(path, program)));
        Assumptions.assumeTrue(isThere, program + " is not on the PATH, package " + debianPackage);
    }

    private void run(Path in, Path out, String... command) throws Exception {
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectError(folder.resolve("errors").toFile());
        builder.redirectInput(in == null ? new File("/dev/null") : in.toFile());
        builder.redirectOutput(out == null ? new File("/dev/null") : out.toFile());
        Process process = builder.start();
        try {
            assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue())
                .as("%s: %s", List.of(command), Files.readString(folder.resolve("errors")))
                .isZero();
    }

    private void buildInC(RandomXdr random) throws Exception {
        Files.deleteIfExists(folder.resolve("r.h"));
        Files.deleteIfExists(folder.resolve("r_xdr.c"));
        Files.writeString(folder.resolve("r.x"), random.source());
        run(null, null, "rpcgen", "-h", "-o", "r.h", "r.x");
        run(null, null, "rpcgen", "-c", "-o", "r_xdr.c", "r.x");
        StringBuilder table = new StringBuilder();
        for (RandomXdr.Type type : random.types()) {
            String name = type.name();
            table.append(
                    "{sizeof(%s), (xdrproc_t)xdr_%s, (void (*)(void *))print_%s},\n"
                            .formatted(name, name, name));
        }
        Files.writeString(
                folder.resolve("main.c"),
                MAIN.replace("PRINTERS", random.printers()).replace("TABLE", table));
        run(
                null,
                null,
                "gcc",
                "-w",
                "-O0",
                "-I/usr/include/tirpc",
                "-o",
                "r",
                "main.c",
                "r_xdr.c",
                "-ltirpc");
    }

    @Test
    void shouldEncodeRandomValuesAsRpcgenDoes() throws Exception {
        need("rpcgen", "rpcsvc-proto");
        need("gcc", "gcc");
        Assumptions.assumeTrue(
                Files.exists(Path.of("/usr/include/tirpc/rpc/rpc.h")),
                "no /usr/include/tirpc/rpc/rpc.h, package libtirpc-dev");
        long seed = Long.getLong("verbena.seed", System.nanoTime() % 1_000_000_007);
        // --long: 60 sources of 40 types instead of 4
        int sources = Boolean.getBoolean("verbena.long") ? 60 : 4;
        for (int i = 0; i < sources; i++) {
            System.out.println("rpcgen: -Dverbena.seed=" + (seed + i));
            compare(new RandomXdr(seed + i, TYPES), seed + i);
        }
    }

    private void compare(RandomXdr random, long seed) throws Exception {
        buildInC(random);
        SplittableRandom values = new SplittableRandom(seed);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        List<RandomXdr.Type> types = random.types();
        StringBuilder expected = new StringBuilder();
        Path classes = Files.createTempDirectory(folder, "java");
        try (GeneratedXdr java = GeneratedXdr.compile(classes, "r.x", random.source())) {
            for (int i = 0; i < 50 * types.size(); i++) {
                int number = i % types.size();
                XdrObject value = java.make(types.get(number).java());
                random.fill(value, types.get(number), values);
                byte[] encoded = new byte[value.encodedLength()];
                assertThat(value.encode(new UnsafeBuffer(encoded), 0)).isEqualTo(encoded.length);
                XdrObject again = java.make(types.get(number).java());
                assertThat(again.decode(new UnsafeBuffer(encoded), 0, encoded.length))
                        .isEqualTo(encoded.length);
                String text = random.text(value, types.get(number));
                assertThat(random.text(again, types.get(number))).isEqualTo(text);
                out.writeInt(number);
                out.writeInt(encoded.length);
                out.write(encoded);
                String hex = HexFormat.of().formatHex(encoded);
                expected.append("%d 1 x%s %s\n".formatted(encoded.length, hex, text));
            }
        }
        Path in = Files.write(folder.resolve("in"), bytes.toByteArray());
        run(in, folder.resolve("out"), folder.resolve("r").toString());
        List<String> inC = Files.readAllLines(folder.resolve("out"));
        List<String> inJava = expected.toString().lines().toList();
        assertThat(inC).hasSameSizeAs(inJava);
        for (int i = 0; i < inJava.size(); i++) {
            assertThat(inC.get(i))
                    .as(
                            "seed %d, type %s of\n%s",
                            seed, types.get(i % types.size()).name(), random.source())
                    .isEqualTo(inJava.get(i));
        }
    }
}
