/** A service of remote procedures, from its messages ({@code series.x}) to its metrics. */
package dev.verbena.examples.rpc;
