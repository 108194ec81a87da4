/** Microslice and timeslice archives, byte for byte. */
package dev.verbena.flesnet.archive;
