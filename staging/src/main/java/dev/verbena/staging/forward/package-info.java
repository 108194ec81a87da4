/** Threads that hand datasets and commands to a sink; they may wait. */
package dev.verbena.staging.forward;
