package dev.verbena.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.annotation.Name;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The committed list of everything that is bound of rdma-core: names with their signatures,
 * constants, sizes and offsets. It is of one version, named in its first line; with the headers of
 * another one the list cannot be the same, and only what the toolkit itself uses is checked. {@code
 * -Dverbena.bindings.write=true} writes it anew.
 */
@Timeout(120)
class VerbsBindingsListTest {
    private static final Path LIST = Path.of("verbs-bindings.txt");
    private static final Path CLASSES = Path.of("target/classes/dev/verbena/rdma/bindings");
    private static final List<Class<?>> BOUND = new ArrayList<>();

    @BeforeAll
    static void load() throws Exception {
        assertThat(VerbsAccess.unavailabilityCause()).isNull();
        try (Stream<Path> files = Files.list(CLASSES)) {
            for (Path file : files.sorted().toList()) {
                String name = file.getFileName().toString();
                if (name.endsWith(".class")) {
                    String type = name.substring(0, name.length() - ".class".length());
                    BOUND.add(Class.forName("dev.verbena.rdma.bindings." + type));
                }
            }
        }
    }

    @Test
    void shouldBindExactlyWhatTheCommittedListSays() throws Exception {
        String version = versionOfTheHeaders();
        String now = "rdma-core " + version + "\n" + String.join("\n", generate()) + "\n";
        if (Boolean.getBoolean("verbena.bindings.write")) {
            Files.writeString(LIST, now);
        }
        String committed = Files.readString(LIST);
        String committedVersion = committed.lines().findFirst().orElse("");
        assumeTrue(
                committedVersion.equals("rdma-core " + version),
                () ->
                        "the committed list is of "
                                + committedVersion
                                + ", the headers here are of "
                                + version);
        assertThat(now)
                .as(
                        "%s; run this test with -Dverbena.bindings.write=true and review the change",
                        LIST)
                .isEqualTo(committed);
    }

    @Test
    void shouldAgreeOnEveryOffsetThatTheFlyweightsUse() throws Exception {
        TreeMap<String, Long> sizesAndOffsets = sizesAndOffsets();
        int compared = 0;
        for (int row = 0; row < verbscalls.vv_layout_count(); row++) {
            String name = verbscalls.vv_layout_name(row).getString();
            String key = name.replaceAll("struct |union ", "");
            Long generated = sizesAndOffsets.get(key);
            if (generated != null) {
                assertThat(verbscalls.vv_layout_value(row)).as(name).isEqualTo(generated);
                compared++;
            }
        }
        assertThat(compared).isGreaterThan(250);
        assertThat(VerbsLayout.class.getFields()).hasSize(verbscalls.vv_layout_count());
    }

    @Test
    void shouldFindEveryFunctionOfTheHeadersThatTheLibraryHas() {
        List<String> names = new ArrayList<>();
        for (int row = 0; row < verbscalls.vv_symbol_count(); row++) {
            names.add(verbscalls.vv_symbol_name(row).getString());
        }
        assertThat(names).hasSizeGreaterThan(100).doesNotHaveDuplicates();
        assertThat(names)
                .contains("ibv_reg_dmabuf_mr", "_ibv_query_gid_ex", "rdma_join_multicast_ex");
    }

    private static TreeSet<String> generate() throws Exception {
        TreeSet<String> lines = new TreeSet<>();
        for (Class<?> type : BOUND) {
            for (Method method : type.getDeclaredMethods()) {
                int modifiers = method.getModifiers();
                if (Modifier.isNative(modifiers) && Modifier.isStatic(modifiers)) {
                    lines.add("function " + signature(method));
                }
            }
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isPublic(field.getModifiers()) && field.getType().isPrimitive()) {
                    lines.add("constant " + field.getName() + " = " + field.get(null));
                }
            }
        }
        for (Method method : verbscalls.class.getDeclaredMethods()) {
            if (Modifier.isNative(method.getModifiers())) {
                lines.add("call " + signature(method));
            }
        }
        sizesAndOffsets().forEach((name, value) -> lines.add("layout " + name + " = " + value));
        return lines;
    }

    private static String signature(Method method) {
        return method.getReturnType().getSimpleName()
                + " "
                + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    /** {@code sizeof(ibv_wc)} and {@code ibv_wc.wr_id}, of every structure with known contents. */
    private static TreeMap<String, Long> sizesAndOffsets() {
        TreeMap<String, Long> found = new TreeMap<>();
        for (Class<?> type : BOUND) {
            if (!Pointer.class.isAssignableFrom(type)) {
                continue;
            }
            Class<? extends Pointer> structure = type.asSubclass(Pointer.class);
            int size = Loader.sizeof(structure);
            if (size <= 0) {
                continue;
            }
            for (Method method : type.getDeclaredMethods()) {
                Name name = method.getAnnotation(Name.class);
                String field = name != null ? name.value()[0] : method.getName();
                Integer offset = offsetof(structure, field);
                if (offset != null) {
                    found.put(type.getSimpleName() + "." + field, (long) offset);
                    found.put("sizeof(" + type.getSimpleName() + ")", (long) size);
                }
            }
        }
        return found;
    }

    /** Null if the structure has no such field. */
    private static Integer offsetof(Class<? extends Pointer> structure, String field) {
        try {
            return Loader.offsetof(structure, field);
        } catch (NullPointerException noSuchField) {
            return null;
        }
    }

    /** From the description for pkg-config, which comes with the headers. */
    private static String versionOfTheHeaders() throws IOException {
        for (String pattern : List.of("/usr/lib", "/usr/lib64")) {
            if (!Files.isDirectory(Path.of(pattern))) {
                continue;
            }
            try (DirectoryStream<Path> folders = Files.newDirectoryStream(Path.of(pattern))) {
                for (Path folder : folders) {
                    Path direct = folder.resolve("libibverbs.pc");
                    Path nested = folder.resolve("pkgconfig/libibverbs.pc");
                    for (Path file : List.of(direct, nested)) {
                        if (Files.isReadable(file)) {
                            return version(file);
                        }
                    }
                }
            }
        }
        return "of a version that no libibverbs.pc names";
    }

    private static String version(Path file) throws IOException {
        for (String line : Files.readAllLines(file)) {
            if (line.startsWith("Version:")) {
                // 1.14.44.0: the library's version, then that of rdma-core.
                String[] parts = line.substring("Version:".length()).trim().split("\\.");
                return parts.length < 2
                        ? line
                        : parts[parts.length - 2] + "." + parts[parts.length - 1];
            }
        }
        return "of no version";
    }
}
