/** Staged datasets as rows of PostgreSQL's tables. */
module dev.verbena.sinks.postgres {
    requires transitive dev.verbena.staging;
    requires java.sql;
    requires org.postgresql.jdbc;

    exports dev.verbena.sinks.postgres;

    provides dev.verbena.staging.sink.SinkProvider with
            dev.verbena.sinks.postgres.PostgresProvider;
}
