package dev.verbena.portals.model;

import dev.verbena.portals.PortalsOutcome;
import dev.verbena.portals.bindings.portals;
import dev.verbena.portals.model.ModelAction.Kind;
import dev.verbena.portals.model.ModelNic.Entry;
import dev.verbena.portals.model.ModelNic.Md;
import dev.verbena.portals.model.ModelNic.Queue;
import dev.verbena.portals.model.ModelNic.Request;
import dev.verbena.portals.model.ModelWorld.Side;
import java.util.List;
import java.util.SplittableRandom;

/** Carries actions out, in the model and over the interface, as far as the world allows. */
final class ModelActions {
    private static final int EXACT_PORTAL = 5;
    private static final int EXACT_BITS = 120;
    private static final int HALF = ModelWorld.BYTES / 2;
    private static final int[] FEW_PORTALS = {0, 1, 63};
    private static final int[] THRESHOLDS = {-1, -1, -1, 0, 1, 1, 2, 3, 7, -5};

    private final ModelWorld world;
    private final StringBuilder story;

    /** The story, if not null, gets a line for each action. */
    ModelActions(ModelWorld world, StringBuilder story) {
        this.world = world;
        this.story = story;
    }

    void run(ModelAction action) {
        if (action.kind() == null) {
            throw new AssertionError("wrong on purpose");
        }
        SplittableRandom random = new SplittableRandom(action.seed());
        Side side = world.sides.get(random.nextInt(world.sides.size()));
        if (story != null) {
            story.append(action.kind())
                    .append(" at ")
                    .append(world.sides.indexOf(side))
                    .append(": ");
        }
        act(action.kind(), side, random);
        if (story != null) {
            story.append('\n');
        }
    }

    private void tell(Object... what) {
        if (story != null) {
            for (Object one : what) {
                story.append(one).append(' ');
            }
        }
    }

    private void act(Kind kind, Side side, SplittableRandom random) {
        Side first = world.sides.get(0);
        switch (kind) {
            case POST_FEW -> post(side, few(side, random), random);
            case POST_EXACT -> post(first, exact(first, random), random);
            case POST_WILD -> post(first, wild(first, random), random);
            case ENTRY -> place(side, few(side, random), random);
            case ANYWHERE -> world.entryAnywhere(side, few(side, random));
            case DESCRIPTOR -> attach(side, pick(side.entries, random), random);
            case BIND -> bind(side, random);
            case UNLINK_DESCRIPTOR -> unlink(side, pick(side.descriptors, random));
            case UNLINK_ENTRY -> unlinkEntry(random.nextBoolean() ? side : first, random);
            case UPDATE -> update(side, pick(side.descriptors, random), random);
            case PUT_FEW, PUT_EXACT -> put(side, request(kind, side, random), random);
            case GET_FEW, GET_EXACT -> get(side, request(kind, side, random), random);
            case GET_PUT_FEW, GET_PUT_EXACT -> getPut(side, request(kind, side, random), random);
            case ACCESS -> access(side, random);
            case QUEUE -> world.queue(side, 1 + random.nextInt(16));
            case FREE -> free(side, random);
            case TAKE -> take(side, random);
            default -> look();
        }
    }

    private static <T> T pick(List<T> from, SplittableRandom random) {
        return from.isEmpty() ? null : from.get(random.nextInt(from.size()));
    }

    // ---- entries

    private Entry entry(int portal, long bits, long ignored, SplittableRandom random) {
        Entry entry = new Entry();
        entry.portal = portal;
        entry.bits = bits;
        entry.ignored = ignored;
        entry.goes = random.nextBoolean();
        entry.nid = ModelNic.ANY;
        entry.pid = ModelNic.ANY;
        return entry;
    }

    private void narrow(Entry entry, SplittableRandom random) {
        Side other = pick(world.sides, random);
        if (random.nextBoolean()) {
            entry.pid = random.nextInt(8) == 0 ? 77 : other.model.pid;
        }
        if (random.nextBoolean()) {
            entry.nid = random.nextInt(8) == 0 ? 9 : other.model.nid;
        }
    }

    private Entry few(Side side, SplittableRandom random) {
        int portal = FEW_PORTALS[random.nextInt(FEW_PORTALS.length)];
        long ignored = random.nextInt(3) == 0 ? random.nextInt(4) : random.nextInt(9) == 0 ? -1 : 0;
        Entry entry = entry(portal, random.nextInt(4), ignored, random);
        if (random.nextInt(3) == 0) {
            narrow(entry, random);
        }
        if (random.nextInt(60) == 0) {
            entry.portal = 64 + random.nextInt(3);
        }
        return entry;
    }

    /** High bits count, too. */
    private static long exactBits(SplittableRandom random) {
        long value = random.nextInt(EXACT_BITS);
        return value << 40 | value % 3;
    }

    private Entry exact(Side side, SplittableRandom random) {
        Entry entry = entry(EXACT_PORTAL, exactBits(random), 0, random);
        if (random.nextInt(4) == 0) {
            narrow(entry, random);
        }
        return entry;
    }

    private Entry wild(Side side, SplittableRandom random) {
        Entry entry = entry(EXACT_PORTAL, exactBits(random), -1L << random.nextInt(64), random);
        if (random.nextInt(3) == 0) {
            entry.ignored = 1L << random.nextInt(64);
        }
        if (random.nextInt(3) == 0) {
            narrow(entry, random);
        }
        return entry;
    }

    private Entry place(Side side, Entry wanted, SplittableRandom random) {
        List<Entry> list = side.model.lists.get(wanted.portal & (ModelNic.PORTALS - 1));
        Entry base = random.nextInt(3) == 0 ? pick(list, random) : null;
        if (random.nextInt(80) == 0) {
            base = pick(side.entries, random); // perhaps one that is gone
        }
        if (base != null) {
            wanted.portal = base.portal;
        }
        boolean isAfter = random.nextInt(4) != 0;
        tell(
                "entry",
                wanted.portal,
                Long.toHexString(wanted.bits),
                Long.toHexString(wanted.ignored));
        tell("from", wanted.nid, wanted.pid, base == null ? "end" : base.handle, isAfter);
        Entry made = world.entry(side, wanted, base, isAfter);
        forget(side.entries, e -> e.isDead);
        return made;
    }

    /** Keeps some of the dead, to use their handles. */
    private static <T> void forget(List<T> list, java.util.function.Predicate<T> isDead) {
        if (list.size() % 64 == 63) {
            for (int i = list.size() - 9; i >= 0; i--) {
                if (isDead.test(list.get(i))) {
                    list.remove(i);
                }
            }
        }
    }

    private void unlinkEntry(Side side, SplittableRandom random) {
        Entry entry = pick(side.entries, random);
        if (entry != null) {
            tell("entry", entry.handle);
            world.unlink(side, entry);
        }
    }

    // ---- descriptors

    private void post(Side side, Entry wanted, SplittableRandom random) {
        Entry entry = place(side, wanted, random);
        if (entry != null) {
            attach(side, entry, random);
        }
    }

    private Md wanted(Side side, int base, SplittableRandom random) {
        Md md = new Md();
        md.length = random.nextInt(3) == 0 ? random.nextInt(16) : random.nextInt(120);
        md.start = base + random.nextInt(HALF - (int) md.length);
        md.maxSize = random.nextInt(40);
        md.user = random.nextLong();
        md.goes = random.nextBoolean();
        md.queue = random.nextInt(6) == 0 ? null : pick(side.model.queues, random);
        md.options = portals.PTL_MD_OP_PUT | portals.PTL_MD_OP_GET;
        md.options ^= sometimes(random, 6, portals.PTL_MD_OP_PUT);
        md.options ^= sometimes(random, 4, portals.PTL_MD_OP_GET);
        md.options |= sometimes(random, 3, portals.PTL_MD_MANAGE_REMOTE);
        md.options |= sometimes(random, 2, portals.PTL_MD_TRUNCATE);
        md.options |= sometimes(random, 6, portals.PTL_MD_ACK_DISABLE);
        md.options |= sometimes(random, 5, portals.PTL_MD_MAX_SIZE);
        md.options |= sometimes(random, 3, portals.PTL_MD_EVENT_START_DISABLE);
        md.options |= sometimes(random, 7, portals.PTL_MD_EVENT_END_DISABLE);
        md.options |= sometimes(random, 300, 0x4000);
        if (side.model.isCray) {
            md.options |= sometimes(random, 2, ModelNic.AUTO_UNLINK_ENABLE);
            md.options |= sometimes(random, 2, ModelNic.MANUAL_UNLINK_ENABLE);
        }
        return md;
    }

    private static int sometimes(SplittableRandom random, int oneIn, int option) {
        return random.nextInt(oneIn) == 0 ? option : 0;
    }

    private static int threshold(SplittableRandom random) {
        return THRESHOLDS[random.nextInt(THRESHOLDS.length)];
    }

    private void attach(Side side, Entry entry, SplittableRandom random) {
        if (entry != null) {
            Md md = wanted(side, HALF, random);
            int threshold = threshold(random);
            tell("md of", md.length, "threshold", threshold, "options", md.options);
            world.descriptor(side, entry, md, threshold);
            forget(side.descriptors, d -> d.isDead);
        }
    }

    private void bind(Side side, SplittableRandom random) {
        Md md = wanted(side, 0, random);
        int threshold = random.nextBoolean() ? -1 : threshold(random);
        tell("md of", md.length, "threshold", threshold, "options", md.options);
        world.descriptor(side, null, md, threshold);
    }

    private void unlink(Side side, Md md) {
        if (md != null) {
            tell("md", md.handle);
            world.unlink(side, md);
        }
    }

    private void update(Side side, Md md, SplittableRandom random) {
        if (md == null) {
            return;
        }
        Queue test = random.nextBoolean() ? md.queue : pick(side.model.queues, random);
        boolean isLower = md.start < HALF;
        int threshold = threshold(random);
        Md next = wanted(side, isLower ? 0 : HALF, random);
        tell("md", md.handle, "to", next.length, "threshold", threshold, "options", next.options);
        world.update(side, md, next, threshold, random.nextInt(4) == 0 ? null : test);
    }

    // ---- moving data

    /** Where to and what; the length is that of the source, put in later. */
    private Request request(Kind kind, Side side, SplittableRandom random) {
        boolean isExact = kind.name().endsWith("EXACT");
        int portal = isExact ? EXACT_PORTAL : FEW_PORTALS[random.nextInt(FEW_PORTALS.length)];
        long bits = isExact ? exactBits(random) : random.nextInt(4);
        Entry posted = pick(world.sides.get(0).model.lists.get(portal), random);
        if (posted != null && random.nextInt(3) != 0) {
            bits = posted.bits; // otherwise hardly anything would be found
        }
        if (random.nextInt(50) == 0) {
            portal = random.nextInt(130) - 1;
        }
        int access = random.nextInt(6) == 0 ? random.nextInt(4) : 0;
        if (random.nextInt(80) == 0) {
            access = 62 + random.nextInt(4);
        }
        long remote = random.nextInt(3) == 0 ? random.nextInt(140) : random.nextInt(12);
        if (random.nextInt(60) == 0) {
            remote = -1 - random.nextInt(100);
        }
        return new Request(
                kind.name().startsWith("PUT")
                        ? ModelNic.PUT
                        : kind.name().startsWith("GET_PUT") ? ModelNic.GET_PUT : ModelNic.GET,
                side.model,
                portal,
                access,
                bits,
                0,
                remote,
                kind.name().startsWith("GET") && !kind.name().startsWith("GET_PUT")
                        ? 0
                        : random.nextLong());
    }

    private static Request of(Request r, long length) {
        return new Request(
                r.operation(),
                r.from(),
                r.portal(),
                r.access(),
                r.bits(),
                length,
                r.remoteOffset(),
                r.header());
    }

    private Side target(Request r, SplittableRandom random) {
        boolean isExact = r.portal() == EXACT_PORTAL;
        return isExact && random.nextInt(8) != 0 ? world.sides.get(0) : pick(world.sides, random);
    }

    /**
     * A descriptor to start from. One that peers reach must not put into its own interface: the two
     * ends could overlap, and what is there then is nobody's business.
     */
    private Md source(Side side, Side target, long lengthMax, SplittableRandom random) {
        boolean isAny = random.nextInt(16) == 0;
        for (int tries = 0; tries < 12; tries++) {
            Md md = pick(side.descriptors, random);
            if (md == null || md.start >= HALF && side == target || md.length > lengthMax) {
                continue;
            }
            if (isAny || !md.isDead && !md.isInactive) {
                return md;
            }
        }
        return null;
    }

    /** Short ones mostly: those find a place. */
    private static long length(long most, SplittableRandom random) {
        boolean isShort = random.nextInt(4) != 0;
        return random.nextInt((int) (isShort ? Math.min(most, 12) : most) + 1);
    }

    private void put(Side side, Request without, SplittableRandom random) {
        Side target = target(without, random);
        Md md = source(side, target, Long.MAX_VALUE, random);
        if (md == null) {
            return;
        }
        boolean isAcknowledged = random.nextBoolean();
        long offset = random.nextInt((int) md.length / 2 + 1);
        long length = length(md.length - offset, random);
        length += random.nextInt(100) == 0 ? 200 : 0;
        Request r = of(without, length);
        long to = random.nextInt(200) == 0 ? 5L << 32 | 3 : target.model.target();
        if (!md.isDead && length < 200) {
            world.fill(side, (int) (md.start + offset), (int) length, random.nextLong());
        }
        tell("md", md.handle, "length", length, "to", world.sides.indexOf(target), r.portal());
        tell("bits", Long.toHexString(r.bits()), "offset", r.remoteOffset());
        int expected = world.network.put(md, offset, isAcknowledged, to, r);
        long actual =
                side.calls.call(
                        NicCalls.PUT,
                        md.handle,
                        offset,
                        length,
                        isAcknowledged ? 1 : 0,
                        to,
                        r.portal(),
                        r.access(),
                        r.bits(),
                        r.remoteOffset(),
                        r.header());
        judge("put", expected, actual);
    }

    private void judge(String what, int expected, long actual) {
        if (expected != actual) {
            throw new AssertionError(
                    what
                            + ": the model says \""
                            + PortalsOutcome.name(expected)
                            + "\", the library \""
                            + PortalsOutcome.name((int) actual)
                            + '"');
        }
        if (expected >= 0) {
            world.seenOutcomes[expected]++;
        }
    }

    private void get(Side side, Request without, SplittableRandom random) {
        Side target = target(without, random);
        Md md = source(side, target, Long.MAX_VALUE, random);
        if (md == null) {
            return;
        }
        long offset = random.nextInt((int) md.length / 2 + 1);
        Request r = of(without, length(md.length - offset, random));
        tell("md", md.handle, "length", r.length(), "to", world.sides.indexOf(target), r.portal());
        int expected = world.network.get(md, offset, target.model.target(), r);
        long actual =
                side.calls.call(
                        NicCalls.GET,
                        md.handle,
                        offset,
                        r.length(),
                        target.model.target(),
                        r.portal(),
                        r.access(),
                        r.bits(),
                        r.remoteOffset());
        judge("get", expected, actual);
    }

    private void getPut(Side side, Request without, SplittableRandom random) {
        Side target = target(without, random);
        int most = random.nextInt(20) == 0 ? 200 : random.nextInt(3) == 0 ? 64 : 12;
        Md source = source(side, target, most, random);
        Md into = source(side, target, Long.MAX_VALUE, random);
        if (source == null || into == null || source == into) {
            return;
        }
        Request r = of(without, source.length);
        tell("md", into.handle, source.handle, "to", world.sides.indexOf(target), r.portal());
        int expected =
                world.network.getPut(
                        into, source, ModelWorld.GET_PUT_MAX, target.model.target(), r);
        long actual =
                side.calls.call(
                        NicCalls.GET_PUT,
                        into.handle,
                        source.handle,
                        target.model.target(),
                        r.portal(),
                        r.access(),
                        r.bits(),
                        r.remoteOffset(),
                        r.header());
        judge("getput", expected, actual);
    }

    // ---- the rest

    private void access(Side side, SplittableRandom random) {
        if (random.nextBoolean()) {
            world.access(side, random.nextInt(4), -1, -1, side.model.uid, -1, -1);
            return;
        }
        Side other = pick(world.sides, random);
        int index = random.nextInt(20) == 0 ? 64 : random.nextInt(4);
        int nid = random.nextInt(4) == 0 ? 9 : random.nextBoolean() ? -1 : other.model.nid;
        int pid = random.nextBoolean() ? -1 : other.model.pid;
        int uid = random.nextInt(4) == 0 ? side.model.uid + 1 : side.model.uid;
        int jid = random.nextBoolean() ? -1 : other.model.jid;
        int portal = random.nextBoolean() ? -1 : random.nextInt(66);
        tell("access", index, nid, pid, uid, jid, portal);
        world.access(side, index, nid, pid, uid, jid, portal);
    }

    private void free(Side side, SplittableRandom random) {
        Queue queue = pick(side.model.queues, random);
        if (queue != null) {
            world.free(side, queue);
        }
    }

    private void take(Side side, SplittableRandom random) {
        Queue queue = pick(side.model.queues, random);
        if (queue != null) {
            world.take(side, queue);
        }
    }

    private void look() {
        world.drain();
        world.compareMemory();
        world.compareRegisters();
    }
}
