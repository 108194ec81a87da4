/**
 * The software NIC's native library: loading it, and asking whether it can be loaded.
 *
 * <p>The C code lives in {@code src/main/c/softnic}; {@code presets} holds the mapping rules from
 * its header; the bindings and the layout constants are generated at build time into the package
 * {@code bindings}, which only the toolkit's own modules see. {@link
 * dev.verbena.softnic.NativeLibrary} is the one class that loads native code.
 */
package dev.verbena.softnic;
