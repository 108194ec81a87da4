package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.ugni.bindings.ugni;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The committed list of everything that is bound, so that a review sees what changes. {@code
 * -Dverbena.bindings.write=true} writes it anew.
 */
@Timeout(60)
class UgniBindingsListTest {
    private static final Path LIST = Path.of("bindings.txt");

    @Test
    void shouldBindExactlyWhatTheCommittedListSays() throws Exception {
        String now = String.join("\n", generate()) + "\n";
        if (Boolean.getBoolean("verbena.bindings.write")) {
            Files.writeString(LIST, now);
        }
        assertThat(now)
                .as(
                        "%s; run this test with -Dverbena.bindings.write=true and review the change",
                        LIST)
                .isEqualTo(Files.readString(LIST));
    }

    private static TreeSet<String> generate() throws IllegalAccessException {
        TreeSet<String> lines = new TreeSet<>();
        for (Method method : ugni.class.getDeclaredMethods()) {
            if (Modifier.isNative(method.getModifiers())) {
                lines.add(
                        "function "
                                + method.getReturnType().getSimpleName()
                                + " "
                                + method.getName()
                                + Arrays.stream(method.getParameterTypes())
                                        .map(Class::getSimpleName)
                                        .collect(Collectors.joining(", ", "(", ")")));
            }
        }
        for (Field field : ugni.class.getDeclaredFields()) {
            if (field.getType() == int.class) {
                lines.add("constant " + field.getName() + " = " + field.getInt(null));
            }
        }
        return lines;
    }
}
