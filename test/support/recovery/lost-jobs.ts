import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';

/** The simulated service with jobs whose callbacks were lost. */
export interface LostJobs {
  readonly simulator: Simulator;
  /** Settings of a receiver that uses the simulated service. */
  readonly settings: Record<string, unknown>;
  /** Submits a finished job whose callback is lost; resolves to its id. */
  lose(words?: number): Promise<string>;
}

const UNREACHABLE = 'http://127.0.0.1:9/callbacks/default';

/** @param speech settings laid over those of `speech` */
export async function lostJobs(speech: Record<string, unknown> = {}): Promise<LostJobs> {
  const simulator = await createSimulator({ regions: { eu1: 0, us1: 0 }, timeScale: 0.001 });
  simulator.faults.add({ kind: 'drop' });
  const regions = Object.entries(simulator.batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]);
  return {
    simulator,
    settings: {
      speech: {
        apiKey: simulator.apiKey,
        regions: Object.fromEntries(regions),
        maxRequestsPerSecond: 1000,
        retries: 0,
        ...speech,
      },
    },
    async lose(words = 20) {
      const { id, notified } = simulator.submit({
        words,
        config: {
          type: 'transcription',
          fetch_data: { url: 'https://media.example/a.wav?X-Signature=presigned-secret' },
          notification_config: [{ url: UNREACHABLE, auth_headers: ['X-Token: header-secret'] }],
        },
      });
      await notified;
      return id;
    },
  };
}
