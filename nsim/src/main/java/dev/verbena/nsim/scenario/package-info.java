/**
 * The programs of the NSIM-ACE paper, each with the machine that the paper ran it on, and scenario
 * files. Source: nsim-ace.md, sections 5.2, 5.4 and 6.
 */
package dev.verbena.nsim.scenario;
