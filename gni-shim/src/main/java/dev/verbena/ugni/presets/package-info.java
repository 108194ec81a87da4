/** Mapping rules from C headers to bindings, read by JavaCPP at build time and at load time. */
package dev.verbena.ugni.presets;
