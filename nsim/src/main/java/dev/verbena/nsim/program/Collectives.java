package dev.verbena.nsim.program;

import java.util.function.LongBinaryOperator;

/**
 * Collective operations as programs of messages that are one put each and that receives of the
 * program do not see. All ranks have to call them in the same order. With data, or sizes alone.
 */
final class Collectives {
    private static final int TOKEN = 8;
    private static final int LONG = 8;

    private final Rank rank;

    Collectives(Rank rank) {
        this.rank = rank;
    }

    private void send(int to, long bytes, long[] data) {
        rank.sendCollective(to, bytes, data);
    }

    private void receive(int from, long bytes, long[] into) {
        rank.receiveCollective(from, bytes, into);
    }

    /** In round k each rank sends to the rank 2^k further on and receives from 2^k before. */
    void barrier() {
        int size = rank.size();
        for (int distance = 1; distance < size; distance <<= 1) {
            send((rank.rank() + distance) % size, TOKEN, null);
            receive((rank.rank() + size - distance) % size, TOKEN, null);
        }
    }

    /** A binomial tree; largest subtrees first. */
    void broadcast(int root, long bytes, long[] data) {
        int size = rank.size();
        int self = (rank.rank() + size - root) % size;
        int lowest = self == 0 ? Integer.highestOneBit(size) << 1 : Integer.lowestOneBit(self);
        if (self != 0) {
            receive((self - lowest + root) % size, bytes, data);
        }
        for (int bit = lowest >>> 1; bit > 0; bit >>>= 1) {
            if (self + bit < size) {
                send((self + bit + root) % size, bytes, data);
            }
        }
    }

    /** The same tree upwards, smallest subtrees first. Null arrays: sizes alone. */
    void reduce(int root, long bytes, long[] from, long[] into, LongBinaryOperator operator) {
        int size = rank.size();
        int self = (rank.rank() + size - root) % size;
        long[] sum = start(from);
        long[] other = from == null ? null : new long[from.length];
        int bit = 1;
        for (; bit < size && (self & bit) == 0; bit <<= 1) {
            if (self + bit < size) {
                receive((self + bit + root) % size, bytes, other);
                combine(sum, other, operator);
            }
        }
        if (self != 0) {
            send((self - bit + root) % size, bytes, sum);
        } else if (from != null) {
            rank.calculate(() -> System.arraycopy(sum, 0, into, 0, sum.length));
        }
    }

    private long[] start(long[] from) {
        if (from == null) {
            return null;
        }
        long[] sum = new long[from.length];
        rank.calculate(() -> System.arraycopy(from, 0, sum, 0, sum.length));
        return sum;
    }

    private void combine(long[] sum, long[] other, LongBinaryOperator operator) {
        if (sum != null) {
            rank.calculate(
                    () -> {
                        for (int i = 0; i < sum.length; i++) {
                            sum[i] = operator.applyAsLong(sum[i], other[i]);
                        }
                    });
        }
    }

    /**
     * Recursive doubling. Ranks above the highest power of two give theirs to a partner before, and
     * get the result from it after.
     */
    void allreduce(long bytes, long[] from, long[] into, LongBinaryOperator operator) {
        int power = Integer.highestOneBit(rank.size());
        int self = rank.rank();
        int partner = self ^ power;
        long[] sum = start(from);
        long[] other = from == null ? null : new long[from.length];
        if (self >= power) {
            send(partner, bytes, sum);
            receive(partner, bytes, sum);
        } else {
            boolean hasPartner = partner < rank.size();
            if (hasPartner) {
                receive(partner, bytes, other);
                combine(sum, other, operator);
            }
            for (int bit = 1; bit < power; bit <<= 1) {
                send(self ^ bit, bytes, sum);
                receive(self ^ bit, bytes, other);
                combine(sum, other, operator);
            }
            if (hasPartner) {
                send(partner, bytes, sum);
            }
        }
        if (from != null) {
            rank.calculate(() -> System.arraycopy(sum, 0, into, 0, sum.length));
        }
    }

    /** In step i each rank sends to the rank i further on and receives from i before. */
    void alltoall(long bytesEach, long[] from, long[] into) {
        int size = rank.size();
        int self = rank.rank();
        int each = (int) (bytesEach / LONG);
        if (from != null) {
            rank.calculate(() -> System.arraycopy(from, self * each, into, self * each, each));
        }
        for (int i = 1; i < size; i++) {
            int to = (self + i) % size;
            int source = (self + size - i) % size;
            if (from == null) {
                send(to, bytesEach, null);
                receive(source, bytesEach, null);
            } else {
                long[] out = new long[each];
                long[] in = new long[each];
                rank.calculate(() -> System.arraycopy(from, to * each, out, 0, each));
                send(to, bytesEach, out);
                receive(source, bytesEach, in);
                rank.calculate(() -> System.arraycopy(in, 0, into, source * each, each));
            }
        }
    }
}
