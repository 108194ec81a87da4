package dev.verbena.savime.query;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Bytes that travel with a query. The name is the string that stands for them in the query.
 *
 * @param name {@code @0} for example
 * @param bytes null: {@code file}
 * @param file null: {@code bytes}; borrowed, from 0 to {@code length}
 * @param length 1 or more
 */
public record SavimeParameter(String name, ByteBuffer bytes, FileChannel file, long length) {
    /** See the record. */
    public SavimeParameter {
        if (name.isEmpty() || name.length() > SavimeHeader.NAME_MAX || length < 1) {
            throw new IllegalArgumentException("parameter '" + name + "' of " + length + " bytes");
        }
    }

    /** The bytes between position and limit, which stay as they are. */
    public static SavimeParameter of(String name, ByteBuffer bytes) {
        return new SavimeParameter(name, bytes.duplicate(), null, bytes.remaining());
    }

    /** The beginning of a file. */
    public static SavimeParameter of(String name, FileChannel file, long length) {
        return new SavimeParameter(name, null, file, length);
    }
}
