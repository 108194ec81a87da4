/** Nessie's remote procedures in virtual time. */
package dev.verbena.nsim.nessie;
