// URLs: every one that was settled, with filters, order, pages, and one of them in full beside the list.

import { h, fill, foreign, urlText } from '../dom.js';
import { crawlPath, query, address } from '../api.js';
import { button, csvLink, emptyBox, finder, select, verdictSign, viewHead } from '../widgets.js';
import { browse, table } from '../table.js';
import { bytes, count, duration, ago } from '../format.js';
import { OUTCOMES } from '../words.js';
import { recall, remember } from '../stage.js';
import { detail } from '../detail.js';

const NO_FILTERS = { q: '', outcome: '', status: '', type: '', host: '', depth: '', duplicate: '' };
const STATUS_CHOICES = [
  ['2xx', '2xx: fine'],
  ['3xx', '3xx: elsewhere'],
  ['4xx', '4xx: not there, not allowed'],
  ['404', '404: not found'],
  ['5xx', '5xx: server errors'],
];
const COPIES = [
  ['true', 'Copies alone'],
  ['false', 'No copies'],
];
const TYPES = ['text/html', 'application/pdf', 'image/*', 'audio/*', 'text/css', 'application/json'];
const KEYS = [
  ['j', 'down'],
  ['k', 'up'],
  ['Enter', 'open'],
  ['n', 'next page'],
  ['p', 'page before'],
  ['/', 'filter'],
];

const COLUMNS = [
  { name: 'Status', sort: 'status', cell: verdictSign },
  {
    name: 'URL',
    sort: 'url',
    class: 'wide',
    cell: (row) => [
      h('button.plain-button', { type: 'button', 'data-open': true }, urlText(row.url)),
      row.title ? h('div.title', foreign(row.title)) : null,
    ],
  },
  { name: 'Type', sort: 'type', class: 'mono', cell: (row) => row.type?.split(';')[0] ?? '–' },
  { name: 'Depth', sort: 'depth', class: 'n', cell: (row) => count(row.depth) },
  { name: 'Size', sort: '-bytes', class: 'n', cell: (row) => bytes(row.bytes) },
  { name: 'Time', sort: '-ms', class: 'n', cell: (row) => duration(row.ms) },
  { name: 'More', class: 'wide', cell: more },
  { name: 'When', sort: '-at', cell: (row) => ago(row.at) },
];

/** Where it leads, what it is a copy of, or why not. */
function more(row) {
  if (row.redirect) return ['→ ', urlText(row.redirect)];
  if (row.same_as) return ['same as ', urlText(row.same_as)];
  if (row.near) return ['nearly the same as ', urlText(row.near)];
  return row.reason ?? '';
}

export default function urls(place, stage) {
  const { id, params, signal } = stage;
  const filters = recall(params, { ...NO_FILTERS, sort: '-at' });
  const limit = matchMedia('(max-width: 640px)').matches ? 50 : 100; // on a phone, each row is two or three lines
  const { list, pages, command, change, refresh } = browse(stage, 'urls', filters, limit, show);
  const pane = paneOf(place, stage, filters, () => opener(at)?.focus({ preventScroll: true }));
  const bar = filterBar(filters, change);
  const csv = csvLink('');
  let rows = [];
  let at = -1;

  list.className = 'grid-list';
  fill(
    place,
    viewHead('URLs', 'Every URL that was settled: what became of it, and why.', csv),
    bar,
    h('div.split', h('div', list, pages.node, keysHint()), pane.node),
    command,
  );

  function show(node, answer) {
    rows = answer.rows;
    at = -1;
    csv.href = address(crawlPath(id, 'urls.csv') + query(filters));
    const caption = `URLs, ${count(answer.total)} of ${count(answer.all)}`;
    const rowProperties = (_, n) => ({ onclick: (event) => (event.target.closest('a') ? null : open(n)) });
    const options = { sorted: filters.sort, onSort: (sort) => change({ sort }), rowProperties };
    const nothing = emptyBox('urls', 'No URL here', answer.all ? ' fits the filter.' : ' yet.');
    fill(node, rows.length ? table(caption, COLUMNS, rows, options) : nothing);
    return rows.length;
  }
  const rowNodes = () => [...list.querySelectorAll('tbody tr')];
  const opener = (n) => rowNodes()[n]?.querySelector('[data-open]');

  function pick(n) {
    if (!rows.length) return;
    at = Math.max(0, Math.min(rows.length - 1, n));
    rowNodes().forEach((node, place) => node.classList.toggle('picked', place === at));
    opener(at).focus({ preventScroll: true });
    rowNodes()[at].scrollIntoView({ block: 'nearest' });
    if (pane.isOpen()) pane.show(rows[at].url);
  }
  function open(n) {
    pick(n);
    if (!pane.isOpen()) pane.show(rows[at].url);
  }
  const keys = {
    j: () => pick(at + 1),
    k: () => pick(at - 1),
    Enter: () => at >= 0 && open(at),
    n: () => pages.go(1),
    p: () => pages.go(-1),
    Escape: () => pane.isOpen() && pane.close(),
    '/': () => bar.querySelector('input').focus(),
  };
  listenToKeys(keys, signal);
  list.addEventListener('focusin', (event) => {
    at = rowNodes().indexOf(event.target.closest('tbody tr'));
  });
  refresh();
  if (params.get('show')) pane.show(params.get('show'));
}

/** One URL in full: beside the list where there is room, else over it. */
function paneOf(place, stage, filters, closed) {
  const node = h('aside.detail', { 'aria-label': 'One URL in full', hidden: true });
  function show(url) {
    node.hidden = false;
    place.classList.add('has-detail');
    remember({ ...filters, show: url });
    detail(node, stage, url, { close, open: show });
    // After the view has its own focus: what lies over the list is what one looks at.
    setTimeout(() => getComputedStyle(node).position === 'fixed' && node.querySelector('button')?.focus());
  }
  function close() {
    node.hidden = true;
    place.classList.remove('has-detail');
    fill(node);
    remember(filters);
    closed();
  }
  return { node, show, close, isOpen: () => !node.hidden };
}

/** Single keys, wherever nobody types and no other button would take them. */
function listenToKeys(keys, signal) {
  const others = 'input, select, textarea, dialog, summary, a, button:not([data-open])';
  const act = (event) => {
    const isTaken = event.target.closest(others) && event.key !== 'Escape';
    if (event.ctrlKey || event.metaKey || event.altKey || isTaken || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  };
  document.addEventListener('keydown', act, { signal });
}

const keysHint = () =>
  h(
    'p.hint.keys',
    KEYS.map(([key, words]) => [h('kbd', key), ` ${words} `]),
  );

function filterBar(filters, change) {
  const typed = (key, label, properties) =>
    finder(label, filters[key], (value) => change({ [key]: value }), properties);
  const chosen = (key, label, options) => {
    const onchange = () => change({ [key]: node.value });
    const node = select([['', label], ...options], filters[key], { 'aria-label': label, onchange });
    return node;
  };
  const outcomes = Object.entries(OUTCOMES).map(([key, [word]]) => [key, word]);
  const fields = [
    typed('q', 'Part of a URL'),
    chosen('outcome', 'Any outcome', [...outcomes, ['failed,host-unreachable', 'Failed or unreachable']]),
    chosen('status', 'Any status', STATUS_CHOICES),
    chosen(
      'type',
      'Any type',
      TYPES.map((type) => [type, type]),
    ),
    typed('host', 'Host', { class: 'narrow' }),
    typed('depth', 'Depth', { class: 'tiny', inputmode: 'numeric' }),
    chosen('duplicate', 'Copies or not', COPIES),
  ];
  const clear = () => {
    for (const field of fields) field.value = '';
    change(NO_FILTERS);
  };
  const bar = { role: 'search', 'aria-label': 'Filter the URLs' };
  return h('div.row.filters', bar, fields, button('Clear', clear, { kind: 'quiet' }));
}
