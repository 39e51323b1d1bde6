/**
 * Runs a task now and then every so many milliseconds: never twice at a time, not while the page is hidden or
 * paused, and at once when it is looked at again. Failures make the pauses longer, up to eight times.
 */

const paused = new EventTarget();
let isPaused = false;

export function setPaused(value) {
  isPaused = value;
  paused.dispatchEvent(new Event('change'));
}

export function every(milliseconds, task, signal) {
  let timer = null;
  let running = false;
  let failures = 0;

  const resting = () => document.hidden || isPaused;

  async function run() {
    if (running || signal.aborted) return;
    clearTimeout(timer);
    running = true;
    const succeeded = await task();
    running = false;
    failures = succeeded ? 0 : Math.min(failures + 1, 3);
    if (!signal.aborted && !resting()) timer = setTimeout(run, milliseconds * 2 ** failures);
  }

  const wake = () => (resting() ? clearTimeout(timer) : run());
  document.addEventListener('visibilitychange', wake, { signal });
  paused.addEventListener('change', wake, { signal });
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  run();
  return run;
}
