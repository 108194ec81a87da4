/** The staging paper's measurements on this machine: {@code verbena stage experiment}. */
package dev.verbena.cli.stage.experiment;
