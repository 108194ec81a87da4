/**
 * Control records over a transport: who is connected, whether it lives, memory to send from. One
 * side connects and connects again; the other side has a slot for each peer.
 */
package dev.verbena.staging.control;
