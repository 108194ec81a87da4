package dev.verbena.verbs;

/**
 * What the drivers of two ends of a connection may agree upon beyond the standard (enhanced
 * connection establishment, {@code struct ibv_ece}). Its meaning is the vendor's.
 *
 * @param vendor who gives the options their meaning; 0: none
 * @param options bits
 */
public record ExtendedCapabilities(int vendor, int options) {}
