/** The DART paper's measurements: {@code verbena dart experiment}. */
package dev.verbena.cli.experiment;
