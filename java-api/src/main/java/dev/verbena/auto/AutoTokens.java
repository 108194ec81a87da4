package dev.verbena.auto;

import dev.verbena.transport.core.MessageTokens;

/** Tokens of messages, each with the part's own token. */
final class AutoTokens extends MessageTokens {
    private final long[] partTokens;
    private final int[] parts;

    AutoTokens(int count) {
        super(count);
        partTokens = new long[count];
        parts = new int[count];
    }

    /** A token for a part's message that a handler is about to get. */
    long take(int part, long partToken) {
        long token = take(part);
        partTokens[index(token)] = partToken;
        parts[index(token)] = part;
        return token;
    }

    int part(long token) {
        return parts[index(token)];
    }

    long partToken(long token) {
        return partTokens[index(token)];
    }
}
