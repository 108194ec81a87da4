/** In which order the senders of an all-to-all exchange send, and when. */
package dev.verbena.staging.exchange;
