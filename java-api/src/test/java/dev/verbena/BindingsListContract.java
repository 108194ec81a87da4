package dev.verbena;

import static org.assertj.core.api.Assertions.assertThat;

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
 * The committed list of everything that a personality binds, so that a review sees what changes.
 * {@code -Dverbena.bindings.write=true} writes it anew. A module's subclass names its bindings.
 */
@Timeout(60)
public abstract class BindingsListContract {
    private static final Path LIST = Path.of("bindings.txt");

    private final Class<?> bindings;
    private final String constantPrefix;

    /** The list of a generated class: its calls, and its constants that begin so. */
    protected BindingsListContract(Class<?> bindings, String constantPrefix) {
        this.bindings = bindings;
        this.constantPrefix = constantPrefix;
    }

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

    private TreeSet<String> generate() throws IllegalAccessException {
        TreeSet<String> lines = new TreeSet<>();
        for (Method method : bindings.getDeclaredMethods()) {
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
        for (Field field : bindings.getDeclaredFields()) {
            if (field.getName().startsWith(constantPrefix) && field.getType() == int.class) {
                lines.add("constant " + field.getName() + " = " + field.getInt(null));
            }
        }
        return lines;
    }
}
