package dev.verbena.staging.sink;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Finds sinks by URI: {@code file:DIR}, {@code zarr:DIR}, and those of modules on the class path.
 */
public final class Sinks {
    /** Schemes whose modules come with Verbena, so that what is absent can be named. */
    private static final Map<String, String> ARTIFACTS =
            new TreeMap<>(
                    Map.of(
                            "duckdb", "verbena-sink-duckdb",
                            "hdf5", "verbena-sink-hdf5",
                            "postgres", "verbena-sink-postgres"));

    private Sinks() {}

    /**
     * The sink of a URI.
     *
     * @param loader where modules are looked for
     * @throws IllegalArgumentException if nothing has its scheme, naming the artifact that is
     *     missing, or if the URI is not of the form of its scheme
     */
    public static Sink of(String uri, ClassLoader loader) {
        int colon = uri.indexOf(':');
        String scheme = colon < 1 ? "" : uri.substring(0, colon);
        for (SinkProvider provider : all(loader)) {
            if (provider.scheme().equals(scheme)) {
                return provider.create(uri);
            }
        }
        String artifact = ARTIFACTS.get(scheme);
        throw new IllegalArgumentException(
                artifact == null
                        ? "'%s' is of no known sink: %s".formatted(uri, forms(loader))
                        : "'%s' needs the artifact dev.verbena:%s on the class path"
                                .formatted(uri, artifact));
    }

    private static List<SinkProvider> all(ClassLoader loader) {
        List<SinkProvider> all =
                new ArrayList<>(
                        List.of(
                                new Folder("file", FileSink::new),
                                new Folder("zarr", ZarrSink::new)));
        ServiceLoader.load(SinkProvider.class, loader).forEach(all::add);
        return all;
    }

    /** The forms of URIs that can be used, and the schemes whose artifacts are absent. */
    private static String forms(ClassLoader loader) {
        TreeMap<String, String> forms = new TreeMap<>();
        ARTIFACTS.forEach(
                (scheme, artifact) -> forms.put(scheme, scheme + ":... (needs " + artifact + ")"));
        all(loader).forEach(each -> forms.put(each.scheme(), each.form()));
        return String.join(", ", forms.values());
    }

    private record Folder(String scheme, Function<Path, Sink> maker) implements SinkProvider {
        @Override
        public String form() {
            return scheme + ":DIR";
        }

        @Override
        public Sink create(String uri) {
            String folder = uri.substring(scheme.length() + 1);
            if (folder.isEmpty()) {
                throw new IllegalArgumentException("'" + uri + "' is not " + form());
            }
            return maker.apply(Path.of(folder).toAbsolutePath());
        }
    }
}
