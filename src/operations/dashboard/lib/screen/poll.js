/**
 * Runs a task immediately and then at an interval: never concurrently, not while the page is hidden or paused, and
 * immediately when it is shown again. Failures lengthen the interval up to eight times, but not beyond `LONGEST`.
 */

/** Milliseconds: a view must not say for longer that the store is away when it is back. */
const LONGEST = 30_000;

const paused = new EventTarget();
let isPaused = false;

/** @param {boolean} value */
export function setPaused(value) {
  isPaused = value;
  paused.dispatchEvent(new Event('change'));
}

/** @param {number} milliseconds @param {() => Promise<boolean>} task @param {AbortSignal} signal */
export function poll(milliseconds, task, signal) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let running = false;
  let failures = 0;

  const isIdle = () => document.hidden || isPaused;

  async function run() {
    if (running || signal.aborted) return;
    clearTimeout(timer);
    running = true;
    const succeeded = await task();
    running = false;
    failures = succeeded ? 0 : Math.min(failures + 1, 3);
    if (!signal.aborted && !isIdle())
      timer = setTimeout(run, Math.min(milliseconds * 2 ** failures, LONGEST));
  }

  const wake = () => (isIdle() ? clearTimeout(timer) : run());
  document.addEventListener('visibilitychange', wake, { signal });
  paused.addEventListener('change', wake, { signal });
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  run();
  return run;
}
