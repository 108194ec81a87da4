package dev.verbena.sinks.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What states of SQL mean; without a server. */
class PostgresSinkTest {
    @ParameterizedTest
    @CsvSource({
        "08006, true, true", // the connection is lost
        "40P01, true, true", // deadlock
        "53100, true, true", // the disk is full
        "57P01, true, true", // the server stops
        "25P03, true, true", // idle in a transaction
        "25P04, true, true", // a transaction took too long
        "57014, true, false", // cancelled
        "25006, true, false", // reads only
        "25P02, false, false", // the transaction has failed before
        "42P01, false, false", // there is no such table
    })
    void shouldTryAgainWhatMayPass(String state, boolean isForDatasets, boolean isForOthers) {
        SQLException failure = new SQLException("x", state);
        assertThat(PostgresSink.isPassing(failure, true)).isEqualTo(isForDatasets);
        assertThat(PostgresSink.isPassing(failure, false)).isEqualTo(isForOthers);
    }
}
