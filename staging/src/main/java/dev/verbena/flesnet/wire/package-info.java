/** Records that engines exchange, and what both sides must agree on: positions and assignment. */
package dev.verbena.flesnet.wire;
