package dev.verbena.examples;

import dev.verbena.ugni.CommunicationDomain;
import dev.verbena.ugni.CompletionEvent;
import dev.verbena.ugni.CompletionQueue;
import dev.verbena.ugni.Datagram;
import dev.verbena.ugni.DatagramState;
import dev.verbena.ugni.Endpoint;
import dev.verbena.ugni.MemoryRegistration;
import dev.verbena.ugni.Nic;
import dev.verbena.ugni.PostDescriptorFlyweight;
import dev.verbena.ugni.PostDescriptors;
import dev.verbena.ugni.UgniCode;
import dev.verbena.ugni.UgniMemory;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;

/**
 * uGNI itself, without the transport: a server shows a piece of memory to whoever asks by a
 * datagram; a client puts into it, and the server's queue tells. The same two domains could be in
 * two processes.
 *
 * <p>Run: {@code java -cp 'cli/target/dist/lib/*' dev.verbena.examples.UgniNotify}
 */
public final class UgniNotify {
    private static final int PTAG = 200;
    private static final int SERVER = 1;
    private static final int CLIENT = 2;
    private static final int WAIT_MS = 10_000;

    private UgniNotify() {}

    /** Runs it. */
    public static void main(String[] arguments) {
        run().forEach(System.out::println);
    }

    /** One put, and what both sides saw of it. */
    static List<String> run() {
        int cookie = (int) ProcessHandle.current().pid();
        try (CommunicationDomain there = CommunicationDomain.create(SERVER, PTAG, cookie, 0);
                CommunicationDomain here = CommunicationDomain.create(CLIENT, PTAG, cookie, 0)) {
            Nic server = there.attach(CommunicationDomain.ANY_DEVICE);
            Nic client = here.attach(CommunicationDomain.ANY_DEVICE);
            try (CompletionQueue news = server.completionQueue(64, CompletionQueue.BLOCKING);
                    UgniMemory memory = server.allocate(4096);
                    MemoryRegistration shown = server.register(memory, Nic.READ_WRITE, news);
                    Endpoint door = server.endpoint(null)) {
                show(door, shown);
                String sent = put(client, server.address());
                if (news.await(WAIT_MS) != CompletionQueue.EVENT) {
                    throw new IllegalStateException("no event came");
                }
                return List.of(
                        sent,
                        "instance %s wrote \"%s\""
                                .formatted(
                                        CompletionEvent.instance(news.event()),
                                        memory.buffer(0, 5).getStringWithoutLengthAscii(0, 5)));
            }
        }
    }

    /** Address and handle of the memory, for the first who asks. */
    private static void show(Endpoint door, MemoryRegistration shown) {
        ExpandableArrayBuffer text = new ExpandableArrayBuffer(Datagram.LENGTH_MAX);
        text.putLong(0, shown.address());
        shown.getHandle(text, Long.BYTES);
        door.postData(SERVER, text, 0, Long.BYTES + MemoryRegistration.HANDLE_LENGTH);
    }

    private static String put(Nic client, int serverAddress) {
        try (CompletionQueue queue = client.completionQueue(64, CompletionQueue.NO_BLOCK);
                Endpoint endpoint = client.endpoint(queue).bind(serverAddress, SERVER);
                UgniMemory memory = client.allocate(4096);
                PostDescriptors posts = client.postDescriptors(1)) {
            DirectBuffer shown = ask(endpoint);
            memory.buffer(0, 5).putStringWithoutLengthAscii(0, "hello");
            PostDescriptorFlyweight post = new PostDescriptorFlyweight();
            posts.claim(post);
            post.type(PostDescriptorFlyweight.FMA_PUT)
                    .cqMode(
                            PostDescriptorFlyweight.GLOBAL_EVENT
                                    | PostDescriptorFlyweight.REMOTE_EVENT)
                    .local(memory, 0)
                    .remote(shown.getLong(0), shown.getLong(8), shown.getLong(16))
                    .length(5);
            int result = endpoint.postFma(post);
            if (result != 0) {
                throw new IllegalStateException("the post was refused: " + UgniCode.name(result));
            }
            while (queue.poll() == CompletionQueue.EMPTY) {
                Thread.onSpinWait();
            }
            return "the put went " + (queue.completed(post) == 0 ? "well" : queue.errorText());
        }
    }

    private static DirectBuffer ask(Endpoint endpoint) {
        Datagram answer = new Datagram();
        endpoint.postData(new ExpandableArrayBuffer(8), 0, 8);
        if (endpoint.awaitData(WAIT_MS, answer) != DatagramState.COMPLETED) {
            throw new IllegalStateException("the server does not answer: " + answer);
        }
        return answer.bytes();
    }
}
