/** What a piece of a variable says of itself, in any protocol. */
package dev.verbena.staging.metadata;
