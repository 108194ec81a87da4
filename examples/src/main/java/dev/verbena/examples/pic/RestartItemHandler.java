package dev.verbena.examples.pic;

import java.nio.ByteBuffer;

/** Takes the items of a restart file one after the other; the file is their concatenation. */
@FunctionalInterface
public interface RestartItemHandler {
    /**
     * One item.
     *
     * @param name for people, for example {@code particleCount} or {@code speeds}
     * @param bytes position to limit, a direct buffer; borrowed until the method returns
     */
    void onItem(String name, ByteBuffer bytes);
}
