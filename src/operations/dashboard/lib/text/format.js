import { span } from '../../vendor/text/amounts.js';
import { count as countAlone, plural } from '../../vendor/text/plural.js';

export { bytes, milliseconds, percent, span } from '../../vendor/text/amounts.js';

/** Numbers, sizes and times as text. */

/** @param {number} number @param {string} [one] @param {string} [many] */
export function count(number, one, many) {
  return one === undefined ? countAlone(number) : plural(number, one, many);
}

/**
 * "12 s ago", "in 3 days"; small clock differences count as now.
 * @param {string} instant @param {number} [now]
 */
export function ago(instant, now = Date.now()) {
  const difference = now - Date.parse(instant);
  if (Number.isNaN(difference)) return 'at an unknown time';
  if (Math.abs(difference) < 2000) return 'just now';
  return difference > 0 ? `${span(difference)} ago` : `in ${span(-difference)}`;
}

/** @type {Intl.DateTimeFormatOptions} */
const TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
/** @type {Intl.DateTimeFormatOptions} */
const DAY = { day: 'numeric', month: 'short' };
/** @type {Intl.DateTimeFormatOptions} */
const YEAR = { year: 'numeric' };
const DATE = { ...DAY, ...YEAR };

/** Creating a formatter is slow and lists have hundreds of times: one per form. */
const formatters = new Map();

/**
 * An instant in the browser's zone, in British order.
 * @param {Date} date @param {Intl.DateTimeFormatOptions} form
 */
export function inZone(date, form) {
  const key = JSON.stringify(form);
  if (!formatters.has(key)) formatters.set(key, new Intl.DateTimeFormat('en-GB', form));
  return formatters.get(key).format(date);
}

/** "Europe/Berlin". */
export function zoneName() {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * Today's instants as a time, others with their date.
 * @param {string | number} instant @param {number} [now]
 */
export function clock(instant, now = Date.now()) {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return String(instant);
  const time = inZone(date, TIME);
  /** @param {Intl.DateTimeFormatOptions} form */
  const isSame = (form) => inZone(date, form) === inZone(new Date(now), form);
  if (isSame(DATE)) return time;
  return `${inZone(date, isSame(YEAR) ? DAY : DATE)} ${time}`;
}

/**
 * Formats the instants in a text like every other time on the page.
 * @param {string} text
 */
export function withClock(text) {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (instant) => clock(instant));
}

/**
 * Position in a recording: "1:02:03".
 * @param {number} seconds
 */
export function position(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  /** @param {number} value */
  const two = (value) => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  return whole < 3600
    ? `${minutes}:${two(whole % 60)}`
    : `${Math.floor(whole / 3600)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

/**
 * The instant of a `datetime-local` value, for the API.
 * @param {string} text
 */
export function instantOfLocal(text) {
  const date = new Date(text);
  return text === '' || Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/**
 * The `datetime-local` value of an instant.
 * @param {string | undefined} text
 */
export function localOfInstant(text) {
  const date = new Date(text ?? '');
  if (Number.isNaN(date.getTime())) return '';
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, '');
}

/**
 * "a, b and c"
 * @param {readonly string[]} texts
 */
export function listed(texts) {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

/**
 * Sum of counts, in a list or by name.
 * @param {Readonly<Record<string, number>> | readonly number[]} counts
 */
export function total(counts) {
  return Object.values(counts).reduce((sum, number) => sum + number, 0);
}
