/* Rows of the layout table: what Java reads and writes in shared segments. */
#ifndef VERBENA_LAYOUT_FIELDS_H
#define VERBENA_LAYOUT_FIELDS_H

#include "shm.h"
#include "shm_layout.h"

/* S(name, struct) its size; F(name, struct, field) a field's offset; C(name, value) a constant */
#define VERBENA_LAYOUT(S, F, C)                                                                    \
    S(KEY_SIZE, struct snic_key)                                                                   \
    F(KEY_SLOT, struct snic_key, slot)                                                             \
    F(KEY_GENERATION, struct snic_key, generation)                                                 \
    F(KEY_SECRET, struct snic_key, secret)                                                         \
    S(LOCATION_SIZE, struct snic_location)                                                         \
    F(LOCATION_LENGTH, struct snic_location, length)                                               \
    F(HEADER_DOORBELL, struct snic_header, doorbell)                                               \
    F(HEADER_WAITERS, struct snic_header, waiters)                                                 \
    F(INITIATOR_PINS, struct snic_initiator, pins)                                                 \
    S(REGISTRATION_SIZE, struct snic_registration)                                                 \
    F(REGISTRATION_GENERATION, struct snic_registration, generation)                               \
    F(REGISTRATION_RIGHTS, struct snic_registration, rights)                                       \
    F(REGISTRATION_SECRET, struct snic_registration, secret)                                       \
    F(REGISTRATION_LOCATION, struct snic_registration, location)                                   \
    F(REGISTRATION_ADDRESS, struct snic_registration, address)                                     \
    F(SNIC_VIEW_HEADER, struct snic_view, header)                                                  \
    F(SNIC_VIEW_INITIATOR, struct snic_view, initiator)                                            \
    F(SNIC_VIEW_REGISTRATIONS, struct snic_view, registrations)                                    \
    F(SNIC_VIEW_REGISTRATIONS_MAX, struct snic_view, registrations_max)                            \
    F(SNIC_VIEW_OWNER_FENCES, struct snic_view, owner_fences)                                      \
    F(SNIC_VIEW_DAMAGE, struct snic_view, damage)                                                  \
    S(OPTIONS_SIZE, struct shm_options)                                                            \
    F(OPTIONS_DIRECTORY, struct shm_options, directory)                                            \
    F(OPTIONS_JOB, struct shm_options, job)                                                        \
    F(OPTIONS_NAME, struct shm_options, name)                                                      \
    F(OPTIONS_MESSAGE_MAX, struct shm_options, message_max)                                        \
    F(OPTIONS_CREDITS, struct shm_options, credits)                                                \
    F(OPTIONS_CONNECTIONS_MAX, struct shm_options, connections_max)                                \
    F(OPTIONS_RECEIVE_SLOTS, struct shm_options, receive_slots)                                    \
    F(OPTIONS_FOREIGN, struct shm_options, foreign)                                                \
    F(OPTIONS_PEER_TIMEOUT_NS, struct shm_options, peer_timeout_ns)                                \
    S(EVENT_SIZE, struct shm_event)                                                                \
    F(EVENT_TYPE, struct shm_event, type)                                                          \
    F(EVENT_STATUS, struct shm_event, status)                                                      \
    F(EVENT_CONNECTION, struct shm_event, connection)                                              \
    F(EVENT_DATA, struct shm_event, data)                                                          \
    F(EVENT_LENGTH, struct shm_event, length)                                                      \
    F(EVENT_TOKEN, struct shm_event, token)                                                        \
    F(EVENT_TAG, struct shm_event, tag)                                                            \
    F(EVENT_OFFSET, struct shm_event, offset)                                                      \
    F(EVENT_BYTES, struct shm_event, bytes)                                                        \
    F(EVENT_INCARNATION, struct shm_event, incarnation)                                            \
    F(EVENT_PEER, struct shm_event, peer)                                                          \
    S(VIEW_SIZE, struct shm_view)                                                                  \
    F(VIEW_OWN_RING, struct shm_view, own_ring)                                                    \
    F(VIEW_PEER_RING, struct shm_view, peer_ring)                                                  \
    F(VIEW_OWN_CREDITS, struct shm_view, own_credits)                                              \
    F(VIEW_OWN_SLOT_BYTES, struct shm_view, own_slot_bytes)                                        \
    F(VIEW_OWN_CREDIT_BYTES, struct shm_view, own_credit_bytes)                                    \
    F(VIEW_OWN_MESSAGE_MAX, struct shm_view, own_message_max)                                      \
    F(VIEW_PEER_CREDITS, struct shm_view, peer_credits)                                            \
    F(VIEW_PEER_SLOT_BYTES, struct shm_view, peer_slot_bytes)                                      \
    F(VIEW_PEER_CREDIT_BYTES, struct shm_view, peer_credit_bytes)                                  \
    F(VIEW_PEER_MESSAGE_MAX, struct shm_view, peer_message_max)                                    \
    F(VIEW_PEER, struct shm_view, peer)                                                            \
    F(AREA_CONTROL_BELL, struct shm_area, control_bell)                                            \
    F(CREDIT_CONSUMED, struct shm_credit, consumed)                                                \
    F(CREDIT_RETURNED, struct shm_credit, returned)                                                \
    F(SLOT_FLAG, struct shm_slot, flag)                                                            \
    F(SLOT_KIND, struct shm_slot, kind)                                                            \
    F(SLOT_LENGTH, struct shm_slot, length)                                                        \
    F(SLOT_TAG, struct shm_slot, tag)                                                              \
    F(SLOT_PAYLOAD, struct shm_slot, payload)                                                      \
    S(NOTIFY_SIZE, struct shm_notify)                                                              \
    F(NOTIFY_SLOT, struct shm_notify, slot)                                                        \
    F(NOTIFY_GENERATION, struct shm_notify, generation)                                            \
    F(NOTIFY_OFFSET, struct shm_notify, offset)                                                    \
    F(NOTIFY_LENGTH, struct shm_notify, length)                                                    \
    C(SNIC_NAME_MAX, SNIC_NAME_MAX)                                                                \
    C(SNIC_WHY_MAX, SNIC_WHY_MAX)                                                                  \
    C(SHM_SLOT_HEADER, SHM_SLOT_HEADER)                                                            \
    C(SHM_PRIVATE_MAX, SHM_PRIVATE_MAX)                                                            \
    C(SHM_MESSAGE_LIMIT, SHM_MESSAGE_LIMIT)                                                        \
    C(SHM_CREDITS_LIMIT, SHM_CREDITS_LIMIT)                                                        \
    C(SHM_KIND_MESSAGE, SHM_KIND_MESSAGE)                                                          \
    C(SHM_KIND_NOTIFY, SHM_KIND_NOTIFY)                                                            \
    C(SHM_EVENT_MESSAGE, SHM_EVENT_MESSAGE)                                                        \
    C(SHM_EVENT_NOTIFY, SHM_EVENT_NOTIFY)                                                          \
    C(SHM_EVENT_CONNECT_REQUEST, SHM_EVENT_CONNECT_REQUEST)                                        \
    C(SHM_EVENT_CONNECTED, SHM_EVENT_CONNECTED)                                                    \
    C(SHM_EVENT_CONNECT_FAILED, SHM_EVENT_CONNECT_FAILED)                                          \
    C(SHM_EVENT_DISCONNECTED, SHM_EVENT_DISCONNECTED)                                              \
    C(SHM_EVENT_PEER_LOST, SHM_EVENT_PEER_LOST)                                                    \
    C(SHM_EVENT_PEER_DONE, SHM_EVENT_PEER_DONE)

#endif
