package dev.verbena.savime.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which work on files the server's own thread does. */
class StorageJobsTest {
    private final WaitingWork memory = new WaitingWork();
    private final WaitingWork disk = new WaitingWork();
    private final List<String> done = new ArrayList<>();
    private final List<Throwable> reported = new ArrayList<>();

    private void submitShort(StorageJobs jobs, boolean isMemory, String name) {
        jobs.submitShort(isMemory, () -> done.add(name), failure -> done.add(name + " ended"));
    }

    @Test
    void shouldDoWhatIsShortAtOnceUnlessSomethingIsBeforeIt() {
        StorageJobs jobs = new StorageJobs(memory, disk, true, reported::add);
        submitShort(jobs, true, "a");
        assertThat(done).containsExactly("a", "a ended");
        jobs.submit(true, () -> done.add("long"), failure -> done.add("long ended"));
        submitShort(jobs, true, "b");
        submitShort(jobs, false, "disk");
        assertThat(done).hasSize(2);
        jobs.poll();
        assertThat(done.subList(2, 8))
                .containsExactly("long", "long ended", "b", "b ended", "disk", "disk ended");
    }

    @Test
    void shouldLeaveWorkToTheThreadWhereFilesMayWaitForADevice() {
        StorageJobs jobs = new StorageJobs(memory, disk, false, reported::add);
        submitShort(jobs, true, "a");
        assertThat(done).isEmpty();
        jobs.poll();
        assertThat(done).containsExactly("a", "a ended");
    }

    @Test
    void shouldTellFailuresOfWhatIsDoneAtOnce() {
        List<Exception> failures = new ArrayList<>();
        IOException full = new IOException("full");
        new StorageJobs(memory, disk, true, reported::add)
                .submitShort(
                        true,
                        () -> {
                            throw full;
                        },
                        failures::add);
        assertThat(failures).containsExactly(full);
        assertThat(reported).containsExactly(full);
    }
}
