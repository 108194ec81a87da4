/** Where staged data go: a database, files. Called by threads that may wait. */
package dev.verbena.staging.sink;
