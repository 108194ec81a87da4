package dev.verbena.sinks.duckdb;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkProvider;
import java.nio.file.Path;

/** Finds {@link DuckDbSink} by URI. */
public final class DuckDbProvider implements SinkProvider {
    private static final String PARQUET = "?parquet=";

    /** For {@link java.util.ServiceLoader}. */
    public DuckDbProvider() {}

    @Override
    public String scheme() {
        return "duckdb";
    }

    @Override
    public String form() {
        return "duckdb:FILE[?parquet=DIR]";
    }

    @Override
    public Sink create(String uri) {
        String text = uri.substring(uri.indexOf(':') + 1);
        int option = text.indexOf('?');
        String file = option < 0 ? text : text.substring(0, option);
        String folder = option < 0 ? null : text.substring(option);
        boolean isWrong = folder != null && !folder.matches("\\?parquet=.+");
        if (file.isEmpty() || isWrong) {
            throw new IllegalArgumentException("'" + uri + "' is not " + form());
        }
        return new DuckDbSink(
                Path.of(file), folder == null ? null : Path.of(folder.substring(PARQUET.length())));
    }
}
