/** Mapping rules for the generated bindings of libfabric's flat calls. */
package dev.verbena.ofi.presets;
