/**
 * FLESnet: microslices of many input nodes become timeslices on many compute nodes. A {@link
 * dev.verbena.flesnet.FlesnetInput} takes microslices from a source and writes one component of
 * each timeslice into the memory of the compute node that builds it; a {@link
 * dev.verbena.flesnet.FlesnetCompute} hands complete timeslices to a handler.
 */
package dev.verbena.flesnet;
