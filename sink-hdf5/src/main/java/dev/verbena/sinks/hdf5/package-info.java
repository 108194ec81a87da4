/** The sink HDF5: a file for each step of a variable, with the names of openPMD. */
package dev.verbena.sinks.hdf5;
