/** A simulation that SQL analyses and steers while it runs: {@code verbena stage demo}. */
package dev.verbena.cli.stage.demo;
