/** What calls DuckDB: loaded by a class loader that finds the native library in a cache. */
package dev.verbena.sinks.duckdb.engine;
