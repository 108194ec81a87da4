package dev.verbena.nessie.xdr.compiler;

import dev.verbena.nessie.xdr.compiler.Declaration.Form;
import dev.verbena.nessie.xdr.compiler.Declaration.TypeReference;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the language of RFC 4506, section 6, and what rpcgen has beyond it (programs as in RFC
 * 5531, section 12): recursive descent, one token ahead.
 */
final class XdrParser {
    private static final int NESTING_MAX = 32;
    private static final BigInteger UNSIGNED_MAX = BigInteger.valueOf(0xFFFF_FFFFL);
    private static final Set<String> KEYWORDS =
            Set.of(
                    "bool",
                    "case",
                    "char",
                    "const",
                    "default",
                    "double",
                    "enum",
                    "float",
                    "hyper",
                    "int",
                    "long",
                    "opaque",
                    "program",
                    "quadruple",
                    "short",
                    "string",
                    "struct",
                    "switch",
                    "typedef",
                    "union",
                    "unsigned",
                    "version",
                    "void");

    private final List<Token> tokens;
    private final Map<String, Long> values = new HashMap<>(Map.of("TRUE", 1L, "FALSE", 0L));
    private final List<Definition> definitions = new ArrayList<>();
    private int next;
    private int nesting;

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
            case "enum" -> add(enumBody(name("an enum")));
            case "struct" -> add(structBody(name("a struct")));
            case "union" -> add(unionBody(name("a union")));
            case "typedef" -> typedef();
            case "program" -> add(program());
            default ->
                    throw wrong(
                            first,
                            "expected const, enum, struct, union, typedef or program, found %s",
                            first.shown());
        }
        expect(";");
    }

    private void add(Definition definition) {
        definitions.add(definition);
    }

    private void constant() {
        Token name = name("a constant");
        expect("=");
        long number = value();
        define(name, number);
        add(new Definition.Constant(name.text(), number, name.at()));
    }

    private void define(Token name, long value) {
        if (values.putIfAbsent(name.text(), value) != null) {
            throw wrong(name, "'%s' has a value already", name.text());
        }
    }

    /** {@code typedef enum {...} name} defines the type itself; so do struct and union. */
    private void typedef() {
        Token first = peek();
        boolean isBody = Set.of("enum", "struct").contains(first.text()) && isAhead(1, "{");
        if (isBody || first.text().equals("union") && isAhead(1, "switch")) {
            int begin = next + 1;
            next = bodyEnd(begin);
            Token name = name("a type");
            int end = next;
            next = begin;
            add(body(first, name));
            next = end;
            return;
        }
        Declaration declaration = declaration("", true);
        if (declaration.isVoid()) {
            throw wrong(first, "void is no type to name");
        }
        add(new Definition.Typedef(declaration.name(), declaration, declaration.at()));
    }

    /** Index behind the braces that begin behind a token. */
    private int bodyEnd(int begin) {
        int depth = 0;
        for (int i = begin; i < tokens.size(); i++) {
            String text = tokens.get(i).text();
            depth += text.equals("{") ? 1 : text.equals("}") ? -1 : 0;
            if (depth == 0 && text.equals("}")) {
                return i + 1;
            }
        }
        throw wrong(tokens.get(tokens.size() - 1), "expected '}', found the end of the file");
    }

    private Definition body(Token keyword, Token name) {
        return switch (keyword.text()) {
            case "enum" -> enumBody(name);
            case "struct" -> structBody(name);
            default -> unionBody(name);
        };
    }

    private Definition enumBody(Token name) {
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
        return new Definition.EnumType(name.text(), List.copyOf(members), name.at());
    }

    private Definition structBody(Token name) {
        expect("{");
        List<Declaration> fields = new ArrayList<>();
        do {
            Token first = peek();
            Declaration field = declaration(name.text(), true);
            if (field.isVoid()) {
                throw wrong(first, "a struct has no field of type void");
            }
            fields.add(field);
            expect(";");
        } while (!accept("}"));
        return new Definition.StructType(name.text(), List.copyOf(fields), name.at());
    }

    private Definition unionBody(Token name) {
        expect("switch");
        expect("(");
        Token first = peek();
        Declaration discriminant = declaration(name.text(), true);
        if (discriminant.form() != Form.SINGLE) {
            throw wrong(first, "a union is selected by an int, an enum or a bool");
        }
        expect(")");
        expect("{");
        List<Definition.Arm> arms = new ArrayList<>();
        Declaration otherwise = null;
        while (!accept("}")) {
            Token keyword = peek();
            if (otherwise != null) {
                throw wrong(keyword, "expected '}', for default is the last arm");
            }
            if (accept("default")) {
                expect(":");
                otherwise = declaration(name.text(), true);
            } else {
                List<Definition.Case> cases = cases();
                arms.add(new Definition.Arm(cases, declaration(name.text(), true)));
            }
            expect(";");
        }
        if (arms.isEmpty()) {
            throw wrong(name, "the union has no case");
        }
        return new Definition.UnionType(
                name.text(), discriminant, List.copyOf(arms), otherwise, name.at());
    }

    private List<Definition.Case> cases() {
        List<Definition.Case> cases = new ArrayList<>();
        do {
            expect("case");
            Token at = peek();
            long value = value();
            if (value != (int) value && value >>> Integer.SIZE != 0) {
                throw wrong(at, "%d does not fit into 32 bits", value);
            }
            cases.add(new Definition.Case((int) value, at.at()));
            expect(":");
        } while (peek().text().equals("case"));
        return List.copyOf(cases);
    }

    /**
     * A declaration.
     *
     * @param outer type that it is in, for the name of a type without a name
     * @param isNamed false for an argument or result of a procedure
     */
    private Declaration declaration(String outer, boolean isNamed) {
        Token first = peek();
        if (accept("void")) {
            return new Declaration(Form.VOID, null, "", 0, first.at());
        }
        if (accept("opaque")) {
            return bytes(Form.FIXED_OPAQUE, Form.OPAQUE);
        }
        if (accept("string")) {
            if (!isNamed) {
                boolean isBounded = peek().text().equals("<");
                long bound = isBounded ? bound("<", ">", true) : Declaration.UNBOUNDED;
                return new Declaration(Form.STRING, null, "", bound, first.at());
            }
            return bytes(null, Form.STRING);
        }
        TypeReference type = type(outer);
        boolean isOptional = accept("*");
        if (!isNamed) {
            Form form = isOptional ? Form.OPTIONAL : Form.SINGLE;
            return new Declaration(form, type, "", 0, first.at());
        }
        Token name = name("a field or type");
        if (isOptional) {
            return new Declaration(Form.OPTIONAL, type, name.text(), 1, name.at());
        }
        if (peek().text().equals("[")) {
            long size = bound("[", "]", false);
            return new Declaration(Form.FIXED_ARRAY, type, name.text(), size, name.at());
        }
        if (peek().text().equals("<")) {
            long size = bound("<", ">", true);
            return new Declaration(Form.ARRAY, type, name.text(), size, name.at());
        }
        return new Declaration(Form.SINGLE, type, name.text(), 0, name.at());
    }

    private Declaration bytes(Form fixed, Form variable) {
        Token name = name("a field or type");
        if (fixed != null && peek().text().equals("[")) {
            return new Declaration(fixed, null, name.text(), bound("[", "]", false), name.at());
        }
        return new Declaration(variable, null, name.text(), bound("<", ">", true), name.at());
    }

    private long bound(String open, String close, boolean isOptional) {
        expect(open);
        if (isOptional && accept(close)) {
            return Declaration.UNBOUNDED;
        }
        Token at = peek();
        long bound = value();
        boolean isFixed = !isOptional;
        if (bound < (isFixed ? 1 : 0) || bound > UNSIGNED_MAX.longValue()) {
            throw wrong(at, "a length cannot be %d", bound);
        }
        expect(close);
        return bound;
    }

    private TypeReference type(String outer) {
        Token first = take();
        Primitive primitive =
                switch (first.text()) {
                    case "unsigned" -> unsigned();
                    case "int" -> Primitive.INT;
                    case "long" -> {
                        accept("int");
                        yield Primitive.INT;
                    }
                    case "hyper" -> Primitive.HYPER;
                    case "char" -> Primitive.CHAR;
                    case "short" -> Primitive.SHORT;
                    case "float" -> Primitive.FLOAT;
                    case "double" -> Primitive.DOUBLE;
                    case "bool" -> Primitive.BOOL;
                    case "quadruple" -> throw wrong(first, "Java has no type for a quadruple");
                    default -> null;
                };
        if (primitive != null) {
            return new TypeReference(primitive, null, first.at());
        }
        if (Set.of("enum", "struct", "union").contains(first.text())) {
            return named(first, outer);
        }
        if (first.kind() != Token.Kind.NAME || KEYWORDS.contains(first.text())) {
            throw wrong(first, "expected a type, found %s", first.shown());
        }
        return new TypeReference(Primitive.named(first.text()), first.text(), first.at());
    }

    private Primitive unsigned() {
        switch (peek().text()) {
            case "hyper":
                take();
                return Primitive.UNSIGNED_HYPER;
            case "char":
                take();
                return Primitive.UNSIGNED_CHAR;
            case "short":
                take();
                return Primitive.UNSIGNED_SHORT;
            case "int":
                take();
                return Primitive.UNSIGNED_INT;
            case "long":
                take();
                accept("int");
                return Primitive.UNSIGNED_INT;
            default:
                return Primitive.UNSIGNED_INT;
        }
    }

    /** {@code struct name} uses a type; {@code struct {...}} defines one, named after its field. */
    private TypeReference named(Token keyword, String outer) {
        if (!peek().text().equals("{") && !peek().text().equals("switch")) {
            Token name = name("a type");
            return new TypeReference(null, name.text(), name.at());
        }
        if (++nesting > NESTING_MAX) {
            throw wrong(keyword, "more than %d types within each other", NESTING_MAX);
        }
        Token field = tokens.get(bodyEnd(next));
        boolean isStar = field.text().equals("*");
        Token last = isStar ? tokens.get(Math.min(bodyEnd(next) + 1, tokens.size() - 1)) : field;
        String name = outer.isEmpty() ? last.text() : outer + "_" + last.text();
        add(body(keyword, new Token(Token.Kind.NAME, name, keyword.at())));
        nesting--;
        return new TypeReference(null, name, keyword.at());
    }

    private Definition program() {
        Token name = name("a program");
        expect("{");
        List<Definition.Version> versions = new ArrayList<>();
        do {
            versions.add(version());
        } while (!accept("}"));
        return new Definition.Program(name.text(), number(), List.copyOf(versions), name.at());
    }

    private Definition.Version version() {
        expect("version");
        Token name = name("a version");
        expect("{");
        List<Definition.Procedure> procedures = new ArrayList<>();
        do {
            procedures.add(procedure());
        } while (!accept("}"));
        Definition.Version version =
                new Definition.Version(name.text(), number(), List.copyOf(procedures), name.at());
        expect(";");
        return version;
    }

    private Definition.Procedure procedure() {
        Declaration result = declaration("", false);
        Token name = name("a procedure");
        expect("(");
        List<Declaration> arguments = new ArrayList<>();
        do {
            Token first = peek();
            Declaration argument = declaration("", false);
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
        Definition.Procedure procedure =
                new Definition.Procedure(
                        name.text(), number(), List.copyOf(arguments), result, name.at());
        expect(";");
        return procedure;
    }

    /** {@code = value}, unsigned. */
    private int number() {
        expect("=");
        Token at = peek();
        long number = value();
        if (number < 0 || number > UNSIGNED_MAX.longValue()) {
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
        BigInteger number = decode(token);
        if (number.bitLength() >= Long.SIZE) {
            throw wrong(token, "%s does not fit into 64 bits", token.text());
        }
        return number.longValue();
    }

    private static BigInteger decode(Token token) {
        String text = token.text();
        boolean isNegative = text.startsWith("-");
        String digits = isNegative ? text.substring(1) : text;
        boolean isHex = digits.startsWith("0x") || digits.startsWith("0X");
        int radix = isHex ? 16 : digits.length() > 1 && digits.startsWith("0") ? 8 : 10;
        String plain = isHex ? digits.substring(2) : digits;
        try {
            if (plain.startsWith("-")) {
                throw new NumberFormatException();
            }
            BigInteger number = new BigInteger(plain, radix);
            return isNegative ? number.negate() : number;
        } catch (NumberFormatException e) {
            throw wrong(token, "'%s' is no number", text);
        }
    }

    private Token peek() {
        return tokens.get(next);
    }

    private boolean isAhead(int distance, String text) {
        int index = Math.min(next + distance, tokens.size() - 1);
        return tokens.get(index).text().equals(text);
    }

    private Token take() {
        Token token = tokens.get(next);
        next = Math.min(next + 1, tokens.size() - 1);
        return token;
    }

    private boolean accept(String text) {
        boolean isNext = peek().text().equals(text);
        if (isNext) {
            take();
        }
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
        return new XdrSourceException(token.at(), message, values);
    }
}
