// The last fetches, as they come. It can be held, so that one can read; it is never read out by itself.

import { h, fill, foreign, urlText } from './dom.js';
import { get, crawlPath, query } from './api.js';
import { button } from './widgets.js';
import { bytes, clock, count, duration } from './format.js';
import { tone, verdict, verdictWords } from './words.js';
import { viewPath } from './stage.js';

const SHOWN_MAX = 40;

export function tail(stage) {
  const list = h('ol', { class: 'plain tail', 'aria-label': 'Last fetches' });
  const note = h('span', { class: 'hint' });
  const hold = button('Hold', () => toggle(), { kind: 'small', 'aria-pressed': 'false' });
  const node = h(
    'section',
    { class: 'card' },
    h(
      'div',
      { class: 'card-head' },
      h('h3', 'Last fetches'),
      note,
      hold,
      h('a', { href: viewPath(stage.id, 'urls') }, 'All URLs'),
    ),
    list,
  );
  let held = false;
  let missed = 0;

  function toggle() {
    held = !held;
    hold.setAttribute('aria-pressed', String(held));
    missed = 0;
    fill(note, held ? 'held' : '');
  }
  function show({ rows, left_out: left = 0 }) {
    missed += held ? rows.length + left : 0;
    if (held) return fill(note, `held; ${count(missed)} came meanwhile`);
    fill(note, left ? `${count(left)} more came too fast to show` : '');
    list.prepend(
      ...rows
        .slice(-SHOWN_MAX)
        .reverse()
        .map((row) => line(stage.id, row)),
    );
    while (list.children.length > SHOWN_MAX) list.lastChild.remove();
  }
  const newest = crawlPath(stage.id, 'urls') + query({ sort: '-at', limit: 20 });
  get(newest, { signal: stage.signal }).then(
    ({ rows }) => show({ rows: [...rows].reverse() }),
    () => {},
  );
  stage.on('fetches', show);
  return { node };
}

function line(id, row) {
  const facts = [row.type, row.bytes && bytes(row.bytes), row.ms && duration(row.ms)].filter(Boolean).join(' · ');
  return h(
    'li',
    h('time', { title: new Date(row.at).toLocaleString() }, clock(row.at)),
    h('span', { class: `verdict ${tone(row)}`, title: verdictWords(row) }, verdict(row)),
    h('a', { href: viewPath(id, 'urls', { show: row.url }) }, urlText(row.url)),
    row.title ? h('span', { class: 'title' }, foreign(row.title)) : null,
    h('span', { class: 'facts' }, row.reason ? row.reason : facts),
  );
}
