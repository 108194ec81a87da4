/**
 * The transfer service: arrays of structures written to a server and read from it, through the
 * control channel or as bulk data (specification, section 3). It measures both, and is an example
 * of a service.
 *
 * <p>{@link dev.verbena.nessie.xfer.XferService} serves on the threads of a {@code NessieServer};
 * clients and runs belong to one thread.
 */
package dev.verbena.nessie.xfer;
