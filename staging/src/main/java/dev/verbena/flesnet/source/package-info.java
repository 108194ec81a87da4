/** Microslices out of the world: datagrams, archives. */
package dev.verbena.flesnet.source;
