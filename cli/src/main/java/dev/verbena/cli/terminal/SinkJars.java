package dev.verbena.cli.terminal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Where a sink's module and its driver are: loaded only when their sink is asked for. */
final class SinkJars {
    private SinkJars() {}

    /**
     * Classes of this command, and those of the sink.
     *
     * @param folder null: the sink's module in the folder where Verbena was built, if that is known
     * @throws IllegalArgumentException if the folder cannot be read
     */
    static ClassLoader loader(String uri, Path folder) {
        ClassLoader own = SinkJars.class.getClassLoader();
        List<Path> places = folder == null ? built(uri) : jars(folder);
        return places.isEmpty()
                ? own
                : new URLClassLoader(places.stream().map(SinkJars::url).toArray(URL[]::new), own);
    }

    private static List<Path> built(String uri) {
        String home = System.getProperty("verbena.home");
        String scheme = uri.substring(0, Math.max(0, uri.indexOf(':')));
        if (home == null || !scheme.matches("[a-z0-9]{1,20}")) {
            return List.of();
        }
        Path target = Path.of(home, "sink-" + scheme, "target");
        List<Path> places = new ArrayList<>();
        if (Files.isDirectory(target.resolve("classes"))) {
            places.add(target.resolve("classes"));
        }
        if (Files.isDirectory(target.resolve("lib"))) {
            places.addAll(jars(target.resolve("lib")));
        }
        return places;
    }

    private static List<Path> jars(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(each -> each.toString().endsWith(".jar")).sorted().toList();
        } catch (IOException e) {
            throw new IllegalArgumentException("folder of jars " + folder + ": " + e, e);
        }
    }

    private static URL url(Path place) {
        try {
            return place.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }
}
