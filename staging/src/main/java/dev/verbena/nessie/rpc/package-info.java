/**
 * Nessie's remote procedure calls over NNTI: requests and results in XDR, long ones fetched by the
 * receiver, bulk data moved by the server. One thread owns an endpoint and what belongs to it.
 */
package dev.verbena.nessie.rpc;
