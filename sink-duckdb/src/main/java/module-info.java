/** Staged datasets as rows of a file of DuckDB. */
module dev.verbena.sinks.duckdb {
    requires transitive dev.verbena.staging;
    requires java.sql;
    requires duckdb.jdbc;

    exports dev.verbena.sinks.duckdb;

    provides dev.verbena.staging.sink.SinkProvider with
            dev.verbena.sinks.duckdb.DuckDbProvider;
}
