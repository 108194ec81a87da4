/** The programs of the staging service: {@code verbena dart}. */
package dev.verbena.cli.dart;
