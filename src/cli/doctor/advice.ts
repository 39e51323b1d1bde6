import { remedyFor } from '../../domain/reasons.js';
import type { FindingLevel } from './finding.js';

/** Verdict and advice for a rejected test callback, by the code of its reason. */
export function adviceForRefusal(code: string): { readonly verdict: FindingLevel; readonly advice: string } {
  switch (code) {
    case 'address-refused':
      return {
        verdict: 'warning',
        advice:
          'If this is the address of this machine, the balancer forwards addresses correctly: run doctor from an allowed ' +
          'address, or set allowMode: report temporarily, to check the rest. If it is the address of the balancer, add it ' +
          'to receiver.trustedProxies.',
      };
    case 'address-unreadable':
      return {
        verdict: 'failed',
        advice: 'A proxy in receiver.trustedProxies sends an X-Forwarded-For that holds no IP address.',
      };
    case 'not-direct':
      return {
        verdict: 'failed',
        advice:
          'A source without a credential rejects requests that were forwarded or come from a web page: configure a credential.',
      };
    case 'credential-invalid':
      return {
        verdict: 'failed',
        advice:
          'Check that the receiver runs with this configuration and that the balancer forwards the header.',
      };
    case 'source-unknown':
      return {
        verdict: 'failed',
        advice: 'The receiver does not know this source: it runs with other settings.',
      };
    default:
      return { verdict: 'failed', advice: remedyFor(code) ?? 'See the log of the receiver.' };
  }
}
