/**
 * Staging of datasets on their way to an analysis database, after Santos, Lustosa, Porto and
 * Schulze, "Towards In-transit Analysis on Supercomputing Environments": a {@link
 * dev.verbena.savime.StagingServer} in the simulation writes datasets into the memory of a {@link
 * dev.verbena.savime.StagingService}, which hands them to a sink while the simulation goes on.
 */
package dev.verbena.savime;
