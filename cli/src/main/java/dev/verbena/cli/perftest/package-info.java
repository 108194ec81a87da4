/**
 * Measurements and trials over RDMA devices, beside the programs of perftest and rdma-core: {@code
 * lat write} and its like, {@code pingpong}, {@code rping}, {@code devices}.
 */
package dev.verbena.cli.perftest;
