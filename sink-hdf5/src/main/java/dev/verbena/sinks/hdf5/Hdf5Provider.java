package dev.verbena.sinks.hdf5;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkProvider;
import java.nio.file.Path;

/** Finds {@link Hdf5Sink} by URI. */
public final class Hdf5Provider implements SinkProvider {
    /** For {@link java.util.ServiceLoader}. */
    public Hdf5Provider() {}

    @Override
    public String scheme() {
        return "hdf5";
    }

    @Override
    public String form() {
        return "hdf5:DIR";
    }

    @Override
    public Sink create(String uri) {
        String folder = uri.substring(uri.indexOf(':') + 1);
        if (folder.isEmpty()) {
            throw new IllegalArgumentException("'" + uri + "' is not " + form());
        }
        return new Hdf5Sink(Path.of(folder).toAbsolutePath());
    }
}
