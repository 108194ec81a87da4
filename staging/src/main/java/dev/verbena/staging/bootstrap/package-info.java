/** How a client finds a service: through a file that the service publishes while it lives. */
package dev.verbena.staging.bootstrap;
