// URLs: every one that was settled, with filters, order, pages, and one of them in full beside the list.

import { h, fill, foreign, urlText, debounce, icon, turns } from '../dom.js';
import { get, crawlPath, query, address, isGone } from '../api.js';
import { asCommand, button, emptyBox, problemBox, select, viewHead } from '../widgets.js';
import { pager, table } from '../table.js';
import { bytes, count, duration, ago } from '../format.js';
import { OUTCOMES, tone, verdict, verdictWords } from '../words.js';
import { remember } from '../stage.js';
import { detail } from '../detail.js';

const LIMIT = 100;
const KEYS = ['q', 'outcome', 'status', 'type', 'host', 'depth', 'duplicate', 'sort'];

const COLUMNS = [
  {
    name: 'Status',
    sort: 'status',
    cell: (row) => h('span', { class: `verdict ${tone(row)}`, title: verdictWords(row) }, verdict(row)),
  },
  {
    name: 'URL',
    sort: 'url',
    class: 'wide',
    cell: (row) => [
      h('button', { type: 'button', class: 'plain-button', 'data-open': true }, urlText(row.url)),
      row.title ? h('div', { class: 'title' }, foreign(row.title)) : null,
    ],
  },
  { name: 'Type', sort: 'type', class: 'mono', cell: (row) => row.type ?? '–' },
  { name: 'Depth', sort: 'depth', class: 'n', cell: (row) => count(row.depth) },
  { name: 'Size', sort: '-bytes', class: 'n', cell: (row) => bytes(row.bytes) },
  { name: 'Time', sort: '-ms', class: 'n', cell: (row) => duration(row.ms) },
  { name: 'More', class: 'wide', cell: (row) => more(row) },
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
  const filters = Object.fromEntries(KEYS.map((key) => [key, params.get(key) ?? '']));
  filters.sort ||= '-at';
  const list = h('div', { class: 'grid-list' });
  const side = h('aside', { class: 'detail', 'aria-label': 'One URL in full', hidden: true });
  const command = asCommand('GET', crawlPath(id, 'urls'));
  const csv = h('a', { class: 'button', download: true }, icon('down'), 'CSV');
  const pages = pager(refresh);
  const turn = turns();
  let rows = [];
  let at = -1;

  const bar = filterBar(filters, change);
  fill(
    place,
    viewHead('URLs', 'Every URL that was settled: what became of it, and why.', csv),
    bar,
    h('div', { class: 'split' }, h('div', list, pages.node, keysHint()), side),
    command,
  );

  function change(values) {
    Object.assign(filters, values);
    remember(filters);
    pages.reset();
    refresh();
  }
  async function refresh() {
    const asked = query({ ...filters, limit: LIMIT, after: pages.cursor() });
    const path = crawlPath(id, 'urls') + asked;
    command.update('GET', path);
    csv.href = address(crawlPath(id, 'urls.csv') + query(filters));
    list.setAttribute('aria-busy', 'true');
    const isLast = turn();
    try {
      const answer = await get(path, { signal });
      if (isLast()) show(answer);
    } catch (error) {
      if (isLast() && !isGone(error)) fill(list, problemBox(error, refresh));
    }
    list.removeAttribute('aria-busy');
  }
  function show(answer) {
    rows = answer.rows;
    at = -1;
    pages.show(answer, rows.length);
    if (!rows.length)
      return fill(list, emptyBox('urls', 'No URL here', answer.all ? ' fits the filter.' : ' yet.'));
    const rowProperties = (row, n) => ({ onclick: (event) => (event.target.closest('a') ? null : open(n)) });
    fill(
      list,
      table(`URLs, ${count(answer.total)} of ${count(answer.all)}`, COLUMNS, rows, {
        sorted: filters.sort,
        onSort: (sort) => change({ sort }),
        rowProperties,
      }),
    );
  }
  const rowNodes = () => list.querySelectorAll('tbody tr');

  function pick(n) {
    if (!rows.length) return;
    at = Math.max(0, Math.min(rows.length - 1, n));
    rowNodes().forEach((node, place) => node.classList.toggle('picked', place === at));
    const target = rowNodes()[at].querySelector('[data-open]');
    target.focus({ preventScroll: true });
    rowNodes()[at].scrollIntoView({ block: 'nearest' });
    if (!side.hidden) showOne(rows[at].url);
  }
  function open(n) {
    pick(n);
    showOne(rows[at].url);
  }
  function showOne(url) {
    side.hidden = false;
    place.classList.add('has-detail');
    remember({ ...filters, show: url });
    detail(side, stage, url, { close, open: showOne });
  }
  function close() {
    side.hidden = true;
    place.classList.remove('has-detail');
    fill(side);
    remember(filters);
    rowNodes()[at]?.querySelector('[data-open]').focus();
  }
  const keys = {
    j: () => pick(at + 1),
    k: () => pick(at - 1),
    Enter: () => at >= 0 && open(at),
    n: () => pages.go(1),
    p: () => pages.go(-1),
    Escape: () => !side.hidden && close(),
    '/': () => bar.querySelector('input').focus(),
  };
  listenToKeys(keys, signal);
  list.addEventListener('focusin', (event) => {
    at = [...rowNodes()].indexOf(event.target.closest('tbody tr'));
  });
  refresh();
  if (params.get('show')) showOne(params.get('show'));
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
    'p',
    { class: 'hint keys' },
    [
      ['j', 'down'],
      ['k', 'up'],
      ['Enter', 'open'],
      ['n', 'next page'],
      ['p', 'page before'],
      ['/', 'filter'],
    ].map(([key, words]) => [h('kbd', key), ` ${words} `]),
  );

function filterBar(filters, change) {
  const typed = (key, label, properties) => {
    const input = h('input', {
      type: 'search',
      'aria-label': label,
      placeholder: label,
      value: filters[key],
      ...properties,
    });
    input.addEventListener(
      'input',
      debounce(() => change({ [key]: input.value.trim() }), 250),
    );
    return input;
  };
  const chosen = (key, label, options) => {
    const node = select([['', label], ...options], filters[key], {
      'aria-label': label,
      onchange: () => change({ [key]: node.value }),
    });
    return node;
  };
  const outcomes = Object.entries(OUTCOMES).map(([key, [word]]) => [key, word]);
  outcomes.push(['failed,host-unreachable', 'Failed or unreachable']);
  const statuses = [
    ['2xx', '2xx: fine'],
    ['3xx', '3xx: elsewhere'],
    ['4xx', '4xx: not there, not allowed'],
    ['404', '404: not found'],
    ['5xx', '5xx: server errors'],
  ];
  const types = ['text/html', 'application/pdf', 'image/*', 'audio/*', 'text/css', 'application/json'].map(
    (type) => [type, type],
  );
  const bar = h(
    'div',
    { class: 'row filters', role: 'search', 'aria-label': 'Filter the URLs' },
    typed('q', 'Part of a URL'),
    chosen('outcome', 'Any outcome', outcomes),
    chosen('status', 'Any status', statuses),
    chosen('type', 'Any type', types),
    typed('host', 'Host', { class: 'narrow' }),
    typed('depth', 'Depth', { class: 'tiny', inputmode: 'numeric' }),
    chosen('duplicate', 'Copies or not', [
      ['true', 'Copies alone'],
      ['false', 'No copies'],
    ]),
    button(
      'Clear',
      () => {
        bar.querySelectorAll('input, select').forEach((input) => {
          input.value = '';
        });
        change({ q: '', outcome: '', status: '', type: '', host: '', depth: '', duplicate: '' });
      },
      { kind: 'quiet' },
    ),
  );
  return bar;
}
