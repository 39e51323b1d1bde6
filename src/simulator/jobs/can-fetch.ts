const TIMEOUT_MS = 30_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether the media of a job that names an address can be fetched. Loopback addresses are requested, so that a client can make a
 * job fail by a closed port or an answer of 400 and above. Others count as fetchable, because a simulator reaches nothing beyond
 * its machine. The bytes fetched are not used: media depend on the job's id.
 */
export async function canFetch(url: string, stop: AbortSignal): Promise<boolean> {
  if (!URL.canParse(url)) return false;
  if (!LOOPBACK.test(new URL(url).hostname)) return true;
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
    const { status, body } = await fetch(url, { redirect: 'manual', signal });
    await body?.cancel();
    return status < 400;
  } catch {
    return false;
  }
}
