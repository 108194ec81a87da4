/** What the verbs objects and the transport over them share, and nobody else uses. */
package dev.verbena.verbs.internal;
