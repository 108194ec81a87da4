/** Consumers of timeslices in other processes, by a segment of shared memory. */
package dev.verbena.flesnet.consume;
