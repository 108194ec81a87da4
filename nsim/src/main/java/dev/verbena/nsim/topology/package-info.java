/**
 * Shapes of networks: which router is linked with which, where the nodes are, and the way of a
 * packet. A shape is one class and keeps no state of a run.
 */
package dev.verbena.nsim.topology;
