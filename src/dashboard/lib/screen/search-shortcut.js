import { elementById } from '../elements/dom.js';
import { preference, setPreference } from '../preference.js';

/** Moves the focus to the search field. It can be turned off, as WCAG 2.1.4 requires for single-key shortcuts. */
const KEY = '/';

export function isSearchShortcutOn() {
  return preference('search-shortcut') !== 'off';
}

/** @param {boolean} on */
export function setSearchShortcut(on) {
  setPreference('search-shortcut', on ? 'on' : 'off');
  showSearchShortcut();
}

/** Shows the key next to the field and declares it to assistive technology. */
export function showSearchShortcut() {
  const isOn = isSearchShortcutOn();
  elementById('search-key').hidden = !isOn;
  const field = elementById('find-job');
  if (isOn) field.setAttribute('aria-keyshortcuts', KEY);
  else field.removeAttribute('aria-keyshortcuts');
}

/**
 * Ignored while the focus is in a field or a dialog.
 * @param {KeyboardEvent} event
 */
export function onSearchShortcut(event) {
  const { target } = event;
  const isTyping =
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable], dialog') !== null;
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  const field = elementById('find-job');
  if (event.key !== KEY || hasModifier || isTyping || !isSearchShortcutOn() || !field.checkVisibility())
    return;
  event.preventDefault();
  field.focus();
  if (field instanceof HTMLInputElement) field.select();
}
