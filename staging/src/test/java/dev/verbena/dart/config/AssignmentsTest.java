package dev.verbena.dart.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AssignmentsTest {
    @Test
    @Tag("dart-D7")
    @Tag("dart-D8")
    void shouldAssignInTurnAndKeepIds() {
        for (int servers = 1; servers <= 5; servers++) {
            for (int clients = 1; clients <= 130; clients++) {
                Assignments assignments = new Assignments();
                for (int i = 0; i < servers; i++) {
                    assignments.addServer(i);
                }
                Map<Integer, Integer> counts = new HashMap<>();
                Set<Integer> ids = new HashSet<>();
                List<Assignments.Assignment> all = new ArrayList<>();
                for (int rank = 0; rank < clients; rank++) {
                    Assignments.Assignment made = assignments.assign(0, rank, false);
                    counts.merge(made.serverId(), 1, Integer::sum);
                    ids.add(made.clientId());
                    all.add(made);
                }
                int most = counts.values().stream().max(Integer::compare).orElseThrow();
                int least =
                        counts.size() < servers
                                ? 0
                                : counts.values().stream().min(Integer::compare).orElseThrow();
                assertThat(most - least).isLessThanOrEqualTo(1);
                assertThat(ids).hasSize(clients);
                for (int rank = 0; rank < clients; rank++) {
                    assertThat(assignments.assign(0, rank, false)).isEqualTo(all.get(rank));
                }
                assertThat(assignments.assign(1, 0, false).clientId())
                        .isEqualTo(Assignments.minimumId(1));
            }
        }
    }

    @Test
    @Tag("dart-D8")
    void shouldKeepIdWhenServerIsGone() {
        Assignments assignments = new Assignments();
        assignments.addServer(0);
        assignments.addServer(1);
        Assignments.Assignment first = assignments.assign(0, 0, false);
        assignments.removeServer(first.serverId());
        Assignments.Assignment again = assignments.assign(0, 0, false);
        assertThat(again.clientId()).isEqualTo(first.clientId());
        assertThat(again.serverId()).isNotEqualTo(first.serverId());
    }
}
