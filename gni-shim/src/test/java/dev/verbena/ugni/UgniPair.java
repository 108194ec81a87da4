package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two NIC handles of this process, initiator and target, bound to each other. */
abstract class UgniPair {
    static final int LENGTH = 8192;
    static final int PTAG = 77;
    private static final AtomicInteger SERIAL =
            new AtomicInteger((int) ProcessHandle.current().pid() << 12);

    final PostDescriptorFlyweight post = new PostDescriptorFlyweight();
    final PostDescriptorFlyweight done = new PostDescriptorFlyweight();
    final Datagram datagram = new Datagram();
    int cookie;
    CommunicationDomain here;
    CommunicationDomain there;
    Nic initiator;
    Nic target;
    CompletionQueue source;
    CompletionQueue targetSource;
    CompletionQueue destination;
    Endpoint endpoint;
    Endpoint back;
    UgniMemory from;
    UgniMemory to;
    MemoryRegistration local;
    MemoryRegistration remote;
    UnsafeBuffer sent;
    UnsafeBuffer arrived;
    PostDescriptors posts;

    int modes() {
        return 0;
    }

    @BeforeEach
    void open() {
        cookie = SERIAL.incrementAndGet();
        here = CommunicationDomain.create(1, PTAG, cookie, modes());
        there = CommunicationDomain.create(2, PTAG, cookie, modes());
        initiator = here.attach(CommunicationDomain.ANY_DEVICE);
        target = there.attach(0);
        source = initiator.completionQueue(64, CompletionQueue.BLOCKING);
        targetSource = target.completionQueue(64, CompletionQueue.NO_BLOCK);
        destination = target.completionQueue(64, CompletionQueue.BLOCKING);
        endpoint = initiator.endpoint(source).bind(target.address(), target.instance());
        back = target.endpoint(targetSource).bind(initiator.address(), initiator.instance());
        from = initiator.allocate(LENGTH);
        to = target.allocate(LENGTH);
        local = initiator.register(from, Nic.READ_WRITE, null);
        remote = target.register(to, Nic.READ_WRITE, destination);
        sent = from.buffer(0, LENGTH);
        arrived = to.buffer(0, LENGTH);
        for (int i = 0; i < LENGTH; i++) {
            sent.putByte(i, (byte) (i % 251 + 1));
        }
        posts = initiator.postDescriptors(8);
    }

    @AfterEach
    void close() {
        here.moveTo(Thread.currentThread());
        there.moveTo(Thread.currentThread());
        here.closeAll();
        there.closeAll();
    }

    /** A claimed descriptor from the first bytes here to the first bytes there. */
    PostDescriptorFlyweight claim(int type, int modes, long length) {
        assertThat(posts.claim(post)).isTrue();
        return post.type(type)
                .cqMode(modes)
                .local(local, 0)
                .remote(remote.address(), remote.handle1(), remote.handle2())
                .length(length);
    }

    /** Takes the event of {@link #post}, good or bad, and its descriptor. */
    int take() {
        int answer = source.poll();
        assertThat(answer).isIn(CompletionQueue.EVENT, CompletionQueue.FAILED);
        int result = source.completed(done);
        assertThat(result)
                .isEqualTo(answer == CompletionQueue.EVENT ? 0 : -UgniCode.TRANSACTION_ERROR);
        return answer;
    }
}
