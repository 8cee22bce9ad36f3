// Two crawls side by side: settings, counts, and which URLs only one of them has.

import { h, fill, urlText } from '../dom.js';
import { get, query } from '../api.js';
import { asCommand, emptyBox, load, problemBox, select } from '../widgets.js';
import { table } from '../table.js';
import { bytes, count, counted } from '../format.js';
import { settingText } from '../words.js';
import { remember } from '../stage.js';

/** Counts whose key says too little. */
const NAMES = {
  urls: 'URLs',
  bytes: 'received',
  warc_bytes: 'size of the archive',
  warc_files: 'archive files',
  held: 'held back',
};

export default function compare(place, { params, signal }) {
  const chosen = { a: params.get('a') ?? '', b: params.get('b') ?? '' };
  const body = h('div');
  const bar = h('div', { class: 'row filters' });
  const command = asCommand('GET', '/compare' + query({ a: 'A', b: 'B' }));
  fill(
    place,
    h(
      'div',
      { class: 'view-head' },
      h(
        'div',
        h('h1', { tabindex: '-1', 'data-focus': true }, 'Compare'),
        h('p', 'Two crawls side by side: the same site at two times, or with two settings.'),
      ),
    ),
    bar,
    body,
    command,
  );

  get('/crawls', { signal }).then(
    ({ crawls }) => {
      const options = [['', 'Choose a crawl'], ...crawls.map(({ id, name }) => [id, name])];
      const chooser = (key, label) => {
        const node = select(options, chosen[key], {
          'aria-label': label,
          onchange: () => {
            chosen[key] = node.value;
            show();
          },
        });
        return node;
      };
      fill(bar, chooser('a', 'First crawl'), h('span', { class: 'hint' }, 'with'), chooser('b', 'Second crawl'));
      show();
    },
    (error) => signal.aborted || fill(body, problemBox(error)),
  );

  function show() {
    remember(chosen);
    if (!chosen.a || !chosen.b) return fill(body, emptyBox('runs', 'Choose two crawls', ' to see what differs.'));
    const path = `/compare${query(chosen)}`;
    command.update('GET', path);
    fill(body);
    load(body, () => get(path, { signal }), parts);
  }
}

function parts({ a, b, settings, counts, only_a: onlyA, only_b: onlyB, changed }) {
  const form = (key, value) => (key.includes('bytes') ? bytes(value) : count(value));
  const columns = (cell, numeric) => [
    { name: 'What', cell: ({ key }) => NAMES[key] ?? key.replaceAll('_', ' ') },
    { name: a.name, class: numeric, cell: (row) => cell(row.key, row.a) },
    { name: b.name, class: numeric, cell: (row) => cell(row.key, row.b) },
  ];
  const difference = {
    name: 'Difference',
    class: 'n',
    cell: ({ key, a: one, b: two }) =>
      one === two ? 'same' : `${two > one ? '+' : '−'}${form(key, Math.abs(two - one))}`,
  };
  return [
    h(
      'section',
      { class: 'card' },
      h('h2', 'Counts'),
      table('Counts', [...columns(form, 'n'), difference], counts),
    ),
    h(
      'section',
      { class: 'card' },
      h('h2', 'Settings that differ'),
      settings.length
        ? table(
            'Settings',
            columns((_, value) => settingText(value) || '–'),
            settings,
          )
        : h('p', 'None.'),
    ),
    h('div', { class: 'pair' }, urlsOf(`Only in ${a.name}`, onlyA), urlsOf(`Only in ${b.name}`, onlyB)),
    urlsOf('In both, and changed', changed),
  ];
}

function urlsOf(title, { total, urls }) {
  const rest = total - urls.length;
  const items = urls.map((url) => h('li', urlText(typeof url === 'string' ? url : url.url)));
  return h(
    'section',
    { class: 'card' },
    h('h2', title),
    h('p', { class: 'hint' }, counted(total, 'URL')),
    h('ul', { class: 'plain urls-list' }, items),
    rest > 0 ? h('p', { class: 'hint' }, `and ${count(rest)} more`) : null,
  );
}
