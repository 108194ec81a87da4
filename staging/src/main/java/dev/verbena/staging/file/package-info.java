/** Files that are replaced as a whole, and text of checked lines for what they hold. */
package dev.verbena.staging.file;
