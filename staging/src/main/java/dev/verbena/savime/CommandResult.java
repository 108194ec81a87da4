package dev.verbena.savime;

/**
 * What a sink has answered to a command.
 *
 * @param text unchanged
 */
public record CommandResult(String text) {}
