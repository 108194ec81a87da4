/** The Data-Flow Scheduler: measured intervals become proposals, and proposals pace sends. */
package dev.verbena.flesnet.dfs;
