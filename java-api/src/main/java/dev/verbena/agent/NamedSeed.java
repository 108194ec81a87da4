package dev.verbena.agent;

/** Derives the seed of a named random stream; the same on every machine and Java version. */
final class NamedSeed {
    private static final long FNV_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    private NamedSeed() {}

    /** FNV-1a over the characters, joined with the seed and finished by a multiply-xorshift mix. */
    static long mix(long seed, String name) {
        long hash = FNV_BASIS;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ name.charAt(i)) * FNV_PRIME;
        }
        long z = hash + seed * GOLDEN;
        z = (z ^ (z >>> 32)) * 0xd6e8feb86659fd93L;
        z = (z ^ (z >>> 29)) * GOLDEN;
        return z ^ (z >>> 32);
    }
}
