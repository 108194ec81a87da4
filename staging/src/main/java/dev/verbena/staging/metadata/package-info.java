/** What a piece of a variable says of itself, and boxes of arrays, in any protocol. */
package dev.verbena.staging.metadata;
