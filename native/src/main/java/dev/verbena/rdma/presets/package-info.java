/** Mapping rules from the headers of rdma-core to bindings, read by JavaCPP. */
package dev.verbena.rdma.presets;
