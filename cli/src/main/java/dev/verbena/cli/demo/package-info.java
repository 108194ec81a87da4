/** A simulation whose output is staged while it runs: {@code verbena demo}. */
package dev.verbena.cli.demo;
