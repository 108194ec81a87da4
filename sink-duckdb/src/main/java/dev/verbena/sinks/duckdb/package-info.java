/** The sink DuckDB: one table for each variable of a database in a file. */
package dev.verbena.sinks.duckdb;
