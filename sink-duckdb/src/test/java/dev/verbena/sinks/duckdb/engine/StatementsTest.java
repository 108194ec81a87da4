package dev.verbena.sinks.duckdb.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.staging.sink.SinkRejectedException;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
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

    /** It would commit each statement by itself from then on. */
    @Test
    void shouldGoOnInTransactionsWhereTheOneOfAQueryIsOverAlready() {
        List<Object> modes = new ArrayList<>();
        Statement statement =
                proxy(
                        Statement.class,
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("execute")) {
                                throw new SQLException("no transaction is active");
                            }
                            return null;
                        });
        Connection connection =
                proxy(
                        Connection.class,
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("setAutoCommit")) {
                                modes.add(arguments[0]);
                                return null;
                            }
                            return statement;
                        });
        assertThatThrownBy(new Statements(connection)::endReadOnly)
                .isExactlyInstanceOf(IOException.class);
        assertThat(modes).containsExactly(false);
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        Object made = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
        return type.cast(made);
    }
}
