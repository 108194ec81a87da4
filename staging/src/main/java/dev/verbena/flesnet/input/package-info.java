/** The input engine: ring of microslices, one-sided writes, flow control, pacing. */
package dev.verbena.flesnet.input;
