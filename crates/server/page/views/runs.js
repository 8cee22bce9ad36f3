// Runs: when it ran, how each run ended, and which settings had changed by then.

import { h, fill } from '../dom.js';
import { get, crawlPath, query } from '../api.js';
import { asCommand, badge, emptyBox, load, viewHead } from '../widgets.js';
import { table } from '../table.js';
import { ago, bytes, count, duration } from '../format.js';
import { STATES, settingText } from '../words.js';

const COLUMNS = [
  { name: 'Started', cell: (run) => ago(run.started) },
  { name: 'Took', class: 'n', cell: took },
  { name: 'State', cell: (run) => badge(STATES, run.state) },
  { name: 'Pages', class: 'n', cell: (run) => count(run.pages) },
  { name: 'Received', class: 'n', cell: (run) => bytes(run.bytes) },
  { name: 'Failed', class: 'n', cell: (run) => count(run.failed) },
  { name: 'Changed settings', class: 'wide', cell: changed },
];

export default function runs(place, { id, signal }) {
  const path = crawlPath(id, 'runs');
  const list = h('div');
  const compare = h('a.button', { href: `/compare${query({ a: id })}` }, 'Compare with another crawl');
  const words = 'A crawl can be stopped and go on; each time is a run.';
  fill(place, viewHead('Runs', words, compare), list, asCommand('GET', path));
  const show = ({ runs: all }) =>
    all.length ? table('Runs', COLUMNS, all) : emptyBox('runs', 'It has not run yet.');
  load(list, () => get(path, { signal }), show);
}

/** A run that is over without having said when took nobody knows how long. */
function took({ started, ended, state }) {
  const until = ended ?? (state === 'running' ? Date.now() : null);
  return until === null ? '–' : duration(until - started);
}

/** What differs from the run before, what was changed under way, and the limit that ended it. */
function changed({ settings, changes, limit }) {
  const lines = Object.entries(settings ?? {}).map(([key, value]) =>
    h('div', h('code', `${key} = ${settingText(value)}`)),
  );
  const later = changes.map(({ at, key, value }) => h('div', h('code', `${key} = ${value}`), ' ', ago(at)));
  const all = [...lines, ...later, limit ? h('div', `ended by ${limit}`) : null].filter(Boolean);
  return all.length ? all : '–';
}
