package dev.verbena.examples;

import dev.verbena.portals.EventQueue;
import dev.verbena.portals.MatchEntry;
import dev.verbena.portals.MatchEntryContext;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsEventFlyweight;
import dev.verbena.portals.PortalsEventKind;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.portals.PortalsInterfaceContext;
import dev.verbena.portals.PortalsMemory;
import dev.verbena.portals.PortalsOutcome;
import dev.verbena.portals.PortalsProcess;
import dev.verbena.portals.PortalsRegister;
import dev.verbena.portals.PortalsRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * Portals itself, without the transport: a match list with an entry for one announced message and a
 * mailbox behind it for everything else. The same two interfaces could be in two processes.
 *
 * <p>Run: {@code java -cp 'cli/target/dist/lib/*' dev.verbena.examples.PortalsMailbox}
 */
public final class PortalsMailbox {
    private static final int INDEX = 4;
    private static final long ANNOUNCED = 0xBEEF;

    private PortalsMailbox() {}

    /** Runs it. */
    public static void main(String[] arguments) {
        run().forEach(System.out::println);
    }

    /** Sends three messages and tells where each of them went. */
    static List<String> run() {
        String job = "mailbox-" + ProcessHandle.current().pid();
        List<String> lines = new ArrayList<>();
        try (PortalsInterface target = open(job);
                EventQueue queue = target.eventQueue(16);
                PortalsMemory memory = target.allocate(4096);
                MatchEntry mailbox = mailbox(target, queue, memory)) {
            MatchEntry announced = announced(mailbox, queue, memory);
            send(job, target.id());
            PortalsEventFlyweight event = new PortalsEventFlyweight();
            while (queue.poll(event) != EventQueue.EMPTY) {
                lines.add(line(event, memory));
            }
            lines.add(target.status(PortalsRegister.DROP_COUNT) + " dropped");
            announced.close(); // it went by itself with its descriptor; closing is idempotent
        }
        return lines;
    }

    private static PortalsInterface open(String job) {
        return PortalsInterface.open(new PortalsInterfaceContext().job(job));
    }

    /** Takes puts of anybody, whatever their bits; they follow one another in the memory. */
    private static MatchEntry mailbox(
            PortalsInterface target, EventQueue queue, PortalsMemory memory) {
        return target.attach(
                INDEX,
                new MatchEntryContext()
                        .ignoreBits(-1)
                        .descriptor(rules(queue).region(memory.address() + 1024, 64)));
    }

    /** In front of the mailbox: takes one message, then goes. */
    private static MatchEntry announced(
            MatchEntry mailbox, EventQueue queue, PortalsMemory memory) {
        return mailbox.insert(
                new MatchEntryContext()
                        .before()
                        .matchBits(ANNOUNCED)
                        .unlink()
                        .descriptorThatUnlinks(
                                rules(queue).region(memory.address(), 1024).threshold(1)));
    }

    private static MemoryDescriptorContext rules(EventQueue queue) {
        return new MemoryDescriptorContext().acceptPut(true).startEvents(false).queue(queue);
    }

    /** The other side: announced, the same again, and one that is too long for the mailbox. */
    private static void send(String job, PortalsProcess target) {
        try (PortalsInterface initiator = open(job);
                PortalsMemory memory = initiator.allocate(4096);
                MemoryDescriptor source =
                        initiator.bind(
                                new MemoryDescriptorContext().memory(memory),
                                MemoryDescriptor.RETAIN)) {
            memory.buffer(0, 4096).putStringWithoutLengthAscii(0, "one, two, and far too long");
            PortalsRequest request = new PortalsRequest(target, INDEX).matchBits(ANNOUNCED);
            expect(PortalsOutcome.DELIVERED, source.put(request.region(0, 3)));
            expect(PortalsOutcome.DELIVERED, source.put(request.region(5, 3)));
            expect(PortalsOutcome.DROPPED, source.put(request.region(0, 500)));
        }
    }

    private static void expect(int expected, int outcome) {
        if (outcome != expected) {
            throw new IllegalStateException("the put was " + PortalsOutcome.name(outcome));
        }
    }

    private static String line(PortalsEventFlyweight event, PortalsMemory memory) {
        String kind = PortalsEventKind.name(event.kind());
        if (event.kind() != PortalsEventKind.PUT_END) {
            return kind;
        }
        // As every Portals program does: where the descriptor begins, and the offset in it.
        long at = event.descriptorStart() + event.offset() - memory.address();
        int length = (int) event.length();
        String text = memory.buffer(at, length).getStringWithoutLengthAscii(0, length);
        return kind + " \"" + text + "\" at " + at;
    }
}
