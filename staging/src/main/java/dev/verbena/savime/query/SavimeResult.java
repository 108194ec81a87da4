package dev.verbena.savime.query;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The answer to a query: a text, or columns that are read subtar by subtar into memory outside the
 * heap. The session takes no other query until it was read to its end or closed. One thread.
 *
 * <pre>
 * try (SavimeResult result = client.execute("where(t, v &gt; 1)")) {
 *     while (result.next()) { UnsafeBuffer v = result.column("v"); ... }
 * }
 * </pre>
 */
public final class SavimeResult implements AutoCloseable {
    private final SavimeClient client;
    private final String text;
    private final SavimeSchema schema;
    private final Map<String, OffHeapMemory> columns = new LinkedHashMap<>();
    private boolean isAtEnd;

    SavimeResult(SavimeClient client, String text, SavimeSchema schema) {
        this.client = client;
        this.text = text;
        this.schema = schema;
        this.isAtEnd = schema == null;
    }

    /** The server's text; with {@link #schema} what that was read from. */
    public String text() {
        return text;
    }

    /** Null: the answer is a text. */
    public SavimeSchema schema() {
        return schema;
    }

    /**
     * Reads the next subtar; what was returned for the one before is closed.
     *
     * @return false: there is no further one
     * @throws SavimeQueryException if the server says that the query failed on the way
     */
    public boolean next() throws IOException {
        closeColumns();
        if (isAtEnd) {
            return false;
        }
        int count = schema.elements().size();
        while (columns.size() < count) {
            if (!client.nextBlock(this)) {
                isAtEnd = true;
                if (!columns.isEmpty()) {
                    closeColumns();
                    throw client.broken("a subtar with some of its blocks only");
                }
                return false;
            }
        }
        return true;
    }

    /** Memory for a block of this name. */
    UnsafeBuffer block(String name, long length) throws IOException {
        SavimeSchema.Element element = schema.element(name);
        if (element == null || columns.containsKey(name)) {
            throw client.broken("an unexpected block '" + name + "'");
        }
        boolean isWhole = element.size() > 0 && length % element.size() == 0;
        if (length < 1 || length > Integer.MAX_VALUE || !isWhole) {
            throw client.broken("block '" + name + "' of " + length + " bytes");
        }
        OffHeapMemory memory = OffHeapMemories.allocate(length);
        columns.put(name, memory);
        return memory.buffer(0, (int) length);
    }

    /** It has come to its end, by an error's text. */
    void ended() {
        isAtEnd = true;
    }

    /**
     * Values of an element in the present subtar, one for each cell, little-endian; valid until the
     * next one is read.
     *
     * @throws IllegalArgumentException if the schema has no such element, or there is no subtar
     */
    public UnsafeBuffer column(String name) {
        OffHeapMemory memory = columns.get(name);
        if (memory == null) {
            throw new IllegalArgumentException("no column '" + name + "'");
        }
        return memory.buffer(0, (int) memory.length());
    }

    /** Cells of the present subtar. */
    public int cells() {
        SavimeSchema.Element first = schema.elements().get(0);
        return column(first.name()).capacity() / first.size();
    }

    private void closeColumns() {
        columns.values().forEach(OffHeapMemory::close);
        columns.clear();
    }

    /** Reads what is left, so that the session can be used again. Idempotent. */
    @Override
    public void close() throws IOException {
        while (next()) {
            // Blocks that nobody wants.
        }
    }
}
