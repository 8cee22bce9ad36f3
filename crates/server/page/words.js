// What larm's words mean: states, outcomes, filters. Meaning is in words and signs, never in colour alone.

import { count, counted, decimal, bytes, duration, roughly } from './format.js';

/** Each state of a crawl: its name, its sign, the tone of its colour. */
export const STATES = {
  new: ['Not started', 'new', 'calm'],
  running: ['Running', 'now', 'good'],
  paused: ['Paused', 'pause', 'wait'],
  offline: ['No network', 'wait', 'wait'],
  'disk-low': ['Disk is full', 'alert', 'bad'],
  stopping: ['Stopping', 'wait', 'wait'],
  finished: ['Finished', 'done', 'calm'],
  empty: ['Nothing fetched', 'alert', 'bad'],
  stopped: ['Stopped', 'stop', 'calm'],
  limit: ['At its limit', 'flag', 'calm'],
  killed: ['Interrupted', 'alert', 'wait'],
  failed: ['Failed', 'alert', 'bad'],
};

/** Each state of a host. */
export const HOST_STATES = {
  ready: ['Ready', 'play', 'good'],
  busy: ['Being asked', 'now', 'good'],
  waiting: ['Waits', 'wait', 'calm'],
  'backing-off': ['Backs off', 'wait', 'wait'],
  'robots-unreachable': ['No robots.txt', 'alert', 'wait'],
  excluded: ['Left alone', 'skipped', 'bad'],
  paused: ['Paused', 'pause', 'wait'],
  done: ['Done', 'done', 'calm'],
};

/** Each outcome of a URL. */
export const OUTCOMES = {
  fetched: ['Fetched', 'done', 'good'],
  redirected: ['Redirected', 'redirects', 'calm'],
  denied: ['Denied by robots.txt', 'skipped', 'wait'],
  rejected: ['Rejected by a filter', 'skipped', 'wait'],
  failed: ['Failed', 'alert', 'bad'],
  'host-unreachable': ['Host unreachable', 'alert', 'bad'],
};

const ALIVE = new Set(['running', 'paused', 'offline', 'disk-low', 'stopping']);

/** The state to show: a crawl that came to its end with nothing has a reason for it. */
export const stateOf = ({ state, reason }) => (state === 'finished' && reason ? 'empty' : state);

/** Whether a process works on it now. */
export const isAlive = (crawl) => ALIVE.has(crawl.state);

/** How a crawl stands, in a sentence or two. */
export function standing(crawl) {
  const { state, reason } = crawl;
  const told = told_of[state] ?? (() => `It is ${state}.`);
  const sentence = told(crawl);
  return reason && !sentence.includes(reason) ? `${sentence} ${ended(reason)}` : sentence;
}

const pages = (crawl) => counted(crawl.counts.fetched, 'page');
const waiting = (crawl) =>
  crawl.counts.queued ? `${counted(crawl.counts.queued, 'URL')} still to go` : 'nothing waits';
const bad = ({ counts }) =>
  counts.error_answers ? ` ${count(counts.error_answers)} of them are answers of status 400 or above.` : '';
const ended = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

const told_of = {
  new: () => 'It has not been started yet.',
  running: runs,
  paused: (crawl) => `Paused with ${pages(crawl)} fetched and ${waiting(crawl)}. Nothing is asked of anybody.`,
  offline: (crawl) =>
    `This machine has no network. It goes on by itself, from ${pages(crawl)}, when the network is back.`,
  'disk-low': (crawl) => `The disk is nearly full. It goes on, from ${pages(crawl)}, when there is room.`,
  stopping: (crawl) =>
    `Stopping: ${counted(crawl.rates?.in_flight ?? 0, 'fetch', 'fetches')} in flight will be finished and saved.`,
  finished: (crawl) =>
    crawl.reason
      ? `Done in ${duration(crawl.active_ms)}.`
      : `Done: ${pages(crawl)}, ${bytes(crawl.counts.bytes)}, in ${duration(crawl.active_ms)}.${bad(crawl)}`,
  stopped: (crawl) => `Stopped after ${pages(crawl)}, with ${waiting(crawl)}. It can go on where it was.`,
  limit: (crawl) => `A limit that you set ended it after ${pages(crawl)}.`,
  killed: (crawl) => `It was interrupted after ${pages(crawl)}. Nothing is lost: it can go on where it was.`,
  failed: (crawl) => `It failed after ${pages(crawl)}.`,
};

function runs(crawl) {
  const rates = crawl.rates ?? {};
  const speed = `${decimal(rates.pages_per_second ?? 0)} pages a second from ${counted(crawl.counts.hosts, 'host')}`;
  const left = crawl.seconds_left ? `, ${roughly(crawl.seconds_left * 1000)} left` : '';
  return `Fetching ${speed}: ${pages(crawl)} so far, ${waiting(crawl)}${left}.`;
}

/** The status of an answer in words, for those that people meet most. */
export const STATUSES = {
  200: 'OK',
  301: 'moved for good',
  302: 'found elsewhere',
  304: 'not modified',
  307: 'moved for now',
  308: 'moved for good',
  400: 'bad request',
  401: 'asks for a login',
  403: 'forbidden',
  404: 'not found',
  410: 'gone',
  429: 'too many requests',
  500: 'server error',
  502: 'bad gateway',
  503: 'unavailable',
  504: 'gateway timeout',
};

/** `404 (not found)` */
export const statusText = (status) => `${status}${STATUSES[status] ? ` (${STATUSES[status]})` : ''}`;

/** The tone of an answer: what came of `outcome` and `status`. */
export function tone(row) {
  if (row.outcome === 'fetched' && row.status >= 400) return 'bad';
  return (OUTCOMES[row.outcome] ?? OUTCOMES.failed)[2];
}

/** One short word for what came of a URL: its status, or its outcome. */
export const verdict = (row) =>
  row.status ? String(row.status) : (OUTCOMES[row.outcome]?.[0] ?? row.outcome).split(' ')[0];

/** What stands behind that word, for hovering and for readers. */
export function verdictWords(row) {
  const outcome = OUTCOMES[row.outcome]?.[0] ?? row.outcome;
  const status = row.status ? ` with ${statusText(row.status)}` : '';
  return `${outcome}${status}${row.reason ? `: ${row.reason}` : ''}`;
}

/** `12 of 64 places` */
export function places(rates) {
  return rates.places
    ? `of ${counted(rates.places, 'place')}${rates.places_reason ? `: ${rates.places_reason}` : ''}`
    : '';
}

/** A value of a setting as one would write it. */
export function settingText(value) {
  if (Array.isArray(value)) return value.map(settingText).join(', ');
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return objectText(value);
  return typeof value === 'number' ? count(value) : String(value);
}

/** Filters have a name and, some of them, settings of their own: `known-paths (lists: sessions, actions)`. */
function objectText({ filter, ...rest }) {
  const parts = Object.entries(rest).map(([key, value]) => `${key}: ${settingText(value)}`);
  return filter && !parts.length ? filter : `${filter ?? ''} (${parts.join('; ')})`.trim();
}
