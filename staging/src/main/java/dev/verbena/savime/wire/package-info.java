/** Bytes of the staging protocol STG/1 and of the paper's prototype; knows neither side. */
package dev.verbena.savime.wire;
