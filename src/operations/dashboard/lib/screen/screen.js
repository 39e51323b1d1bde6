import { morph } from '../elements/morph.js';
import { heading, loadingPanel, problemPanel } from '../elements/panels.js';
import { poll } from './poll.js';

/** @import { Route } from './route.js' */

/** Milliseconds; a slower answer marks the view as stale. At least one missed update of the page that updates most often. */
const LATE = 4000;
const NO_ANSWER = new Error('the receiver does not answer');

/** @typedef {ReturnType<typeof createScreen>} Screen */
/** @typedef {() => Promise<void>} Refresh updates the view immediately */

/**
 * What a view renders to until the user navigates away.
 * @param {{root: HTMLElement, route: Route, onFreshness: (error: unknown) => void}} options
 * `onFreshness` is called with null after every update, and with the error when an update fails
 */
export function createScreen({ root, route, onFreshness }) {
  const ending = new AbortController();

  /** @param {...(ChildNode | false | null | ChildNode[])} nodes */
  function render(...nodes) {
    if (ending.signal.aborted) return;
    const focused = root.contains(document.activeElement) && document.activeElement;
    morph(
      root,
      nodes.flat().filter((node) => node !== null && node !== false),
    );
    // A button that has done its work may be gone. Without this the next Tab would begin at the top of the page.
    if (focused && !focused.isConnected) root.querySelector('h1')?.focus({ preventScroll: true });
  }

  return {
    route,
    root,
    signal: ending.signal,
    render,
    /**
     * Sets the document's title and, unless the view is already shown, renders its heading immediately.
     * @param {string} text
     */
    start(text) {
      document.title = `${text} · Transcript Receiver`;
      if (root.childElementCount === 0) render(heading(text), loadingPanel());
    },
    /**
     * Runs `task` now and regularly; gives a function that runs it at once. A failure, or an answer that is late,
     * leaves the content in place, marked as stale; `onStale` can say more.
     * @param {number} milliseconds @param {(signal: AbortSignal) => Promise<void>} task
     * @param {() => void} [onStale] @returns {Refresh}
     */
    keepFresh(milliseconds, task, onStale = () => {}) {
      /** @param {unknown} error */
      const stale = (error) => {
        if (ending.signal.aborted) return;
        root.dataset.stale = '';
        onFreshness(error);
        onStale();
      };
      const careful = async () => {
        const late = setTimeout(stale, Math.max(milliseconds, LATE), NO_ANSWER);
        try {
          await task(ending.signal);
          if (ending.signal.aborted) return true;
          delete root.dataset.stale;
          onFreshness(null);
          return true;
        } catch (error) {
          stale(error);
          if (!ending.signal.aborted)
            root.querySelector('[data-key=loading]')?.replaceWith(problemPanel(error));
          return false;
        } finally {
          clearTimeout(late);
        }
      };
      return poll(milliseconds, careful, ending.signal);
    },
    close: () => ending.abort(),
  };
}
