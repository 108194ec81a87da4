/** Runs the agents of a service: their threads, callers that wait for them, their end. */
package dev.verbena.staging.host;
