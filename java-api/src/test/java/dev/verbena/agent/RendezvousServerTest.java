package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jobs without a shared directory. */
@Timeout(60)
class RendezvousServerTest {
    private static final long LONG_NS = 30_000_000_000L;
    private static final long SHORT_NS = 50_000_000;

    private final RealEnvironment environment = RealEnvironment.builder().build();
    private final RendezvousServer server = RendezvousServer.launch(environment, "127.0.0.1", 0);
    private final ExecutorService ranks = Executors.newCachedThreadPool();

    @AfterEach
    void stop() throws InterruptedException {
        ranks.shutdownNow();
        assertThat(ranks.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        server.close();
        environment.close();
    }

    private URI address() {
        return URI.create("tcp://127.0.0.1:" + server.port());
    }

    private JobGroup join(String job, int rank, int size, String application, long timeoutNs) {
        JobIdentity identity =
                new JobIdentity("test", job, rank, size, application, JobColour.of(application));
        String uri = "shm://" + job + "/r" + rank;
        return JobGroup.joinAt(address(), identity, uri, timeoutNs, SystemNanoClock.INSTANCE);
    }

    private List<JobGroup> joinAll(String job, String... applications) throws Exception {
        List<Future<JobGroup>> futures = new ArrayList<>();
        for (int i = 0; i < applications.length; i++) {
            int rank = i;
            String application = applications[i];
            futures.add(
                    ranks.submit(() -> join(job, rank, applications.length, application, LONG_NS)));
        }
        List<JobGroup> groups = new ArrayList<>();
        for (Future<JobGroup> future : futures) {
            groups.add(future.get());
        }
        return groups;
    }

    @Test
    @Tag("nessie-J1")
    void shouldFormApplicationsOfTwoJobsThatDoNotSeeEachOther() throws Exception {
        List<JobGroup> one = joinAll("one", "sim", "viz", "sim");
        List<JobGroup> two = joinAll("two", "sim", "sim");
        assertThat(one.get(2).rank()).isEqualTo(1);
        assertThat(one.get(2).members())
                .extracting(JobGroup.Member::uri)
                .containsExactly("shm://one/r0", "shm://one/r2");
        assertThat(one.get(1).applications()).containsExactly("sim", "viz");
        assertThat(two.get(0).world()).hasSize(2);
        assertThat(two.get(0).applications()).containsExactly("sim");
        one.get(1).applicationBarrier(LONG_NS); // alone
        for (int i = 0; i < 3; i++) {
            List<Future<?>> all = new ArrayList<>();
            one.forEach(group -> all.add(ranks.submit(() -> group.barrier(LONG_NS))));
            for (Future<?> each : all) {
                each.get();
            }
        }
        assertThatThrownBy(() -> two.get(0).barrier(SHORT_NS))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("[1]");
        one.forEach(JobGroup::close);
        two.forEach(JobGroup::close);
    }

    /** In the last round as long as a text may be, of characters that take most room. */
    private static String text(int rank, int round) {
        return round < 2 ? "of %s, %s".formatted(rank, round) : "\u20ac".repeat(1000 - rank);
    }

    @Test
    void shouldExchangeTexts() throws Exception {
        List<JobGroup> groups = joinAll("texts", "sim", "viz", "sim");
        for (int round = 0; round < 3; round++) {
            List<Future<List<String>>> all = new ArrayList<>();
            for (JobGroup group : groups) {
                String text = text(group.identity().rank(), round);
                all.add(ranks.submit(() -> group.exchange(text, LONG_NS)));
            }
            for (Future<List<String>> each : all) {
                assertThat(each.get())
                        .containsExactly(text(0, round), text(1, round), text(2, round));
            }
        }
        assertThatThrownBy(() -> groups.get(0).exchange("alone", SHORT_NS))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("[1, 2]");
        groups.forEach(JobGroup::close);
    }

    @Test
    void shouldNameTheRanksThatDidNotCome() {
        // Enough to connect while the machine is busy.
        assertThatThrownBy(() -> join("lonely", 1, 3, "sim", 20 * SHORT_NS))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("2 of 3")
                .hasMessageContaining("{0, 2}");
    }

    @Test
    void shouldRefuseASecondProcessOfOneRank() throws Exception {
        List<JobGroup> groups = joinAll("twice", "sim", "sim");
        assertThatThrownBy(() -> join("twice", 1, 2, "sim", LONG_NS))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("rank 1 of job twice");
        groups.forEach(JobGroup::close);
    }

    @Test
    @Tag("nessie-J4")
    void shouldForgetAJobWhoseConnectionsHaveEnded() throws Exception {
        joinAll("again", "sim", "sim").forEach(JobGroup::close);
        // The server sees an end some time after it.
        List<JobGroup> groups = null;
        while (groups == null) {
            try {
                groups = joinAll("again", "viz", "viz");
            } catch (java.util.concurrent.ExecutionException e) {
                assertThat(e).hasMessageContaining("has published already");
            }
        }
        JobGroup joined = groups.get(0);
        assertThat(joined.applications()).containsExactly("viz");
        assertThat(joined.ignoredEntries()).isEmpty();
        assertThatThrownBy(() -> joined.urlFile("viz")).isInstanceOf(JobGroupException.class);
        groups.forEach(JobGroup::close);
    }

    private String answerTo(String request) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void shouldRefuseWhatIsNoRequestAndServeOthers() throws Exception {
        String first = RendezvousServer.MAGIC + " job\n";
        assertThat(answerTo("GET / HTTP/1.1\r\n\r\n")).startsWith("error the first request");
        assertThat(answerTo(first + "put a b\n")).isEqualTo("0\nerror there is no such request\n");
        assertThat(answerTo(first + "put a b %zz\n"))
                .isEqualTo("0\nerror the request is malformed\n");
        assertThat(answerTo("x".repeat(RendezvousServer.LINE_MAX))).startsWith("error the request");
        String text = "y".repeat(RendezvousStore.TEXT_MAX + 1);
        assertThat(answerTo(first + "put a b " + text + "\n")).contains("no room");
        assertThat(joinAll("fine", "sim", "sim")).hasSize(2);
    }

    /** Texts may be empty, and their names are long. */
    @Test
    void shouldBoundTheMemoryOfNamesToo() {
        JobTexts texts = new JobTexts("job");
        String longName = "n".repeat(RendezvousServer.LINE_MAX / 2);
        int count = 0;
        while (count < 10_000 && texts.put("folder" + count, longName, "")) {
            count++;
        }
        assertThat(count).isBetween(1_000, 5_000);
        assertThat(texts.bytes()).isLessThan(100L << 20);
        for (int i = 0; i < count; i++) {
            texts.remove("folder" + i, longName);
        }
        assertThat(texts.bytes()).isZero();
    }

    /** A stream whose peer sends one text, takes any answer, and then waits. */
    private static final class Peer implements ByteStreams.ByteStream {
        private final List<Integer> capacities = new ArrayList<>();
        private String request = "";

        @Override
        public int state() {
            return OPEN;
        }

        @Override
        public String error() {
            return "";
        }

        @Override
        public String peer() {
            return "test";
        }

        @Override
        public int read(MutableDirectBuffer buffer, int offset, int length) {
            int count = buffer.putStringWithoutLengthUtf8(offset, request);
            request = "";
            return count;
        }

        @Override
        public int write(DirectBuffer buffer, int offset, int length) {
            capacities.add(buffer.capacity());
            return length;
        }

        @Override
        public void close() {}
    }

    /** Each of many processes asks for the texts of all once. */
    @Test
    void shouldKeepNoLongAnswerOnceItIsWritten() {
        JobTexts texts = new JobTexts("job");
        for (int i = 0; i < 50; i++) {
            texts.put("folder", "name" + i, "x".repeat(RendezvousStore.TEXT_MAX));
        }
        Peer peer = new Peer();
        RendezvousConnection connection = new RendezvousConnection(peer, name -> texts);
        for (String request : List.of(RendezvousServer.MAGIC + " job", "read folder", "folders")) {
            peer.request = request + "\n";
            connection.doWork();
            connection.doWork();
        }
        assertThat(peer.capacities).hasSize(3);
        assertThat(peer.capacities.get(1)).isGreaterThan(100_000);
        assertThat(peer.capacities.get(2)).isLessThanOrEqualTo(64 * 1024);
    }

    @Test
    void shouldSayWhenThereIsNoServer() {
        int port = server.port();
        server.close();
        assertThatThrownBy(() -> join("none", 0, 2, "sim", SHORT_NS))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("no rendezvous server at tcp://127.0.0.1:" + port);
    }
}
