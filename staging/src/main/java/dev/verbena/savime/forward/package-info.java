/** What a staging server hands to a sink. */
package dev.verbena.savime.forward;
