import type { KeyRing } from '../key-ring.js';
import type { RealtimeSimulatorOptions } from './realtime-interface.js';

/**
 * Keys that may start sessions: an API key in the upgrade header, or a temporary `rt` key, on any host. An API key in an address
 * would be exposed, and a `batch` key is for the jobs API (docs/service-interface.md#keys).
 */
export function realtimeKeyCheck(keys: KeyRing): RealtimeSimulatorOptions['verifyKey'] {
  return async (token, placement) => {
    const caller = await keys.identify(`Bearer ${token}`);
    if (caller?.kind === 'api-key') return placement === 'header' ? 'ok' : 'not_authorised';
    return caller?.kind === 'temporary-key' && caller.type === 'rt' ? 'ok' : 'not_authorised';
  };
}
