/**
 * What any staging protocol needs and none of them owns: checks of arguments, checksums, names,
 * heartbeats, counters that others can read, streams within a process. Knows no protocol.
 */
package dev.verbena.staging;
