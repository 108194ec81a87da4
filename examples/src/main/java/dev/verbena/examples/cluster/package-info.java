/** A staging job that a launcher starts on one host or several. */
package dev.verbena.examples.cluster;
