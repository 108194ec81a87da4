package dev.verbena.dart.stream;

import dev.verbena.agent.DurableStore;
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

    /** An earlier server has written it; null: it is gone. */
    void found(ReadableFile its) {
        reader = its;
        length = its == null ? 0 : its.length();
    }

    void beginWriting(DurableFile its) {
        writer = its;
    }

    /** Nothing more is appended, or was. */
    void endWriting() {
        if (writer != null) {
            writer.close();
            writer = null;
        }
    }

    void appended(int bytes) {
        length += bytes;
    }

    /** Asks for all of it to be forced. */
    void force() {
        forceAsked = length;
        writer.force();
    }

    /** Has one part more that the receiver has not acknowledged. */
    void holdsPart() {
        live++;
    }

    /** Has one less. */
    void partReleased() {
        live--;
    }

    /** To read from it; null if it is gone. */
    ReadableFile openReader(DurableStore store) {
        if (reader == null) {
            reader = store.read(name);
        }
        return reader;
    }

    void closeReader() {
        if (reader != null) {
            reader.close();
            reader = null;
        }
    }

    /** Bytes that are on the device for certain. */
    long forced() {
        return writer == null ? length : writer.forcedPosition();
    }
}
