// Two crawls side by side: settings, counts, and which URLs only one of them has.

import { h, fill, urlText } from '../dom.js';
import { get, query, address, crawlPath } from '../api.js';
import { asCommand, commandBox, emptyBox, hint, load, select } from '../widgets.js';
import { table } from '../table.js';
import { bytes, count, counted, duration } from '../format.js';
import { settingText } from '../words.js';
import { recall, remember } from '../stage.js';

/** Counts whose key says too little. */
const NAMES = {
  urls: 'URLs',
  denied: 'Denied by robots.txt',
  rejected: 'Links rejected',
  bytes: 'Received',
  warc_bytes: 'Size of the archive',
  warc_files: 'Archive files',
  held: 'Held back',
  error_answers: 'Answers 4xx or 5xx',
  active_ms: 'Time spent',
};

export default function compare(place, { params, signal }) {
  const chosen = recall(params, { a: '', b: '' });
  const body = h('div');
  const bar = h('div.row.filters');
  const command = asCommand('GET', '/compare' + query({ a: 'A', b: 'B' }));
  const words = 'Two crawls side by side: the same site at two times, or with two settings.';
  const title = h('h1', { tabindex: '-1', 'data-focus': true }, 'Compare');
  fill(place, h('div.view-head', h('div', title, h('p', words))), bar, body, command);

  function chooser(key, label, crawls) {
    const options = [['', 'Choose a crawl'], ...crawls.map(({ id, name }) => [id, name])];
    const onchange = () => {
      chosen[key] = node.value;
      show();
    };
    const node = select(options, chosen[key], { 'aria-label': label, onchange });
    return node;
  }
  function choose({ crawls }) {
    const [first, second] = [chooser('a', 'First crawl', crawls), chooser('b', 'Second crawl', crawls)];
    fill(bar, first, h('span.hint', 'with'), second);
    show();
  }
  function show() {
    remember(chosen);
    if (!chosen.a || !chosen.b) return fill(body, emptyBox('runs', 'Choose two crawls', ' to see what differs.'));
    const path = `/compare${query(chosen)}`;
    command.update('GET', path);
    fill(body);
    load(body, () => get(path, { signal }), parts);
  }
  load(
    bar,
    () => get('/crawls', { signal }).then(choose),
    () => [...bar.children],
  );
}

const card = (title, ...children) => h('section.card', h('h2', title), children);

const nameOf = (key) => NAMES[key] ?? `${key[0].toUpperCase()}${key.slice(1)}`.replaceAll('_', ' ');

function formOf(key, value) {
  if (key.endsWith('_ms')) return duration(value);
  return key.includes('bytes') ? bytes(value) : count(value);
}

function differenceOf({ key, a, b }) {
  return a === b ? 'same' : `${b > a ? '+' : '−'}${formOf(key, Math.abs(b - a))}`;
}

function parts({ a, b, settings, counts, only_a: onlyA, only_b: onlyB, changed, notes = [] }) {
  const columns = (cell, kind, name) => [
    { name: 'What', cell: ({ key }) => name(key) },
    { name: a.name, class: kind, cell: (row) => cell(row.key, row.a) },
    { name: b.name, class: kind, cell: (row) => cell(row.key, row.b) },
  ];
  const numbers = [...columns(formOf, 'n', nameOf), { name: 'Difference', class: 'n', cell: differenceOf }];
  const values = columns(
    (_, value) => settingText(value) || '–',
    'wide',
    (key) => h('code', key),
  );
  return [
    notes.map((note) => h('p.notice', note)),
    card('Counts', table('Counts', numbers, counts, { isSmall: true })),
    card('Settings that differ', settings.length ? table('Settings', values, settings) : h('p', 'None.')),
    h('div.pair', urlsOf(`Only in ${a.name}`, onlyA, a, b), urlsOf(`Only in ${b.name}`, onlyB, b, a)),
    urlsOf('In both, with other bytes', changed),
  ];
}

function urlsOf(title, { total, urls }, has, lacks) {
  const isCut = total > urls.length;
  return card(
    title,
    hint(counted(total, 'URL'), isCut ? `; the first ${count(urls.length)} are shown` : null),
    h(
      'ul.plain.urls-list',
      urls.map((url) => h('li', urlText(url))),
    ),
    isCut && has ? commandBox('All of them, as a command', difference(has.id, lacks.id)) : null,
  );
}

/** The API names the first of them alone; the lists of both crawls have all. */
function difference(has, lacks) {
  const list = (id) => `${location.origin}${address(crawlPath(id, 'urls.csv'))}?outcome=fetched`;
  return `urls() {
  curl -s -H "Authorization: Bearer $LARM_TOKEN" "$1" |
    sed -E '1d; /^("[^"]*"|[^,]*),fetched,[45]/d; s/^"([^"]*)".*/\\1/; t; s/,.*//' | LC_ALL=C sort -u
}
LC_ALL=C comm -23 <(urls '${list(has)}') <(urls '${list(lacks)}')`;
}
