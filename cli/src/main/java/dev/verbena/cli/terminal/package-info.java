/**
 * What all commands share: text for a terminal, folders and files that they write, processes that
 * they start, and how they end.
 */
package dev.verbena.cli.terminal;
