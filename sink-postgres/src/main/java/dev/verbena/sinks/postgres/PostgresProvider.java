package dev.verbena.sinks.postgres;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkProvider;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds {@link PostgresSink} by URI. */
public final class PostgresProvider implements SinkProvider {
    private static final int PORT_MAX = 65_535;

    /** The driver tries wrong ones again and again, as it does servers that are away. */
    private static final Pattern PLACE = Pattern.compile("[^/]+?(?::([1-9][0-9]{0,8}))?/[^/]+");

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
        Matcher matcher = PLACE.matcher(where);
        boolean isPlace =
                matcher.matches()
                        && (matcher.group(1) == null
                                || Integer.parseInt(matcher.group(1)) <= PORT_MAX);
        if (user.isEmpty() || !isPlace) {
            throw new IllegalArgumentException("'" + uri + "' is not " + form());
        }
        String password = System.getenv().getOrDefault("PGPASSWORD", "");
        return new PostgresSink("jdbc:postgresql://" + where, user, password);
    }
}
