package dev.verbena.nsim.scenario;

import dev.verbena.nsim.internal.Suggestions;
import dev.verbena.nsim.program.Rank;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The program of a scenario file: one statement a line, blocks closed by {@code end}. */
final class ProgramParser {
    private static final String STATEMENTS =
            "put, get, poll, complete, compute, send, recv, isend, irecv, await, barrier, bcast,"
                    + " reduce, allreduce, alltoall, let, if, for, loop";

    private static final List<String> WORDS = List.of(STATEMENTS.split(", "));

    /** A repetition that is written out for each rank. */
    private static final long ROUNDS_MAX = 1 << 24;

    private final List<ScenarioLine> lines;
    private final Map<String, Integer> slots;
    private int at;

    ProgramParser(List<ScenarioLine> lines, Map<String, Integer> slots) {
        this.lines = lines;
        this.slots = slots;
    }

    Statement parse() {
        Statement all;
        try {
            all = block();
        } catch (StackOverflowError e) {
            throw lines.get(at - 1).wrong(e);
        }
        if (at < lines.size()) {
            throw lines.get(at).wrong("there is nothing open that it could belong to");
        }
        return all;
    }

    /** Up to an {@code end} or {@code else}, or to the end of the file. */
    private Statement block() {
        List<Statement> statements = new ArrayList<>();
        while (at < lines.size() && !lines.get(at).isWord("end") && !lines.get(at).isWord("else")) {
            ScenarioLine line = lines.get(at++);
            Statement statement;
            try {
                statement = statement(line);
            } catch (IllegalArgumentException e) {
                throw line.wrong(e);
            }
            statements.add(frame -> run(statement, line, frame));
        }
        Statement[] all = statements.toArray(Statement[]::new);
        return frame -> {
            for (Statement statement : all) {
                statement.run(frame);
            }
        };
    }

    private static void run(Statement statement, ScenarioLine line, Frame frame) {
        try {
            statement.run(frame);
        } catch (ScenarioLine.Wrong e) {
            throw e;
        } catch (IllegalArgumentException | ArithmeticException e) {
            String who = "rank " + frame.rank.rank() + " of " + frame.processes + ": ";
            throw line.wrong(who + e.getMessage());
        }
    }

    private Statement statement(ScenarioLine line) {
        String rest = line.rest();
        return switch (line.word()) {
            case "let" -> let(rest);
            case "if" -> choice(line, rest);
            case "for" -> count(line, rest);
            case "loop" -> {
                Expression times = parser(rest).whole();
                Statement body = body(line);
                yield f -> f.rank.loop(times.of(f), () -> body.run(f));
            }
            case "complete", "await" -> await(line.word(), rest);
            default -> {
                Expression handle = operation(line.word(), rest);
                yield handle::of;
            }
        };
    }

    private ExpressionParser parser(String text) {
        return new ExpressionParser(text, slots);
    }

    private Statement body(ScenarioLine opened) {
        Statement body = block();
        close(opened);
        return body;
    }

    private void close(ScenarioLine opened) {
        if (!isNext("end")) {
            throw opened.wrong("it is never closed; write 'end' where it ends");
        }
        at++;
    }

    private boolean isNext(String word) {
        return at < lines.size() && lines.get(at).isWord(word);
    }

    private Statement choice(ScenarioLine line, String text) {
        Expression condition = parser(text).whole();
        Statement then = block();
        boolean hasElse = isNext("else");
        at += hasElse ? 1 : 0;
        Statement otherwise = hasElse ? block() : f -> {};
        close(line);
        return f -> (condition.of(f) != 0 ? then : otherwise).run(f);
    }

    /** {@code for i = 0 to 3}. */
    private Statement count(ScenarioLine line, String text) {
        ExpressionParser parser = parser(text);
        int slot = parser.define(parser.word());
        parser.expect("=");
        Expression first = parser.expression();
        parser.expect("to");
        Expression last = parser.whole();
        Statement body = body(line);
        return f -> {
            long from = first.of(f);
            long to = last.of(f);
            if (to < from) {
                return;
            }
            long more = to - from;
            // Negative: more than a long can count.
            if (more < 0 || more >= ROUNDS_MAX) {
                throw new IllegalArgumentException(
                        "from %s to %s is too often; use loop, which has no count"
                                .formatted(from, to));
            }
            for (long i = 0; i <= more; i++) {
                f.variable(slot, 0, from + i);
                body.run(f);
            }
        };
    }

    /** {@code let x = expression}, {@code let x[i] = ...}, {@code let h = put ...}. */
    private Statement let(String text) {
        int equals = text.indexOf('=');
        if (equals < 0) {
            throw new IllegalArgumentException("let needs '=', as in: let right = (rank + 1) % p");
        }
        String value = text.substring(equals + 1).strip();
        String first = value.split("[^a-z]", 2)[0];
        Expression expression =
                switch (first) {
                    case "put", "get", "isend", "irecv" ->
                            operation(first, value.substring(first.length()));
                    default -> parser(value).whole();
                };
        ExpressionParser target = parser(text.substring(0, equals));
        int slot = target.define(target.word());
        Expression index = f -> 0;
        if (target.accept("[")) {
            index = target.expression();
            target.expect("]");
        }
        target.end();
        Expression at = index;
        return f -> f.variable(slot, at.of(f), expression.of(f));
    }

    private Statement await(String word, String text) {
        boolean isPut = word.equals("complete");
        if (text.equals("all")) {
            return isPut ? f -> f.rank.completeAll() : f -> f.rank.awaitAll();
        }
        Expression handle = parser(text).whole();
        return isPut ? f -> f.rank.complete(handle.of(f)) : f -> f.rank.await(handle.of(f));
    }

    /** An operation, whose value is its handle or 0. */
    private Expression operation(String word, String text) {
        ExpressionParser parser = parser(text);
        List<Expression> list = parser.list();
        parser.end();
        int count = list.size();
        Expression a = count > 0 ? list.get(0) : f -> 0;
        Expression b = count > 1 ? list.get(1) : f -> 0;
        Expression c = count > 2 ? list.get(2) : f -> 0;
        String usage =
                switch (word) {
                    case "put" -> "put TO, BYTES, TAG";
                    case "get" -> "get FROM, BYTES";
                    case "poll" -> count == 1 ? "poll TAG" : "poll FROM, TAG";
                    case "compute" -> "compute TIME";
                    case "send", "isend" -> word + " TO, BYTES, TAG";
                    case "recv", "irecv" -> word + " FROM, BYTES, TAG";
                    case "barrier" -> "barrier";
                    case "bcast", "reduce" -> word + " ROOT, BYTES";
                    case "allreduce", "alltoall" -> word + " BYTES";
                    default ->
                            throw new IllegalArgumentException(
                                    "there is no statement '%s'; there are %s%s"
                                            .formatted(
                                                    word,
                                                    STATEMENTS,
                                                    Suggestions.hint(word, WORDS)));
                };
        int wanted = usage.indexOf(' ') < 0 ? 0 : usage.split(",").length;
        if (count != wanted) {
            throw new IllegalArgumentException(
                    word + " has " + count + " numbers behind it; it is written: " + usage);
        }
        return record(word, count, a, b, c);
    }

    private static Expression record(
            String word, int count, Expression a, Expression b, Expression c) {
        return switch (word) {
            case "put" -> f -> f.rank.put(rank(a, f), b.of(f), tag(c, f));
            case "get" -> f -> f.rank.get(rank(a, f), b.of(f));
            case "isend" -> f -> f.rank.isend(rank(a, f), b.of(f), tag(c, f));
            case "irecv" -> f -> f.rank.irecv(rank(a, f), b.of(f), tag(c, f));
            case "poll" ->
                    count == 1
                            ? done(f -> f.rank.poll(tag(a, f)))
                            : done(f -> f.rank.poll(rank(a, f), tag(b, f)));
            case "compute" -> done(f -> f.rank.computePs(a.of(f)));
            case "send" -> done(f -> f.rank.send(rank(a, f), b.of(f), tag(c, f)));
            case "recv" -> done(f -> f.rank.recv(rank(a, f), b.of(f), tag(c, f)));
            case "bcast" -> done(f -> f.rank.bcast(rank(a, f), b.of(f)));
            case "reduce" -> done(f -> f.rank.reduce(rank(a, f), b.of(f)));
            case "allreduce" -> done(f -> f.rank.allreduce(a.of(f)));
            case "alltoall" -> done(f -> f.rank.alltoall(a.of(f)));
            default -> done(f -> f.rank.barrier());
        };
    }

    private static Expression done(Statement statement) {
        return f -> {
            statement.run(f);
            return 0;
        };
    }

    private static int rank(Expression expression, Frame frame) {
        long value = expression.of(frame);
        if (value < Rank.ANY || value >= frame.processes) {
            throw new IllegalArgumentException(
                    "there is no rank " + value + " among " + frame.processes);
        }
        return (int) value;
    }

    private static int tag(Expression expression, Frame frame) {
        long value = expression.of(frame);
        if (value < Rank.ANY || value > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("tag " + value + " is outside 0 to 2^31 - 1");
        }
        return (int) value;
    }
}
