package dev.verbena.sinks.duckdb.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.staging.sink.SinkRejectedException;
import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What DuckDB 1.5.6 says, and whether trying it again may help. */
class StatementsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "FATAL Error: Failed to create checkpoint because of error: Could not write file"
                        + " \"/data/base\": No space left on device",
                "Invalid Input Error: Attempting to execute an unsuccessful or closed pending query"
                        + " result\nError: FATAL Error: Failed: database has been invalidated"
                        + " because of a previous fatal error.",
                "Invalid Error: the database has been invalidated",
                "TransactionContext Error: Failed to commit: Could not write file",
                "IO Error: Could not write file",
                "Out of Memory Error: could not allocate block",
            })
    void shouldTryAgainWhenTheDatabaseOrItsDeviceFails(String text) {
        assertThat(Statements.failure(new SQLException(text)))
                .isNotInstanceOf(SinkRejectedException.class)
                .hasMessage(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Catalog Error: Table with name x does not exist!",
                "Invalid Input Error: Cannot change configuration option",
                "Constraint Error: NOT NULL constraint failed",
            })
    void shouldRefuseWhatTheDatabaseWouldRefuseAgain(String text) {
        assertThat(Statements.failure(new SQLException(text)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessage(text);
    }
}
