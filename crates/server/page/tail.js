// The last fetches, as they come. It can be held, so that one can read; it is never read out by itself.

import { h, fill, foreign, urlText } from './dom.js';
import { get, crawlPath, query } from './api.js';
import { button, verdictSign } from './widgets.js';
import { keepRows } from './table.js';
import { bytes, clock, count, duration, exact } from './format.js';
import { viewPath } from './stage.js';

const SHOWN_MAX = 40;

export function tail(stage) {
  const list = h('ol.plain.tail', { 'aria-label': 'Last fetches' });
  const note = h('span.hint');
  const hold = button('Hold', toggle, { kind: 'small', 'aria-pressed': 'false' });
  const all = h('a', { href: viewPath(stage.id, 'urls') }, 'All URLs');
  const lines = new Map();
  let rows = [];
  let held = false;
  let missed = 0;

  function toggle() {
    held = !held;
    hold.setAttribute('aria-pressed', String(held));
    missed = 0;
    fill(note, held ? 'held' : '');
  }
  function show({ rows: given, left_out: left = 0 }) {
    missed += held ? given.length + left : 0;
    if (held) return fill(note, `held; ${count(missed)} came meanwhile`);
    fill(note, left ? `${count(left)} more came too fast to show` : '');
    take(given);
  }
  /** What was asked for and what the stream tells at first overlap: each row is kept once, the newest first. */
  function take(given) {
    const known = new Map(rows.map((row) => [keyOf(row), row]));
    for (const row of given) known.set(keyOf(row), { ...known.get(keyOf(row)), ...row });
    rows = [...known.values()].sort((a, b) => b.at - a.at).slice(0, SHOWN_MAX);
    keepRows(list, lines, rows, keyOf, () => lineOf(stage.id));
  }
  const newest = crawlPath(stage.id, 'urls') + query({ sort: '-at', limit: 20 });
  get(newest, { signal: stage.signal }).then(show, () => {});
  stage.on('fetches', show);
  return h('section.card', h('div.card-head', h('h3', 'Last fetches'), note, hold, all), list);
}

const keyOf = ({ at, url }) => `${at} ${url}`;

/** One of them. Its title may be known later than the rest. */
function lineOf(id) {
  const node = h('li');
  let title;
  function update(row) {
    if (node.firstChild && row.title === title) return;
    title = row.title;
    const facts = [row.type, row.bytes && bytes(row.bytes), row.ms && duration(row.ms)]
      .filter(Boolean)
      .join(' · ');
    fill(
      node,
      h('time', { title: exact(row.at) }, clock(row.at)),
      verdictSign(row),
      h('a', { href: viewPath(id, 'urls', { show: row.url }) }, urlText(row.url)),
      title ? h('span.title', foreign(title)) : null,
      h('span.facts', row.reason || facts),
    );
  }
  return { node, update };
}
