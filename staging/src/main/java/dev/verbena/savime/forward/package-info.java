/** Threads that hand staged datasets and commands to a sink; they may wait. */
package dev.verbena.savime.forward;
