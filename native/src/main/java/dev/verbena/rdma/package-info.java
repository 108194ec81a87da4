/**
 * Loading of ibverbs and rdma_cm, and their generated bindings.
 *
 * <p>{@code bindings} is everything that the public headers declare, {@code calls} the flat calls
 * that the toolkit itself uses and the layouts that its flyweights follow. Both are in one native
 * library of their own, which loads on machines without libibverbs: that is opened at run time.
 */
package dev.verbena.rdma;
