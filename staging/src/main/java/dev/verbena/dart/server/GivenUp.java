package dev.verbena.dart.server;

/**
 * A message of which no more will be pulled. It is named by the registration of its process, so
 * that the same message, sent again by a process that registered anew, is another one.
 *
 * @param nextOrdinal of its registration: the parts that were asked for have those before
 */
record GivenUp(int slot, int generation, long sequence, long nextOrdinal) {}
