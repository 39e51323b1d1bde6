import type { SpeechClients } from '../../speech/speech.js';
import { SpeechError } from '../../speech/speech-error.js';
import { errorMessage, type Finding, failed, passed, skipped } from './finding.js';

/**
 * Requests the newest job of each configured region. Never throws.
 *
 * @param timeout milliseconds for each region, the key service included
 */
export async function checkService(
  speech: SpeechClients,
  hasKey: boolean,
  timeout: number,
): Promise<Finding[]> {
  const check = 'service';
  if (!hasKey)
    return [skipped(check, 'No speech.apiKey is configured, so lost callbacks cannot be recovered.')];
  if (speech.regions.length === 0) {
    return [skipped(check, 'No region has a batchUrl, so lost callbacks cannot be recovered.')];
  }
  return Promise.all(speech.regions.map((region) => checkRegion(speech, region, timeout)));
}

async function checkRegion(speech: SpeechClients, region: string, timeout: number): Promise<Finding> {
  const check = `service ${region}`;
  const signal = AbortSignal.timeout(timeout);
  try {
    for await (const page of speech.jobs(region).list({ signal })) {
      const seen = page.jobs.length === 0 ? 'it has no jobs yet' : `its newest job is ${page.jobs[0]?.id}`;
      return passed(check, `It answers and accepts the key; ${seen}.`);
    }
    return passed(check, 'It answers and accepts the key; it has no jobs yet.');
  } catch (error) {
    const message = signal.aborted ? `No answer within ${timeout / 1000} s.` : errorMessage(error);
    return failed(check, message, adviceFor(error, region));
  }
}

function adviceFor(error: unknown, region: string): string {
  switch (error instanceof SpeechError ? error.kind : null) {
    case 'unauthorised':
    case 'forbidden':
      return 'Check speech.apiKey: it must belong to this account and be valid.';
    case 'configuration':
      return 'Complete the settings below speech.';
    case 'rate-limited':
    case 'paused':
      return 'The service limits requests: retry later, and lower speech.maxRequestsPerSecond if this continues.';
    case 'redirect':
    case 'invalid-response':
    case 'not-found':
      return `Check speech.regions.${region}.batchUrl and speech.paths.list: the server there is not the jobs API.`;
    default:
      return `Check speech.regions.${region}.batchUrl, name service and firewall from this machine, and the line "proxies" above.`;
  }
}
