/** The compute engine: receive rings, completion of timeslices, acknowledgements. */
package dev.verbena.flesnet.compute;
