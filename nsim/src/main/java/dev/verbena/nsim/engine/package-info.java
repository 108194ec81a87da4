/**
 * The event engine: virtual time in whole picoseconds, events in one documented total order,
 * nothing allocated per event.
 *
 * <p>An event has a time, a target and a source (entities, numbered from 0), a kind and one
 * argument of 64 bits. Events are processed by time, then target, then source, then in the order in
 * which their source made them; so the run does not depend on the order of insertion. No wall
 * clock, no identity of an object and no hash order takes part.
 *
 * <p>What has to see <em>all</em> events of an instant before it decides (an arbiter between
 * requests that come at the same time) asks for the end of the instant: {@link
 * dev.verbena.nsim.engine.InstantHandler}. It then decides once, whatever the order of the events
 * was. Such decisions are the reason why packet level and flit level agree to the picosecond.
 *
 * <p>An engine belongs to one thread at a time; {@link dev.verbena.nsim.engine.Partitions} run
 * several together, with the same result. Source: nsim-ace.md, section 4.
 */
package dev.verbena.nsim.engine;
