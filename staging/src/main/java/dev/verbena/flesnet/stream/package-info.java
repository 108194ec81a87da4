/** A live stream of messages that ZeroMQ's subscribers take, without ZeroMQ. */
package dev.verbena.flesnet.stream;
