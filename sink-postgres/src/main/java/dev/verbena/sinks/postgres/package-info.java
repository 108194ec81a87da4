/** The sink PostgreSQL: one table for each variable, filled by {@code COPY} in its binary form. */
package dev.verbena.sinks.postgres;
