/** What this machine lacks, and how to get it: {@code verbena doctor}. */
package dev.verbena.cli.doctor;
