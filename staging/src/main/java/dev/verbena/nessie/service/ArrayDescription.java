package dev.verbena.nessie.service;

import dev.verbena.staging.metadata.Box;

/**
 * A version of an array.
 *
 * @param name 1 to 128 bytes of UTF-8 without control characters
 * @param version 0 or more
 * @param whole the box of all its indices, from 0 on
 */
public record ArrayDescription(String name, long version, ArrayType type, Box whole) {}
