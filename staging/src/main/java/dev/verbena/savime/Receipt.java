package dev.verbena.savime;

/**
 * A staging server has a dataset.
 *
 * @param name at the server: another one than was asked for, if that was taken and a suffix allowed
 * @param id the server's number of it
 * @param bytes its length
 * @param isInMemory false: on the server's disk
 */
public record Receipt(String name, long id, long bytes, boolean isInMemory) {}
