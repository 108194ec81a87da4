/** What packages of the simulator share and users do not need. */
package dev.verbena.nsim.internal;
