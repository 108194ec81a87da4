/** STG/1 messages over a TCP stream, for both sides. */
package dev.verbena.savime.link;
