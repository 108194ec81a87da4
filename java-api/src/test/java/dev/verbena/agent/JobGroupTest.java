package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class JobGroupTest {
    private static final long LONG_NS = 30_000_000_000L;

    @TempDir Path directory;
    private final ExecutorService ranks = Executors.newCachedThreadPool();

    @AfterEach
    void stop() throws InterruptedException {
        ranks.shutdownNow();
        assertThat(ranks.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    private static JobIdentity identity(String job, int rank, int size, String application) {
        return new JobIdentity("test", job, rank, size, application, JobColour.of(application));
    }

    private static Map<String, String> map(String... pairs) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put(pairs[i], pairs[i + 1]);
        }
        return map;
    }

    private JobGroup join(JobIdentity identity, long timeoutNs) {
        return JobGroup.join(
                identity,
                directory,
                "shm://j/r" + identity.rank(),
                timeoutNs,
                SystemNanoClock.INSTANCE);
    }

    /** Joins with one thread for each rank; rank i runs applications[i]. */
    private List<JobGroup> joinAll(String job, String... applications) throws Exception {
        List<Future<JobGroup>> futures = new ArrayList<>();
        for (int i = 0; i < applications.length; i++) {
            JobIdentity identity = identity(job, i, applications.length, applications[i]);
            futures.add(ranks.submit(() -> join(identity, LONG_NS)));
        }
        List<JobGroup> groups = new ArrayList<>();
        for (Future<JobGroup> future : futures) {
            groups.add(future.get());
        }
        return groups;
    }

    @Test
    void shouldTakeTheFirstLauncherThatIsPresent() {
        Map<String, String> all =
                map(
                        "PMIX_RANK",
                        "1",
                        "PMIX_NAMESPACE",
                        "ns1",
                        "OMPI_COMM_WORLD_SIZE",
                        "4",
                        "OMPI_COMM_WORLD_RANK",
                        "2",
                        "SLURM_PROCID",
                        "3",
                        "SLURM_NTASKS",
                        "9",
                        "SLURM_JOB_ID",
                        "77",
                        "SLURM_STEP_ID",
                        "5",
                        "PMI_RANK",
                        "6",
                        "PMI_SIZE",
                        "8");
        Map<String, String> properties =
                map("verbena.rank", "7", "verbena.size", "10", "verbena.app", "sim");
        List<String> found = new ArrayList<>();
        for (String gone :
                List.of("", "PMIX_RANK", "SLURM_STEP_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")) {
            all.remove(gone);
            JobIdentity i = JobIdentity.discover(all, properties);
            found.add(i.jobId() + " " + i.rank() + "/" + i.size());
            assertThat(i.application()).isEqualTo("sim");
        }
        properties.remove("verbena.rank");
        assertThat(found)
                .containsExactly(
                        "PMIx:ns1 1/4",
                        "Slurm:77.5 3/9",
                        "Open MPI:ompi 2/4",
                        "PMI:77 6/8",
                        "properties:default 7/10");
        assertThat(JobIdentity.discover(all, properties).launcher()).isEqualTo("none");
    }

    @Test
    @Tag("nessie-J3")
    void shouldBeAJobOfOneWhenThereIsNoLauncher() {
        JobIdentity identity = JobIdentity.discover(map(), map("sun.java.command", "a.b.Main x y"));
        assertThat(identity.size()).isEqualTo(1);
        assertThat(identity.application()).isEqualTo("a.b.Main");
        try (JobGroup group =
                JobGroup.join(identity, null, "shm://x", 0, SystemNanoClock.INSTANCE)) {
            group.barrier(0);
            group.applicationBarrier(0);
            assertThat(group.world()).hasSize(1).isEqualTo(group.members());
            assertThat(group.rank()).isZero();
            assertThat(group.world().get(0).uri()).isEqualTo("shm://x");
        }
        // Slurm sets a rank for the batch script too; only a step has ranks.
        JobIdentity batch =
                JobIdentity.discover(
                        map("SLURM_PROCID", "0", "SLURM_NTASKS", "64", "SLURM_JOB_ID", "1"), map());
        assertThat(batch.size()).isEqualTo(1);
    }

    @Test
    void shouldEndWhenItIsInterruptedWhileOthersAreAwaited() {
        JobIdentity identity =
                JobIdentity.discover(map(), map("verbena.rank", "0", "verbena.size", "2"));
        Thread.currentThread().interrupt();
        assertThatThrownBy(
                        () ->
                                JobGroup.join(
                                        identity,
                                        directory,
                                        "shm://x",
                                        60_000_000_000L,
                                        SystemNanoClock.INSTANCE))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("interrupted");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldNameTheVariableWhenItIsMissingOrNonsense() {
        assertThatThrownBy(
                        () ->
                                JobIdentity.discover(
                                        map("PMIX_RANK", "0", "PMIX_NAMESPACE", "x"), map()))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("verbena.size");
        assertThatThrownBy(() -> JobIdentity.discover(map("PMI_RANK", "0"), map()))
                .hasMessageContaining("PMI_SIZE");
        assertThatThrownBy(() -> JobIdentity.discover(map("PMI_RANK", "4", "PMI_SIZE", "4"), map()))
                .hasMessageContaining("PMI_RANK is 4, outside 0 to 3");
        assertThatThrownBy(() -> JobIdentity.discover(map("PMI_RANK", "x", "PMI_SIZE", "4"), map()))
                .hasMessageContaining("'x'");
        assertThatThrownBy(
                        () -> JobIdentity.discover(map("PMI_RANK", "0", "PMI_SIZE", "-4"), map()))
                .hasMessageContaining("-4");
        assertThatThrownBy(() -> JobIdentity.discover(map("VERBENA_APP", "a\nb"), map()))
                .hasMessageContaining("control");
    }

    @Test
    @Tag("nessie-J1")
    @Tag("nessie-J2")
    void shouldGiveEachApplicationRanksOfItsOwnAndFindTheOther() throws Exception {
        List<JobGroup> groups = joinAll("j1", "sim", "viz", "sim", "viz", "sim");
        for (int i = 0; i < 5; i++) {
            JobGroup group = groups.get(i);
            assertThat(group.rank()).isEqualTo(i / 2);
            assertThat(group.size()).isEqualTo(i % 2 == 0 ? 3 : 2);
            assertThat(group.world()).hasSize(5);
            assertThat(group.world().get(i).uri()).isEqualTo("shm://j/r" + i);
            assertThat(group.applications()).containsExactly("sim", "viz");
            assertThat(group.application("viz"))
                    .extracting(JobGroup.Member::worldRank)
                    .containsExactly(1, 3);
        }
        assertThatThrownBy(() -> groups.get(0).application("other"))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("[sim, viz]");
        assertThat(JobGroup.readUrls(groups.get(0).urlFile("sim")))
                .containsExactly("shm://j/r0", "shm://j/r2", "shm://j/r4");
        groups.forEach(JobGroup::close);
        groups.forEach(JobGroup::close);
    }

    @Test
    @Tag("nessie-J1")
    void shouldHoldABarrierOnlyForThoseItIsAbout() throws Exception {
        List<JobGroup> groups = joinAll("j2", "sim", "viz", "sim");
        // Only sim comes: it does not wait for viz.
        Future<?> other = ranks.submit(() -> groups.get(2).applicationBarrier(LONG_NS));
        groups.get(0).applicationBarrier(LONG_NS);
        other.get();
        assertThatThrownBy(() -> groups.get(0).barrier(1_000_000))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("[1, 2]");
    }

    @Test
    void shouldLetNobodyPassABarrierBeforeTheLastHasCome() throws Exception {
        int size = 4;
        List<JobGroup> groups = joinAll("j3", "a", "a", "a", "a");
        AtomicInteger arrived = new AtomicInteger();
        List<Future<?>> futures = new ArrayList<>();
        CountDownLatch start = new CountDownLatch(1);
        for (JobGroup group : groups) {
            futures.add(
                    ranks.submit(
                            () -> {
                                start.await();
                                for (int round = 1; round <= 25; round++) {
                                    arrived.incrementAndGet();
                                    group.barrier(LONG_NS);
                                    assertThat(arrived.get()).isGreaterThanOrEqualTo(round * size);
                                }
                                return null;
                            }));
        }
        start.countDown();
        for (Future<?> future : futures) {
            future.get();
        }
        groups.forEach(JobGroup::close);
        assertThat(joinAll("j3", "a", "a")).hasSize(2);
    }

    @Test
    @Tag("nessie-J4")
    void shouldIgnoreAndReportWhatIsOfAnotherJobDeadOrDamaged() throws Exception {
        joinAll("yesterday", "sim", "sim").get(0);
        Path colour = directory.resolve(Rendezvous.text(JobColour.of("sim")));
        Files.writeString(colour.resolve("7"), "rubbish");
        Files.writeString(colour.resolve("8"), "verbena-job/1 today 1\n");
        Rendezvous.Entry dead =
                new Rendezvous.Entry("today", 1, 2, HostName.NAME, 1 << 30, 0, "sim", "shm://dead");
        Files.writeString(colour.resolve("1"), dead.line());
        JobIdentity lonely = identity("today", 0, 2, "sim");
        assertThatThrownBy(() -> join(lonely, 20_000_000))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("1 of 2")
                .hasMessageContaining("ranks {1}")
                .hasMessageContaining("is dead");
        List<JobGroup> groups = joinAll("today", "sim", "sim");
        assertThat(groups.get(0).world())
                .extracting(JobGroup.Member::uri)
                .containsExactly("shm://j/r0", "shm://j/r1");
        assertThat(groups.get(0).ignoredEntries())
                .anyMatch(text -> text.contains("7: no entry"))
                .anyMatch(text -> text.contains("8: "));
    }

    @Test
    void shouldNotPassABarrierForMarksOfAnEarlierRunOfTheSameName() throws Exception {
        List<JobGroup> groups = joinAll("again", "a", "a");
        Path mark = directory.resolve("barrier-again/world-0/1");
        Files.createDirectories(mark.getParent());
        Files.writeString(mark, "other-host 1 2");
        assertThatThrownBy(() -> groups.get(0).barrier(20_000_000))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("[1]");
    }

    /** Ranks of a run that was killed on another host; what they left agrees with itself. */
    private void leaveDead(String job, int size, int... dead) throws Exception {
        Path colour =
                Files.createDirectories(directory.resolve(Rendezvous.text(JobColour.of("sim"))));
        Path marks = Files.createDirectories(directory.resolve("barrier-" + job + "/join-0"));
        for (int rank : dead) {
            Rendezvous.Entry entry =
                    new Rendezvous.Entry(job, rank, size, "other-host", 5, 6, "sim", "shm://dead");
            Files.writeString(colour.resolve("" + rank), entry.line());
            Files.writeString(marks.resolve("" + rank), entry.mark() + "\n" + "0".repeat(64));
        }
    }

    @Test
    void shouldNotTakeTheDeadOfAnEarlierRunOnAnotherHost() throws Exception {
        leaveDead("today", 2, 1);
        Path mark = directory.resolve("barrier-today/join-0/1");
        // Without what it has read, as well.
        for (String text : List.of(Files.readString(mark), "other-host 5 6")) {
            Files.writeString(mark, text);
            assertThatThrownBy(() -> join(identity("today", 0, 2, "sim"), 20_000_000))
                    .isInstanceOf(JobGroupException.class)
                    .hasMessageContaining("[1]");
        }
        Future<JobGroup> first = ranks.submit(() -> join(identity("today", 0, 2, "sim"), LONG_NS));
        JobGroup second = join(identity("today", 1, 2, "sim"), LONG_NS);
        for (JobGroup group : List.of(first.get(), second)) {
            assertThat(group.world())
                    .extracting(JobGroup.Member::uri)
                    .containsExactly("shm://j/r0", "shm://j/r1");
        }
    }

    private boolean isAlive(JobIdentity identity) {
        Path colour = directory.resolve(Rendezvous.text(identity.colour()));
        try {
            String entry = Files.readString(colour.resolve("" + identity.rank()));
            return !entry.contains("other-host");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Each that comes sees the dead in the places of those that are to come. */
    @Test
    void shouldAgreeOnWhoLivesWhenAllCameInAnotherOrder() throws Exception {
        for (int round = 0; round < 5; round++) {
            String job = "round" + round;
            leaveDead(job, 5, 0, 1, 2, 3, 4);
            List<Future<JobGroup>> all = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                JobIdentity identity = identity(job, (i * 3 + round) % 5, 5, "sim");
                all.add(ranks.submit(() -> join(identity, LONG_NS)));
                Await.until("published", () -> isAlive(identity));
            }
            for (Future<JobGroup> each : all) {
                assertThat(each.get().world())
                        .extracting(JobGroup.Member::uri)
                        .containsExactly(
                                "shm://j/r0",
                                "shm://j/r1",
                                "shm://j/r2",
                                "shm://j/r3",
                                "shm://j/r4");
            }
            for (Future<JobGroup> each : all) {
                each.get().close();
            }
        }
    }

    /** Who comes first may be gone again before the last has seen that all had come. */
    @Test
    void shouldJoinAlthoughOthersHaveLeftAlready() throws Exception {
        for (int round = 0; round < 20; round++) {
            String job = "left" + round;
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                JobIdentity identity = identity(job, i, 4, "sim");
                all.add(ranks.submit(() -> join(identity, LONG_NS).close()));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
    }

    private List<String> exchange(List<JobGroup> groups, String... texts) throws Exception {
        Future<List<String>> other = ranks.submit(() -> groups.get(1).exchange(texts[1], LONG_NS));
        List<String> found = groups.get(0).exchange(texts[0], LONG_NS);
        assertThat(other.get()).isEqualTo(found);
        return found;
    }

    @Test
    void shouldExchangeTextsAsLongAsAllowed() throws Exception {
        List<JobGroup> groups = joinAll("long", "a", "a");
        String euros = "\u20ac".repeat(1000);
        String pairs = "\ud83d\ude80".repeat(500);
        assertThat(exchange(groups, euros, pairs)).containsExactly(euros, pairs);
        assertThat(exchange(groups, "", " +%\n")).containsExactly("", " +%\n");
        assertThatThrownBy(() -> groups.get(0).exchange("x".repeat(1001), LONG_NS))
                .hasMessageContaining("1001 characters; possible are 1000");
    }

    /** What somebody else wrote under the name of a rank. */
    @Test
    void shouldRefuseATextThatIsTooLongOrNone() throws Exception {
        List<JobGroup> groups = joinAll("bad", "a", "a");
        String mark = Rendezvous.Entry.own(groups.get(1).identity(), "").mark() + "\n";
        Path folder = Files.createDirectories(directory.resolve("barrier-bad/exchange-0"));
        Files.writeString(folder.resolve("1"), mark + "x".repeat(RendezvousStore.TEXT_MAX));
        assertThatThrownBy(() -> groups.get(0).exchange("", LONG_NS))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("world rank 1")
                .hasMessageContaining("more than 10240 bytes");
        folder = Files.createDirectories(directory.resolve("barrier-bad/exchange-1"));
        Files.writeString(folder.resolve("1"), mark + "%zz");
        assertThatThrownBy(() -> groups.get(0).exchange("", LONG_NS))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("world rank 1");
    }

    @Test
    void shouldWriteIntoAFolderThatOthersTakeAway() throws Exception {
        DirectoryRendezvous store = new DirectoryRendezvous(directory);
        List<Future<?>> all = new ArrayList<>();
        for (String name : List.of("0", "1", "2")) {
            all.add(
                    ranks.submit(
                            () -> {
                                for (int i = 0; i < 1000; i++) {
                                    store.put("folder", name, "text");
                                    store.remove("folder", name);
                                }
                                return null;
                            }));
        }
        for (Future<?> each : all) {
            each.get();
        }
        Files.writeString(directory.resolve("file"), "");
        assertThatThrownBy(() -> store.put("file", "0", "text"))
                .hasMessageContaining(directory.resolve("file").toString());
    }

    @Test
    void shouldRefuseWhenTwoNamesHaveOneColour() {
        // Two names of one CRC-32, found by search.
        String first = "plumless";
        String second = "buckeroo";
        assertThat(JobColour.of(first)).isEqualTo(JobColour.of(second));
        assertThatThrownBy(() -> joinAll("j5", first, second))
                .hasRootCauseInstanceOf(JobGroupException.class)
                .rootCause()
                .hasMessageContaining(first)
                .hasMessageContaining(second)
                .hasMessageContaining("verbena.app");
    }

    @Test
    void shouldCountOnlyHeldProcessesUnderMpiHold() {
        Map<String, String> variables =
                map(
                        "VERBENA_HELD_RANK",
                        "1",
                        "VERBENA_HELD_SIZE",
                        "2",
                        "VERBENA_HELD_JOB",
                        "vh1-7-9",
                        "PMIX_RANK",
                        "5",
                        "PMIX_NAMESPACE",
                        "ns1",
                        "OMPI_COMM_WORLD_SIZE",
                        "6");
        JobIdentity held = JobIdentity.discover(variables, map("verbena.app", "store"));
        assertThat(held.jobId()).isEqualTo("held:vh1-7-9");
        assertThat(held.rank()).isEqualTo(1);
        assertThat(held.size()).isEqualTo(2);
    }

    @Test
    @Tag("nessie-X5")
    void shouldReadAUrlFileOnlyWhenItIsComplete() throws Exception {
        Path file = directory.resolve("urls");
        assertThat(JobGroup.readUrls(file)).isNull();
        Files.writeString(file, "");
        assertThat(JobGroup.readUrls(file)).isNull();
        Files.writeString(file, "2\nshm://a\n");
        assertThat(JobGroup.readUrls(file)).isNull();
        Files.writeString(file, "2\nshm://a\nshm://b\n");
        assertThat(JobGroup.readUrls(file)).containsExactly("shm://a", "shm://b");
        Files.writeString(file, "many\nshm://a\n");
        assertThatThrownBy(() -> JobGroup.readUrls(file)).hasMessageContaining(file.toString());
        Files.write(file, new byte[] {'1', '\n', (byte) 0xFF});
        assertThatThrownBy(() -> JobGroup.readUrls(file))
                .hasMessage("URL file %s is no text", file);
        assertThatThrownBy(() -> JobGroup.readUrls(directory))
                .hasMessageStartingWith("URL file " + directory + ": ");
    }

    @Test
    void shouldNeedADirectoryWhenThereAreSeveral() {
        assertThatThrownBy(
                        () ->
                                JobGroup.join(
                                        identity("x", 0, 2, "a"),
                                        null,
                                        "",
                                        0,
                                        SystemNanoClock.INSTANCE))
                .isInstanceOf(JobGroupException.class)
                .hasMessageContaining("rendezvous");
    }
}
