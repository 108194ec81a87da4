/** What packages of the simulator share and nobody else needs. */
package dev.verbena.nsim.internal;
