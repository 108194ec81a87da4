package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What is posted on a queue that lives long. */
class WorkLogTest {
    private static final int CAPACITY = 4;

    /** An eighth of the numbers that ids have room for. */
    private static final long MANY = 1L << 37;

    private static long post(WorkLog log, long callersId) {
        long id = log.nextId();
        log.noteOne(callersId, null);
        return id;
    }

    private static void assertCompletes(WorkLog log, long id, long callersId) {
        assertThat(log.isStale(id)).as("id %x", id).isFalse();
        assertThat(log.complete(id)).isEqualTo(callersId);
    }

    @Test
    void shouldTellNewCompletionsFromOldOnesHoweverManyWerePosted() {
        WorkLog log = new WorkLog(null, 1, 0, CAPACITY, 1, true);
        for (int eighth = 0; eighth < 24; eighth++) {
            long old = post(log, 1);
            log.clear();
            assertThat(log.isStale(old)).as("eighth %s", eighth).isTrue();
            for (int i = 0; i < 2 * CAPACITY; i++) {
                assertCompletes(log, post(log, i), i);
            }
            log.skip(MANY);
        }
        for (int eighth = 0; eighth < 24; eighth++) {
            for (int i = 0; i < 2 * CAPACITY; i++) {
                assertCompletes(log, post(log, i), i);
            }
            log.skip(MANY);
        }
    }

    /** The place of a receive that never completes is passed over in each turn. */
    @Test
    void shouldTellThemApartWhenAPlaceIsNeverFree() {
        WorkLog log = new WorkLog(null, 1, 0, CAPACITY, 1, false);
        post(log, 0);
        for (int eighth = 0; eighth < 24; eighth++) {
            for (int i = 0; i < 2 * CAPACITY; i++) {
                assertThat(log.isNextFree()).isTrue();
                assertCompletes(log, post(log, i), i);
            }
            log.skip(MANY);
        }
    }
}
