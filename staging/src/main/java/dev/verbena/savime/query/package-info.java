/**
 * SAVIME, an array database for simulation data: its wire protocol, its query language, and a sink
 * that hands staged datasets to it. Calls wait; one thread each.
 */
package dev.verbena.savime.query;
