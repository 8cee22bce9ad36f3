// Numbers, sizes and times in people's form.

import { h, say } from './dom.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const exactTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
const NOTHING = '–';

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

/** 12,345 */
export const count = (n) => (isNumber(n) ? whole.format(n) : NOTHING);

/** 12,345 up to a million, then 1.2M */
export const short = (n) => (isNumber(n) && Math.abs(n) >= 1e6 ? compact.format(n) : count(n));

/** `1 page`, `2 pages` */
export const counted = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** 1.4 MB */
export function bytes(n) {
  if (!isNumber(n)) return NOTHING;
  let unit = 0;
  while (n >= 1000 && unit < UNITS.length - 1) {
    n /= 1000;
    unit += 1;
  }
  return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${UNITS[unit]}`;
}

/** 0.4, 7.3, 120 */
export function decimal(n) {
  if (!isNumber(n)) return NOTHING;
  return n >= 100 ? count(n) : String(Math.round(n * 10) / 10);
}

/** 3.1 % */
export const percent = (share) => (isNumber(share) ? `${decimal(share * 100)} %` : NOTHING);

/** `240 ms`, `12 s`, `3 min 20 s`, `5 h 2 min`, `3 d 4 h` */
export function duration(ms) {
  if (!isNumber(ms)) return NOTHING;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (ms < 10_000 && ms % 1000) return `${decimal(ms / 1000)} s`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return pair(seconds, 60, 'min', 1, 's');
  if (seconds < 86_400) return pair(seconds, 3600, 'h', 60, 'min');
  return pair(seconds, 86_400, 'd', 3600, 'h');
}

/** The same for a guess, in words: no finer than it can be. */
export const roughly = (ms) =>
  ms < 60_000 ? 'less than a minute' : `about ${duration(Math.round(ms / 60_000) * 60_000)}`;

function pair(seconds, large, largeName, small, smallName) {
  const rest = Math.floor((seconds % large) / small);
  const first = `${Math.floor(seconds / large)} ${largeName}`;
  return rest ? `${first} ${rest} ${smallName}` : first;
}

/** `just now`, `4 min ago`, `in 2 h` */
export function relative(at, now = Date.now()) {
  const ms = now - at;
  const size = Math.abs(ms);
  if (size < 5000) return 'just now';
  const words = size < 3_600_000 && size >= 60_000 ? `${Math.floor(size / 60_000)} min` : coarse(size);
  return ms > 0 ? `${words} ago` : `in ${words}`;
}

function coarse(ms) {
  const [unit, name] = ms < 60_000 ? [1000, 's'] : ms < 86_400_000 ? [3_600_000, 'h'] : [86_400_000, 'd'];
  return `${Math.floor(ms / unit)} ${name}`;
}

/** The exact time, in the reader's zone. */
export const exact = (at) => (isNumber(at) ? exactTime.format(at) : NOTHING);

/** `14:05:09` */
export const clock = (at) => new Date(at).toLocaleTimeString('en-GB');

/** A time that stays true as time goes on, with the exact one on hover. */
export function ago(at) {
  if (!isNumber(at)) return h('span', NOTHING);
  return h('time', { datetime: new Date(at).toISOString(), title: exact(at), 'data-at': at }, relative(at));
}

setInterval(() => {
  for (const time of document.querySelectorAll('time[data-at]')) say(time, relative(Number(time.dataset.at)));
}, 10_000);
