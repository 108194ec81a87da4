/**
 * Counters and errors of running processes: {@code verbena status}, {@code top}, {@code errors}.
 */
package dev.verbena.cli.status;
