package dev.verbena.ugni.transport;

/** Connections whose mailboxes are to be looked at, first in, first out. One thread. */
final class News {
    final ConnectionTable table;
    private final int[] indices;
    private int head;
    private int count;

    News(int connectionsMax) {
        table = new ConnectionTable(connectionsMax);
        indices = new int[connectionsMax];
    }

    void add(GniConnection c) {
        if (!c.hasNews) {
            c.hasNews = true;
            indices[(head + count) % indices.length] = c.index;
            count++;
        }
    }

    void addAll() {
        for (int i = 0; i < table.size(); i++) {
            if (table.at(i).state != GniConnection.FREE) {
                add(table.at(i));
            }
        }
    }

    boolean isEmpty() {
        return count == 0;
    }

    int count() {
        return count;
    }

    GniConnection next() {
        GniConnection c = table.at(indices[head]);
        head = (head + 1) % indices.length;
        count--;
        c.hasNews = false;
        return c;
    }
}
