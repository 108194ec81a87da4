/** The client's engine: one agent for each I/O thread, which share a queue of tasks. */
package dev.verbena.savime.client;
