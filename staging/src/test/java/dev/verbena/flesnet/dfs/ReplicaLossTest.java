package dev.verbena.flesnet.dfs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.dfs.ExchangeModel.Used;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replicas of the scheduler that are killed. */
@Timeout(60)
class ReplicaLossTest {
    private static final int INTERVALS = 40;

    @Test
    @Tag("flesnet-43")
    void shouldUseTheSameProposalsWhenAllReplicasButOneAreKilled() {
        List<Used> all = new ExchangeModel().run(INTERVALS).used;
        assertThat(all).filteredOn(u -> u.interval() >= 2).noneMatch(Used::isOwn);
        assertThat(all.stream().map(Used::durationNs).distinct().count()).isGreaterThan(5);
        for (int survivor = 0; survivor < ExchangeModel.REPLICAS; survivor++) {
            // In the middle of an interval, and while reports and proposals are on their way.
            for (long atNs = 4_000_000; atNs < 4_600_000; atNs += 53_000) {
                ExchangeModel model = new ExchangeModel();
                for (int r = 0; r < ExchangeModel.REPLICAS; r++) {
                    if (r != survivor) {
                        model.kill(r, atNs + 700_000 * r);
                    }
                }
                assertThat(model.run(INTERVALS).used)
                        .as("%s lives, %s", survivor, atNs)
                        .isEqualTo(all);
            }
        }
    }

    @Test
    @Tag("flesnet-44")
    void shouldGoOnWithTheLastDurationWhenTheLastReplicaIsKilled() {
        ExchangeModel model = new ExchangeModel();
        for (int r = 0; r < ExchangeModel.REPLICAS; r++) {
            model.kill(r, 4_000_000);
        }
        List<Used> used = model.run(INTERVALS).used;
        List<Used> own = used.stream().filter(u -> u.interval() > 1 && u.isOwn()).toList();
        assertThat(own).hasSizeGreaterThan(40);
        Used last = used.get(used.size() - 1);
        assertThat(last.durationNs()).isPositive();
        assertThat(own).allMatch(u -> u.durationNs() == last.durationNs());
    }

    @Test
    @Tag("flesnet-44")
    void shouldUseProposalsOfARestartedReplicaOnceItHasSeenAWholeHistory() {
        ExchangeModel model = new ExchangeModel();
        for (int r = 0; r < ExchangeModel.REPLICAS; r++) {
            model.kill(r, 4_000_000);
        }
        List<Used> used = model.restart(1, 8_000_000).run(INTERVALS).used;
        long known = model.firstKnown(1);
        assertThat(known).isBetween(15L, 25L);
        long first = known + ExchangeModel.PARAMETERS.history() - 1 + Proposer.DISTANCE;
        assertThat(used)
                .filteredOn(u -> u.interval() >= known && u.interval() < first)
                .hasSizeGreaterThan(ExchangeModel.INPUTS)
                .allMatch(Used::isOwn);
        assertThat(used)
                .filteredOn(u -> u.interval() >= first)
                .hasSizeGreaterThan(ExchangeModel.INPUTS)
                .noneMatch(Used::isOwn);
    }
}
