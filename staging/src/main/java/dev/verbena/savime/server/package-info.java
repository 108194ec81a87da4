/** The staging server's engine: sessions, reception of blocks, admission, the queue to the sink. */
package dev.verbena.savime.server;
