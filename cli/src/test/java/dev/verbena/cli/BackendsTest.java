package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.world.World;
import dev.verbena.transport.TransportProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each provider that a user has is under the whole contract suite. */
class BackendsTest {
    private static final Pattern SCHEME =
            Pattern.compile("String scheme\\(\\) \\{\\s*return ([\\w.\"]+);");

    @Test
    @Tag("nsim-43")
    void shouldTestEachBackendByTheSuite() throws IOException {
        Set<String> backends = new TreeSet<>(Set.of(World.SCHEME));
        ServiceLoader.load(TransportProvider.class).forEach(each -> backends.add(each.scheme()));
        assertThat(backends).contains("auto", "gni", "ofi", "portals", "shm", "sim", "verbs");
        Set<String> tested = new TreeSet<>();
        for (Path suite : suites()) {
            Matcher scheme = SCHEME.matcher(Files.readString(suite));
            if (scheme.find()) {
                tested.add(schemeOf(scheme.group(1)));
            }
        }
        assertThat(tested).containsAll(backends);
    }

    private static String schemeOf(String expression) {
        return switch (expression) {
            case "World.SCHEME" -> World.SCHEME;
            case "VerbsTransportProvider.SCHEME" -> "verbs";
            default -> expression.replace("\"", "");
        };
    }

    private static List<Path> suites() throws IOException {
        List<Path> found = new ArrayList<>();
        for (String module : List.of("java-api", "portals-emul", "gni-shim", "ofi", "nsim")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src/test/java"))) {
                for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                    if (Files.readString(file).contains(" extends TransportContract {")) {
                        found.add(file);
                    }
                }
            }
        }
        return found;
    }
}
