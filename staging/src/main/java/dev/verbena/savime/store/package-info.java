/**
 * Staged datasets as files: in the memory directory, or on disk, with what is known of each in a
 * meta file. The only package of the server that touches files; what may wait runs on its threads.
 */
package dev.verbena.savime.store;
