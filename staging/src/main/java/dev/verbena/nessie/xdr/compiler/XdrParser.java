package dev.verbena.nessie.xdr.compiler;

import dev.verbena.nessie.xdr.compiler.Declaration.Form;
import dev.verbena.nessie.xdr.compiler.Declaration.TypeReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Reads the language of RFC 4506, section 6, and what rpcgen has beyond it (programs as in RFC
 * 5531, section 12): recursive descent, one token ahead.
 */
final class XdrParser {
    private static final int NESTING_MAX = 32;
    private static final long UNSIGNED_MAX = 0xFFFF_FFFFL;
    private static final String NUMBER = "-?(0[xX]\\p{XDigit}+|0[0-7]*|[1-9]\\d*)";
    private static final Set<String> KEYWORDS =
            Set.of(
                    ("bool case char const default double enum float hyper int long opaque program"
                                    + " quadruple short string struct switch typedef union unsigned"
                                    + " version void")
                            .split(" "));

    private final List<Token> tokens;
    private final Map<String, Long> values = new HashMap<>(Map.of("TRUE", 1L, "FALSE", 0L));
    private final List<Definition> definitions = new ArrayList<>();
    private int next;
    private int nesting;
    private Function<Token, Definition> unnamed;

    private XdrParser(List<Token> tokens) {
        this.tokens = tokens;
    }

    /** The definitions of a source, types within types before what they are in. */
    static List<Definition> parse(String file, String text) {
        XdrParser parser = new XdrParser(XdrLexer.tokens(file, text));
        while (parser.peek().kind() != Token.Kind.END) {
            parser.definition();
        }
        return parser.definitions;
    }

    private void definition() {
        Token first = take();
        switch (first.text()) {
            case "const" -> constant();
            case "enum", "struct", "union" -> {
                Token name = name("a type");
                definitions.add(body(first).apply(name));
            }
            case "typedef" -> typedef();
            case "program" -> definitions.add(program());
            default -> {
                String wanted = "expected const, enum, struct, union, typedef or program, found %s";
                throw wrong(first, wanted, first.shown());
            }
        }
        expect(";");
    }

    private void constant() {
        Token name = name("a constant");
        expect("=");
        long number = value();
        define(name, number);
        definitions.add(new Definition.Constant(name.text(), number, name.at()));
    }

    private void define(Token name, long value) {
        if (values.putIfAbsent(name.text(), value) != null) {
            throw wrong(name, "'%s' has a value already", name.text());
        }
    }

    /** {@code typedef struct {...} name} defines the type itself. */
    private void typedef() {
        Token first = peek();
        Declaration declaration = declaration(true);
        if (declaration.isVoid()) {
            throw wrong(first, "void is no type to name");
        }
        // A type without a name is referred to where it gets one.
        boolean isBody =
                declaration.type() != null && declaration.type().at().equals(declaration.at());
        if (isBody && declaration.form() != Form.SINGLE) {
            throw wrong(first, "a type without a name in an array: name it first");
        }
        if (!isBody) {
            definitions.add(
                    new Definition.Typedef(declaration.name(), declaration, declaration.at()));
        }
    }

    /** What follows a keyword; the name that it is defined by may come later. */
    private Function<Token, Definition> body(Token keyword) {
        if (++nesting > NESTING_MAX) {
            throw wrong(keyword, "more than %d types within each other", NESTING_MAX);
        }
        Function<Token, Definition> body =
                switch (keyword.text()) {
                    case "enum" -> enumBody();
                    case "struct" -> structBody();
                    default -> unionBody(keyword);
                };
        nesting--;
        return body;
    }

    private Function<Token, Definition> enumBody() {
        expect("{");
        List<Definition.Member> members = new ArrayList<>();
        long value = -1;
        do {
            Token member = name("a constant of the enum");
            // Without a number: one more than the last, as in rpcgen.
            value = accept("=") ? value() : value + 1;
            if (value != (int) value) {
                throw wrong(member, "%d does not fit into an enum", value);
            }
            define(member, value);
            members.add(new Definition.Member(member.text(), (int) value, member.at()));
        } while (accept(",") && !peek().text().equals("}"));
        expect("}");
        return name -> new Definition.EnumType(name.text(), members, name.at());
    }

    private Function<Token, Definition> structBody() {
        List<Declaration> fields = block(this::field);
        return name -> new Definition.StructType(name.text(), fields, name.at());
    }

    private Declaration field() {
        Token first = peek();
        Declaration field = declaration(true);
        if (field.isVoid()) {
            throw wrong(first, "a struct has no field of type void");
        }
        expect(";");
        return field;
    }

    /** In braces; at least one. */
    private <T> List<T> block(Supplier<T> part) {
        expect("{");
        List<T> parts = new ArrayList<>();
        do {
            parts.add(part.get());
        } while (!accept("}"));
        return parts;
    }

    private Function<Token, Definition> unionBody(Token keyword) {
        expect("switch");
        expect("(");
        Token first = peek();
        Declaration discriminant = declaration(true);
        if (discriminant.form() != Form.SINGLE) {
            throw wrong(first, "a union is selected by an int, an enum or a bool");
        }
        expect(")");
        expect("{");
        List<Definition.Arm> arms = new ArrayList<>();
        boolean hasDefault = false;
        while (!accept("}")) {
            if (hasDefault) {
                throw wrong(peek(), "expected '}', for default is the last arm");
            }
            hasDefault = accept("default");
            if (hasDefault) {
                expect(":");
            }
            List<Definition.Case> cases = hasDefault ? List.of() : cases();
            arms.add(new Definition.Arm(cases, declaration(true)));
            expect(";");
        }
        if (arms.isEmpty() || arms.get(0).cases().isEmpty()) {
            throw wrong(keyword, "the union has no case");
        }
        return name -> new Definition.UnionType(name.text(), discriminant, arms, name.at());
    }

    private List<Definition.Case> cases() {
        List<Definition.Case> cases = new ArrayList<>();
        do {
            expect("case");
            Token at = peek();
            cases.add(new Definition.Case(number(Integer.MIN_VALUE), at.at()));
            expect(":");
        } while (peek().text().equals("case"));
        return cases;
    }

    /**
     * A declaration.
     *
     * @param isNamed false for an argument or result of a procedure
     */
    private Declaration declaration(boolean isNamed) {
        Token first = peek();
        if (accept("void")) {
            return new Declaration(Form.VOID, null, "", 0, first.at());
        }
        if (accept("opaque")) {
            return sized(null, name("a field or type"), Form.FIXED_OPAQUE, Form.OPAQUE, null);
        }
        if (accept("string") && isNamed) {
            return sized(null, name("a field or type"), null, Form.STRING, null);
        } else if (first.text().equals("string")) {
            boolean isBounded = peek().text().equals("<");
            long bound = isBounded ? bound("<", ">", true) : Declaration.UNBOUNDED;
            return new Declaration(Form.STRING, null, "", bound, first.at());
        }
        TypeReference type = type();
        boolean isOptional = accept("*");
        Function<Token, Definition> body = unnamed;
        unnamed = null;
        if (!isNamed && body != null) {
            throw wrong(first, "a type without a name in a procedure: name it first");
        }
        if (!isNamed) {
            Form form = isOptional ? Form.OPTIONAL : Form.SINGLE;
            return new Declaration(form, type, "", 0, first.at());
        }
        Token name = name("a field or type");
        if (body != null) {
            definitions.add(body.apply(name));
            type = new TypeReference(null, name.text(), name.at());
        }
        return isOptional
                ? new Declaration(Form.OPTIONAL, type, name.text(), 1, name.at())
                : sized(type, name, Form.FIXED_ARRAY, Form.ARRAY, Form.SINGLE);
    }

    /** A declaration whose form is in what follows its name; null: it must not be so. */
    private Declaration sized(
            TypeReference type, Token name, Form fixed, Form variable, Form single) {
        Form form = single;
        long size = 0;
        if (fixed != null && peek().text().equals("[")) {
            form = fixed;
            size = bound("[", "]", false);
        } else if (single == null || peek().text().equals("<")) {
            form = variable;
            size = bound("<", ">", true);
        }
        return new Declaration(form, type, name.text(), size, name.at());
    }

    private long bound(String open, String close, boolean isOptional) {
        expect(open);
        if (isOptional && accept(close)) {
            return Declaration.UNBOUNDED;
        }
        Token at = peek();
        long bound = value();
        if (bound < (isOptional ? 0 : 1) || bound > UNSIGNED_MAX) {
            throw wrong(at, "a length cannot be %d", bound);
        }
        expect(close);
        return bound;
    }

    private TypeReference type() {
        Token first = take();
        if (first.text().equals("quadruple")) {
            throw wrong(first, "Java has no type for a quadruple");
        }
        if (Set.of("enum", "struct", "union").contains(first.text())) {
            if (peek().text().equals("{") || peek().text().equals("switch")) {
                unnamed = body(first);
                return null;
            }
            first = name("a type");
        }
        String words = first.text();
        while (Primitive.named(words + " " + peek().text()) != null) {
            words += " " + take().text();
        }
        Primitive primitive = Primitive.named(words);
        boolean isType = first.kind() == Token.Kind.NAME && !KEYWORDS.contains(first.text());
        if (primitive == null && !isType) {
            throw wrong(first, "expected a type, found %s", first.shown());
        }
        return new TypeReference(primitive, words, first.at());
    }

    private Definition program() {
        Token name = name("a program");
        List<Definition.Version> versions = block(this::version);
        return new Definition.Program(name.text(), number(), versions, name.at());
    }

    private Definition.Version version() {
        expect("version");
        Token name = name("a version");
        List<Definition.Procedure> procedures = block(this::procedure);
        int number = number();
        expect(";");
        return new Definition.Version(name.text(), number, procedures, name.at());
    }

    private Definition.Procedure procedure() {
        Declaration result = declaration(false);
        Token name = name("a procedure");
        expect("(");
        List<Declaration> arguments = new ArrayList<>();
        do {
            Token first = peek();
            Declaration argument = declaration(false);
            if (argument.isVoid() && (!arguments.isEmpty() || peek().text().equals(","))) {
                throw wrong(first, "void is no argument beside others");
            }
            arguments.add(argument);
            if (peek().kind() == Token.Kind.NAME) {
                take(); // names of arguments, which newer files have
            }
        } while (accept(","));
        expect(")");
        arguments.removeIf(Declaration::isVoid);
        int number = number();
        expect(";");
        return new Definition.Procedure(name.text(), number, arguments, result, name.at());
    }

    /** {@code = value}, unsigned. */
    private int number() {
        expect("=");
        return number(0);
    }

    /** A number of 32 bits, from this on. */
    private int number(long min) {
        Token at = peek();
        long number = value();
        if (number < min || number > UNSIGNED_MAX) {
            throw wrong(at, "%d does not fit into 32 bits", number);
        }
        return (int) number;
    }

    /** A number, or the name of one that is defined above. */
    private long value() {
        Token token = take();
        if (token.kind() == Token.Kind.NAME) {
            Long known = values.get(token.text());
            if (known == null) {
                throw wrong(token, "no constant '%s' is defined above", token.text());
            }
            return known;
        }
        if (token.kind() != Token.Kind.NUMBER) {
            throw wrong(token, "expected a number or a constant, found %s", token.shown());
        }
        if (!token.text().matches(NUMBER)) {
            throw wrong(token, "'%s' is no number", token.text());
        }
        try {
            return Long.decode(token.text());
        } catch (NumberFormatException e) {
            throw wrong(token, "%s does not fit into 64 bits", token.text());
        }
    }

    private Token peek() {
        return tokens.get(next);
    }

    private Token take() {
        Token token = tokens.get(next);
        next = Math.min(next + 1, tokens.size() - 1);
        return token;
    }

    private boolean accept(String text) {
        boolean isNext = peek().text().equals(text);
        next += isNext ? 1 : 0;
        return isNext;
    }

    private void expect(String text) {
        if (!accept(text)) {
            throw wrong(peek(), "expected '%s', found %s", text, peek().shown());
        }
    }

    private Token name(String what) {
        Token token = take();
        if (token.kind() != Token.Kind.NAME || KEYWORDS.contains(token.text())) {
            throw wrong(token, "expected the name of %s, found %s", what, token.shown());
        }
        return token;
    }

    private static XdrSourceException wrong(Token token, String message, Object... values) {
        return token.at().wrong(message, values);
    }
}
