package dev.verbena.nessie.xdr.compiler;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cuts a source into tokens. Left out are comments of both kinds, and lines that begin with {@code
 * %}, which rpcgen passes through to C. Lines that a C preprocessor leaves ({@code # 12 "file.x"})
 * set file and line; other directives are refused.
 */
final class XdrLexer {
    private static final String SIGNS = "{}()[]<>;:,=*";
    private static final Pattern MARKER =
            Pattern.compile("#\\s*(?:line\\s+)?(\\d{1,9})(?:\\s+\"([^\"]*)\".*)?\\s*");

    private final String text;
    private final List<Token> tokens = new ArrayList<>();
    private String file;
    private int line = 1;
    private int lineBegin;
    private int at;

    private XdrLexer(String file, String text) {
        this.file = file;
        this.text = text;
    }

    /** All tokens; the last is of kind END. */
    static List<Token> tokens(String file, String text) {
        XdrLexer lexer = new XdrLexer(file, text);
        while (lexer.at < text.length()) {
            lexer.next();
        }
        lexer.add(Token.Kind.END, "", lexer.here());
        return lexer.tokens;
    }

    private void next() {
        char c = text.charAt(at);
        if (c == '\n') {
            newLine();
        } else if (Character.isWhitespace(c)) {
            at++;
        } else if (at == lineBegin && c == '%') {
            at = lineEnd();
        } else if (at == lineBegin && c == '#') {
            directive();
        } else if (text.startsWith("/*", at)) {
            comment();
        } else if (text.startsWith("//", at)) {
            at = lineEnd();
        } else if (isLetter(c)) {
            word(Token.Kind.NAME);
        } else if (isDigit(c) || c == '-') {
            word(Token.Kind.NUMBER);
        } else if (SIGNS.indexOf(c) >= 0) {
            add(Token.Kind.SIGN, String.valueOf(c), here());
            at++;
        } else {
            throw new XdrSourceException(here(), "'%s' has no meaning here", shown(c));
        }
    }

    private static String shown(char c) {
        return c > ' ' && c < 0x7F ? String.valueOf(c) : "\\u%04x".formatted((int) c);
    }

    private Position here() {
        return new Position(file, line, at - lineBegin + 1);
    }

    private void newLine() {
        at++;
        line++;
        lineBegin = at;
    }

    private int lineEnd() {
        int end = text.indexOf('\n', at);
        return end < 0 ? text.length() : end;
    }

    private void directive() {
        int end = lineEnd();
        Matcher marker = MARKER.matcher(text.substring(at, end));
        if (!marker.matches()) {
            throw new XdrSourceException(
                    here(), "directives of the C preprocessor: run the file through cpp first");
        }
        at = end;
        if (at < text.length()) {
            newLine();
        }
        line = Integer.parseInt(marker.group(1));
        file = marker.group(2) == null ? file : marker.group(2);
    }

    private void comment() {
        Position begin = here();
        int end = text.indexOf("*/", at + 2);
        if (end < 0) {
            throw new XdrSourceException(begin, "the comment has no end");
        }
        while (at < end + 2) {
            if (text.charAt(at) == '\n') {
                newLine();
            } else {
                at++;
            }
        }
    }

    private void word(Token.Kind kind) {
        int end = at + 1;
        while (end < text.length() && (isLetter(text.charAt(end)) || isDigit(text.charAt(end)))) {
            end++;
        }
        add(kind, text.substring(at, end), here());
        at = end;
    }

    private void add(Token.Kind kind, String word, Position position) {
        tokens.add(new Token(kind, word, position));
    }

    private static boolean isLetter(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
