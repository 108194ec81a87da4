package dev.verbena.sinks.postgres;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkProvider;

/** Finds {@link PostgresSink} by URI. */
public final class PostgresProvider implements SinkProvider {
    /** For {@link java.util.ServiceLoader}. */
    public PostgresProvider() {}

    @Override
    public String scheme() {
        return "postgres";
    }

    @Override
    public String form() {
        return "postgres://[USER@]HOST[:PORT]/DATABASE";
    }

    /** The password is that of the variable {@code PGPASSWORD}. */
    @Override
    public Sink create(String uri) {
        String text = uri.startsWith("postgres://") ? uri.substring("postgres://".length()) : "";
        int at = text.indexOf('@');
        String user = at < 0 ? System.getProperty("user.name") : text.substring(0, at);
        String where = text.substring(at + 1);
        if (user.isEmpty() || !where.matches("[^/]+/[^/]+")) {
            throw new IllegalArgumentException("'" + uri + "' is not " + form());
        }
        String password = System.getenv().getOrDefault("PGPASSWORD", "");
        return new PostgresSink("jdbc:postgresql://" + where, user, password);
    }
}
