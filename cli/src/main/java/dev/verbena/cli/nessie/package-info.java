/** The programs of the RPC services: {@code verbena nessie}. */
package dev.verbena.cli.nessie;
