package dev.verbena.nsim.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScriptPlayerTest {
    private static final class Notes implements Performer {
        final List<String> all = new ArrayList<>();

        @Override
        public void compute(long picoseconds) {
            all.add("compute " + picoseconds);
        }

        @Override
        public void put(int to, long bytes, int tag) {
            all.add("put " + to + " " + bytes + " " + (tag == COLLECTIVE_TAG ? "c" : tag));
        }

        @Override
        public void get(int from, long bytes) {
            all.add("get " + from + " " + bytes);
        }

        @Override
        public void poll(int tag) {
            all.add("poll " + tag);
        }

        @Override
        public void poll(int from, int tag) {
            all.add("poll " + from + " " + (tag == COLLECTIVE_TAG ? "c" : tag));
        }

        @Override
        public void complete(int number) {
            all.add("complete " + number);
        }

        @Override
        public void completeAll() {
            all.add("complete all");
        }
    }

    private static List<String> play(Program program) {
        Notes notes = new Notes();
        Script.record(3, true, Long.MAX_VALUE, program).perform(1, notes);
        return notes.all;
    }

    @Test
    void shouldPlayWhatWasRecordedWithLoopsAndCollectives() {
        List<String> played =
                play(
                        rank -> {
                            long first = rank.put(2, 300, 7);
                            rank.loop(
                                    2,
                                    () -> {
                                        rank.get(0, 1 << 20);
                                        rank.loop(2, () -> rank.poll(5));
                                    });
                            rank.complete(first);
                            rank.poll(2, 9);
                            rank.barrier();
                            rank.complete(rank.get(2, 1));
                            rank.computeNanos(3);
                            rank.completeAll();
                        });
        assertThat(String.join("; ", played))
                .isEqualTo(
                        "put 2 300 7; get 0 1048576; poll 5; poll 5; get 0 1048576; poll 5;"
                                + " poll 5; complete 0; poll 2 9; put 2 8 c; poll 0 c; put 0 8 c;"
                                + " poll 2 c; get 2 1; complete 3; compute 3000; complete all");
    }

    @Test
    void shouldRefuseTagsOfThosePerforming() {
        int most = Performer.TAGS - 1;
        assertThat(play(rank -> rank.put(0, 8, most))).containsExactly("put 0 8 " + most);
        int tag = Performer.TAGS;
        List<Program> wrong =
                List.of(
                        rank -> rank.put(0, 8, tag),
                        rank -> rank.poll(tag),
                        rank -> rank.poll(0, tag));
        for (Program program : wrong) {
            assertThatThrownBy(() -> play(program))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("tag 536870912")
                    .hasMessageContaining("use a smaller tag");
        }
    }

    @Test
    void shouldRefuseWhatOnlyTheSimulatorKnows() {
        assertThatThrownBy(() -> play(rank -> rank.isend(0, 8, 1)))
                .hasMessageContaining("known to the simulator only");
        assertThatThrownBy(() -> play(rank -> rank.irecv(0, 8, 1)))
                .hasMessageContaining("known to the simulator only");
        assertThatThrownBy(() -> play(rank -> rank.calculate(() -> {})))
                .hasMessageContaining("known to the simulator only");
    }
}
