/** {@code flesnet}: nodes of a run of FLESnet, one process each. */
package dev.verbena.cli.flesnet;
