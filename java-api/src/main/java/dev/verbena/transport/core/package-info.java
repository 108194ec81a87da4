/** What the providers of the transport contract share, and users do not see. */
package dev.verbena.transport.core;
