// Runs: when it ran, how each run ended, and which settings had changed by then.

import { h, fill } from '../dom.js';
import { get, crawlPath } from '../api.js';
import { asCommand, badge, emptyBox, load, viewHead } from '../widgets.js';
import { table } from '../table.js';
import { ago, bytes, count, duration } from '../format.js';
import { STATES, settingText } from '../words.js';

export default function runs(place, { id, signal }) {
  const path = crawlPath(id, 'runs');
  const list = h('div');
  const compare = h(
    'a',
    { class: 'button', href: `/compare?${new URLSearchParams({ a: id })}` },
    'Compare with another crawl',
  );
  fill(
    place,
    viewHead('Runs', 'A crawl can be stopped and go on; each time is a run.', compare),
    list,
    asCommand('GET', path),
  );
  load(
    list,
    () => get(path, { signal }),
    (answer) => (answer.runs.length ? runTable(answer.runs) : emptyBox('runs', 'It has not run yet.')),
  );
}

function runTable(all) {
  return table(
    'Runs',
    [
      { name: 'Started', cell: (run) => ago(run.started) },
      { name: 'Took', class: 'n', cell: (run) => duration((run.ended ?? Date.now()) - run.started) },
      { name: 'State', cell: (run) => badge(STATES, run.state) },
      { name: 'Pages', class: 'n', cell: (run) => count(run.pages) },
      { name: 'Received', class: 'n', cell: (run) => bytes(run.bytes) },
      { name: 'Failed', class: 'n', cell: (run) => count(run.failed) },
      { name: 'Changed settings', class: 'wide', cell: (run) => changed(run) },
    ],
    all,
  );
}

function changed({ settings, limit }) {
  const lines = Object.entries(settings ?? {}).map(([key, value]) =>
    h('div', h('code', `${key} = ${settingText(value)}`)),
  );
  return [limit ? h('div', `ended by ${limit}`) : null, lines.length ? lines : limit ? null : '–'];
}
