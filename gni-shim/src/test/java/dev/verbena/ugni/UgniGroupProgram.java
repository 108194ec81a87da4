package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A message between nodes and a reduction, on two devices that say they are Aries. */
final class UgniGroupProgram {
    private static final int PTAG = 98;

    private UgniGroupProgram() {}

    public static void main(String[] arguments) {
        int cookie = (int) ProcessHandle.current().pid();
        CommunicationDomain one = CommunicationDomain.create(1, PTAG, cookie, 0);
        CommunicationDomain two = CommunicationDomain.create(2, PTAG, cookie, 0);
        try {
            System.out.println("aries " + CommunicationDomain.isAries());
            message(one.attach(0), two.attach(1));
            reduce(two.attach(0), one);
        } finally {
            one.closeAll();
            two.closeAll();
        }
    }

    private static SharedMessageQueue join(Nic nic, CompletionQueue source) {
        return nic.sharedMessageQueue(source, 64, 8, 4, 1);
    }

    private static void connect(SharedMessageQueue a, int atA, SharedMessageQueue b, int atB) {
        ExpandableArrayBuffer ofA = new ExpandableArrayBuffer();
        ExpandableArrayBuffer ofB = new ExpandableArrayBuffer();
        int lengthA = a.attributes(atB, ofA, 0);
        int lengthB = b.attributes(atA, ofB, 0);
        a.connect(atB, ofB, 0, lengthB);
        b.connect(atA, ofA, 0, lengthA);
    }

    private static void message(Nic a, Nic b) {
        CompletionQueue source = a.completionQueue(64, CompletionQueue.BLOCKING);
        SharedMessageQueue near = join(a, source);
        SharedMessageQueue far = join(b, null);
        connect(near, a.address(), far, b.address());
        Endpoint endpoint = a.endpoint(source).bind(b.address(), b.instance());
        UnsafeBuffer text = new UnsafeBuffer(new byte[64]);
        text.putStringWithoutLengthAscii(0, "between nodes");
        System.out.println("none " + far.next(0));
        System.out.println("sent " + near.send(endpoint, text, 0, 13, 7, 3));
        System.out.println("too long " + near.send(endpoint, text, 0, 65, 7, 3));
        System.out.println("taken " + far.next(10_000));
        System.out.println(
                far.fromInstance()
                        + " "
                        + (far.fromAddress() == a.address())
                        + " "
                        + far.tag()
                        + " "
                        + far.message().getStringWithoutLengthAscii(0, 13));
        System.out.println(
                "told " + source.await(10_000) + " " + CompletionEvent.messageId(source.event()));
        endpoint.close();
        near.close();
        far.close();
        far.close();
    }

    private static void reduce(Nic b, CommunicationDomain other) {
        Nic a = CommunicationDomain.create(3, PTAG, other.cookie(), 0).attach(0);
        CollectiveEngine engine = a.collectiveEngine();
        Endpoint[] children = {child(a, a, 0), child(a, b, 1)};
        engine.configure(children, null, null, CollectiveEngine.MODES);
        Leaf first = new Leaf(a, a, engine.id(), 0);
        Leaf second = new Leaf(b, a, engine.id(), 1);
        System.out.println("silent " + first.join(40, PostDescriptorFlyweight.SILENT));
        System.out.println("joined " + first.join(40, PostDescriptorFlyweight.GLOBAL_EVENT));
        System.out.println("waits " + CollectiveEngine.check(first.memory, 0));
        System.out.println("joined " + second.join(2, PostDescriptorFlyweight.GLOBAL_EVENT));
        System.out.println("sum " + first.take() + " " + second.take());
        System.out.println("there " + CollectiveEngine.check(first.memory, 0));
        try {
            children[0].close();
        } catch (IllegalStateException e) {
            System.out.println("refused");
        }
        engine.close();
        children[0].close();
        a.domain().closeAll();
    }

    private static Endpoint child(Nic nic, Nic peer, int number) {
        return nic.endpoint(null)
                .bind(peer.address(), peer.instance())
                .collective(0, number, CollectiveEngine.PROCESS);
    }

    /** A process that gives an operand. */
    private static final class Leaf {
        final UgniMemory memory;
        private final CompletionQueue queue;
        private final Endpoint endpoint;
        private final PostDescriptorFlyweight post = new PostDescriptorFlyweight();

        Leaf(Nic nic, Nic root, int engine, int number) {
            queue = nic.completionQueue(8, CompletionQueue.BLOCKING);
            memory = nic.allocate(4096);
            endpoint =
                    nic.endpoint(queue)
                            .bind(root.address(), root.instance())
                            .collective(engine, number, CollectiveEngine.PROCESS);
            nic.postDescriptors(1).claim(post);
            post.type(PostDescriptorFlyweight.CE)
                    .local(nic.register(memory, Nic.READ_WRITE, null), 0);
        }

        int join(long operand, int modes) {
            post.cqMode(modes).collective(ugni.GNI_FMA_CE_IADD, 0, 77, operand, 0);
            return endpoint.postFma(post);
        }

        long take() {
            if (queue.await(10_000) != CompletionQueue.EVENT || queue.completed(post) != 0) {
                throw new IllegalStateException("the reduction failed");
            }
            return memory.buffer(8, 8).getLong(0);
        }
    }
}
