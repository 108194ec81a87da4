package dev.verbena.nessie.xdr;

/** A source with everything that the language has, for several tests. */
final class XdrSamples {
    static final String SOURCE =
            """
            # 1 "samples.x"
            %#include "passed to C"
            const SMALL = 3;
            const BIG = 0x100000000;
            const OCTAL = 010;
            enum color { RED, GREEN = 4, BLUE };
            struct all {
                int i; unsigned int u; unsigned un; hyper h; unsigned hyper uh; float f; double d;
                bool b; char c; unsigned char uc; short s; unsigned short us; long l; int32_t x;
                color col; opaque fixed[5]; opaque variable<9>; string text<SMALL>; string any<>;
                int three[SMALL]; hyper four<4>; float five[2]; double six<>; bool seven<2>;
                color eight<>; short nine<2>; struct color_pair *pair; int *maybe; name ten<2>;
            };
            struct color_pair { color a; color b; };
            typedef string name<8>;
            union result switch (int status) {
            case 0: case 1: color_pair pair;
            case -1: void;
            case 2: opaque bytes<4>;
            default: string message<>;
            };
            union flag switch (bool is_set) { case TRUE: hyper value; case FALSE: void; };
            union tint switch (color c) { case RED: int depth; case BLUE: flag nested; };
            struct entry { string key<16>; entry *next; };
            typedef entry *entries;
            struct tree { int value; tree children<>; };
            struct holder { struct { int x; enum { LEFT, RIGHT } side; } inner; entries list; };
            struct hash_code { int wait; int to_string; int class; int get_class; };
            typedef int number;
            typedef number numbers<4>;
            struct object { number n; numbers several; };
            program STORE {
                version FIRST {
                    void NULL_CALL(void) = 0;
                    numbers ADD(int, number) = 1;
                } = 1;
                version SECOND {
                    string NAME(object) = 3;
                } = 2;
            } = 0x20000099;
            """;

    private XdrSamples() {}
}
