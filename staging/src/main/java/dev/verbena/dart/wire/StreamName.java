package dev.verbena.dart.wire;

import java.util.UUID;

/** Identity of a stream at the receiver: the run of the service, and which of its servers. */
public record StreamName(UUID run, int serverId) {}
