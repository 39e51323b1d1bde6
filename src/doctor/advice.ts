import type { Verdict } from './finding.js';

/** What a refusal of the marked callback means for whoever runs doctor, by problem code. */
export function adviceForRefusal(code: string): { readonly verdict: Verdict; readonly advice: string } {
  switch (code) {
    case 'address-refused':
      return {
        verdict: 'warning',
        advice:
          "If the address is this machine's, the balancer passes addresses on correctly: run doctor from an allowed " +
          'address, or set allowMode: report meanwhile, to check the rest. If it is the balancer, add that to ' +
          'receiver.trustedProxies.',
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
          'The source has no credential, and behind a balancer or a page it then takes nothing: give it one.',
      };
    case 'credential-invalid':
      return {
        verdict: 'failed',
        advice: 'Does the service run with this configuration, and does the balancer pass the header on?',
      };
    case 'source-unknown':
      return { verdict: 'failed', advice: 'The service does not know this source: it runs other settings.' };
    default:
      return { verdict: 'failed', advice: 'See the log of the service.' };
  }
}
