/** FLESnet's own engines on the modelled network. */
package dev.verbena.nsim.flesnet;
