/** Who may take how much memory or disk. */
package dev.verbena.staging.admission;
