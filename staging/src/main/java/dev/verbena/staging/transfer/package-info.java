/** Moves data of peers through a bounded set of registered buffers, part by part. */
package dev.verbena.staging.transfer;
