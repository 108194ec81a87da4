/** Results as a page of HTML with charts, as JSON and as a table; pictures of arrays. */
package dev.verbena.cli.report;
