/** Realtime and agent hosts (docs/service-interface.md#regions). `global` may route to any region. */
export const REALTIME_REGIONS = ['global', 'eu1', 'us1', 'au1'] as const;
export type RealtimeRegion = (typeof REALTIME_REGIONS)[number];

/** Interface of a session; both are on the same hosts. */
export type SessionService = 'realtime' | 'agent';
