package dev.verbena.dart;

import dev.verbena.agent.DurableStore.DurableFile;
import dev.verbena.agent.DurableStore.ReadableFile;

/** A file of spilled frames, one behind the other as they travel. Owned by t3. */
final class SpillFile {
    final String name;

    /** Null once nothing is appended any more. */
    DurableFile writer;

    /** Null until something is read. */
    ReadableFile reader;

    /** Bytes that were appended or found. */
    long length;

    /** As far as a force was asked for. */
    long forceAsked;

    /** Parts in it that the receiver has not acknowledged. */
    int live;

    SpillFile(String name) {
        this.name = name;
    }

    /** Bytes that are on the device for certain. */
    long forced() {
        return writer == null ? length : writer.forcedPosition();
    }
}
