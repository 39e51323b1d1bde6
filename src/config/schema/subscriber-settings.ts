import { z } from 'zod';
import { named, required, setting } from '../setting.js';
import * as types from '../value-types.js';
import { NAME, NAME_EXPECTED } from './names.js';

/** Events that can be sent to a subscriber. */
const EVENT_NAMES = ['job.stored', 'job.failed', 'job.erased', 'health.opened', 'health.closed'] as const;

const subscriber = z.strictObject({
  url: required(types.webhookUrl(), 'address', 'A secret. Over http anyone on the way reads events.'),
  secrets: required(
    z.array(types.webhookSecret()).min(1, 'at least one secret').max(8, 'at most 8 secrets'),
    'list of secrets',
    '`whsec_` and base64 of 24 to 64 bytes; each signs every event.',
  ),
  events: setting(
    z.array(types.oneOf(EVENT_NAMES)).min(1, 'at least one event'),
    'list of event names',
    ['job.stored', 'job.failed', 'job.erased'],
    'Also `health.opened`, `health.closed`.',
  ),
  format: setting(
    types.oneOf(['cloudevents', 'slack']),
    'cloudevents or slack',
    'cloudevents',
    'slack sends `{"text"}`, for Slack, Mattermost, Rocket.Chat.',
  ),
  sources: setting(
    z.array(types.text(NAME, NAME_EXPECTED)),
    'list of sources',
    [],
    'Only jobs of these, but health of all; empty: all.',
  ),
  maxInFlight: setting(types.count(1, 256), 'number', 8, 'Concurrent requests.'),
});

export const subscribers = setting(
  named(subscriber),
  'map of name to subscriber',
  {},
  'Get signed CloudEvents (downstream.md), a new name only new ones.',
);
