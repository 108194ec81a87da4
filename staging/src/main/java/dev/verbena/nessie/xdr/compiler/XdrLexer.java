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
    private static final Pattern TOKEN =
            Pattern.compile(
                    "(?m)^#\\s*(?:line\\s+)?(?<line>\\d{1,9})(?: +\"(?<file>[^\"\\n]*)\"[^\\n]*)?\\n"
                            + "|^(?<directive>#)"
                            + "|^%[^\\n]*|\\s|//[^\\n]*|/\\*(?s:.*?)\\*/"
                            + "|(?<comment>/\\*)"
                            + "|(?<name>[A-Za-z_]\\w*)"
                            + "|(?<number>-?\\d\\w*|-)"
                            + "|(?<sign>[{}()\\[\\]<>;:,=*])");

    private final List<Token> tokens = new ArrayList<>();
    private final String text;
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
        Matcher matcher = TOKEN.matcher(text).useAnchoringBounds(false);
        while (lexer.at < text.length()) {
            lexer.next(matcher.region(lexer.at, text.length()));
        }
        lexer.add(Token.Kind.END, "");
        return lexer.tokens;
    }

    private void next(Matcher matcher) {
        if (!matcher.lookingAt()) {
            char c = text.charAt(at);
            String shown = c > ' ' && c < 0x7F ? "" + c : "\\u%04x".formatted((int) c);
            throw here().wrong("'%s' has no meaning here", shown);
        } else if (matcher.group("directive") != null) {
            throw here().wrong("directives of the C preprocessor: run the file through cpp first");
        } else if (matcher.group("comment") != null) {
            throw here().wrong("the comment has no end");
        }
        add(Token.Kind.NAME, matcher.group("name"));
        add(Token.Kind.NUMBER, matcher.group("number"));
        add(Token.Kind.SIGN, matcher.group("sign"));
        for (; at < matcher.end(); at++) {
            if (text.charAt(at) == '\n') {
                line++;
                lineBegin = at + 1;
            }
        }
        if (matcher.group("line") != null) {
            line = Integer.parseInt(matcher.group("line"));
            file = matcher.group("file") == null ? file : matcher.group("file");
        }
    }

    private Position here() {
        return new Position(file, line, at - lineBegin + 1);
    }

    private void add(Token.Kind kind, String word) {
        if (word != null) {
            tokens.add(new Token(kind, word, here()));
        }
    }
}
