import { z } from 'zod';
import { named, required, setting } from '../setting.js';
import * as types from '../value-types.js';
import { NAME, NAME_EXPECTED } from './names.js';

/** What a subscriber can be sent. */
const EVENT_NAMES = ['job.stored', 'job.failed', 'job.erased', 'health.opened', 'health.closed'] as const;

const subscriber = z.strictObject({
  url: required(
    types.webhookUrl(),
    'address',
    'Where events are posted; treated as a secret. Over http anyone on the way can read events.',
  ),
  secrets: required(
    z.array(types.webhookSecret()).min(1, 'at least one secret').max(8, 'at most 8 secrets'),
    'list of secrets',
    'Secrets of Standard Webhooks: `whsec_` and base64 of 24 to 64 bytes. Every event is signed with each.',
  ),
  events: setting(
    z.array(types.oneOf(EVENT_NAMES)).min(1, 'at least one event'),
    'list of event names',
    ['job.stored', 'job.failed', 'job.erased'],
    'Events to send.',
  ),
  format: setting(
    types.oneOf(['cloudevents', 'slack']),
    'cloudevents or slack',
    'cloudevents',
    'slack: a message `{"text"}`, as Slack, Mattermost and Rocket.Chat take it.',
  ),
  sources: setting(
    z.array(types.text(NAME, NAME_EXPECTED)),
    'list of sources',
    [],
    'Sources whose jobs are announced; empty: all.',
  ),
  maxInFlight: setting(types.count(1, 256), 'number', 8, 'Requests to the address at the same time.'),
});

export const subscribers = setting(
  named(NAME, NAME_EXPECTED, subscriber),
  'map of name to subscriber',
  {},
  'HTTP addresses that are sent signed CloudEvents about jobs (downstream.md). A new name begins with new events.',
);
