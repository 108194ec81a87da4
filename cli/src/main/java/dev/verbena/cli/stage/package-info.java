/** The staging server of in-transit analysis: {@code verbena stage}. */
package dev.verbena.cli.stage;
