/** Results as a page of HTML with charts, as JSON and as a table. */
package dev.verbena.cli.report;
