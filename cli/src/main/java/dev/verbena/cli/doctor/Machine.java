package dev.verbena.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The files by which a machine describes itself, below a root that tests may choose, and the
 * environment. What cannot be read counts as absent.
 */
final class Machine {
    private static final long UNLIMITED = Long.MAX_VALUE;

    private final Path root;
    private final Map<String, String> environment;

    Machine(Path root, Map<String, String> environment) {
        this.root = root;
        this.environment = environment;
    }

    static Machine real() {
        return new Machine(Path.of("/"), System.getenv());
    }

    Path path(String absolute) {
        return root.resolve(absolute.substring(1));
    }

    boolean exists(String absolute) {
        return Files.exists(path(absolute));
    }

    /** The text without spaces around it; empty if it cannot be read. */
    String text(String absolute) {
        try {
            // Files of /proc have no length: read to the end.
            return new String(Files.readAllBytes(path(absolute))).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** Names in a folder, sorted; none if there is no such folder. */
    List<String> names(String absolute) {
        List<String> names = new ArrayList<>();
        try (var entries = Files.newDirectoryStream(path(absolute))) {
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (IOException e) {
            return names;
        }
        names.sort(null);
        return names;
    }

    String variable(String name) {
        return environment.getOrDefault(name, "");
    }

    /** What follows "label:" on a line of a file like /proc/self/status; empty if there is none. */
    String field(String absolute, String label) {
        return text(absolute)
                .lines()
                .filter(line -> line.startsWith(label + ":"))
                .map(line -> line.substring(label.length() + 1).strip())
                .findFirst()
                .orElse("");
    }

    /** Soft limit of this process, as named in /proc/self/limits; {@code Long.MAX_VALUE}: none. */
    long softLimit(String name) {
        return limit(name, 0);
    }

    /** Hard limit, as {@link #softLimit}. */
    long hardLimit(String name) {
        return limit(name, 1);
    }

    private long limit(String name, int column) {
        for (String line : text("/proc/self/limits").lines().toList()) {
            if (line.startsWith(name + " ")) {
                String[] values = line.substring(name.length()).strip().split("\\s+");
                return values[column].equals("unlimited")
                        ? UNLIMITED
                        : Long.parseLong(values[column]);
            }
        }
        return UNLIMITED;
    }

    /** Docker, Podman, Kubernetes, ...; empty if this is no container, as far as one can see. */
    String containerKind() {
        if (!variable("KUBERNETES_SERVICE_HOST").isEmpty()) {
            return "Kubernetes";
        }
        if (exists("/run/.containerenv")) {
            return "Podman";
        }
        if (exists("/.dockerenv")) {
            return "Docker";
        }
        if (exists("/singularity") || !variable("APPTAINER_CONTAINER").isEmpty()) {
            return "Apptainer";
        }
        String named = text("/run/systemd/container");
        if (named.isEmpty()) {
            named = variable("container");
        }
        if (!named.isEmpty()) {
            return named;
        }
        String groups = text("/proc/1/cgroup") + text("/proc/self/cgroup");
        for (String sign : List.of("docker", "libpod", "kubepods", "lxc")) {
            if (groups.contains(sign)) {
                return sign;
            }
        }
        return "";
    }
}
