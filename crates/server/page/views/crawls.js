// All crawls: how each stands, and one field to start another.

import { h, fill, refill, icon, foreign, urlText, say } from '../dom.js';
import { get, isGone, listen, post } from '../api.js';
import { asCommand, badge, busy, problemBox, loading } from '../widgets.js';
import { STATES, standing, isAlive } from '../words.js';
import { ago, bytes, count, decimal } from '../format.js';
import { keepRows } from '../table.js';
import { actions } from '../steer.js';
import { go, viewPath } from '../stage.js';

const SHOWN_MAX = 200;

export default function crawls(place, { signal }) {
  const start = quickStart();
  const list = h('ul', { class: 'plain crawl-list' });
  const rest = h('div');
  const rows = new Map();
  let hasRoot = true;
  fill(place, start.node, rest, list, asCommand('GET', '/crawls'));
  fill(rest, loading());

  function show({ crawls: all }) {
    start.welcome(all.length === 0);
    // A server without a root shows what it was given: a single crawl needs no list.
    if (!hasRoot && all.length === 1) return go(viewPath(all[0].id, 'now'), { replace: true });
    fill(
      rest,
      all.length ? h('h2', all.length === 1 ? 'One crawl' : `${count(all.length)} crawls`) : null,
      all.length > SHOWN_MAX ? h('p', { class: 'hint' }, `The first ${SHOWN_MAX} are shown.`) : null,
    );
    const sorted = [...all].sort((a, b) => isAlive(b) - isAlive(a) || (b.started ?? 0) - (a.started ?? 0));
    keepRows(
      list,
      rows,
      sorted.slice(0, SHOWN_MAX),
      (crawl) => crawl.id,
      (crawl) => card(crawl),
    );
  }

  async function open() {
    try {
      hasRoot = Boolean((await get('/server', { signal })).root);
      start.node.hidden = !hasRoot;
      show(await get('/crawls', { signal }));
      const state = (detail) => dispatchEvent(new CustomEvent('larm:connection', { detail }));
      if (!signal.aborted) listen('/events', { crawls: show }, state, signal);
    } catch (error) {
      if (!isGone(error)) fill(rest, problemBox(error, open));
    }
  }
  open();
}

/** One field and Start: large while there is no crawl yet. */
function quickStart() {
  const input = h('input', {
    type: 'text',
    inputmode: 'url',
    placeholder: 'https://…',
    'aria-label': 'Address to crawl',
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    required: true,
  });
  const wrong = h('p', { class: 'wrong', role: 'alert' });
  const begin = h('button', { type: 'submit', class: 'main' }, icon('play'), 'Start');
  const more = h('a', { href: '/new' }, 'Choose more');
  input.addEventListener('input', () => {
    say(wrong, '');
    more.setAttribute(
      'href',
      input.value.trim() ? `/new?${new URLSearchParams({ url: input.value.trim() })}` : '/new',
    );
  });
  const form = h(
    'form',
    { class: 'quick', onsubmit: submit },
    h('div', { class: 'quick-line' }, input, begin),
    wrong,
    h('p', { class: 'hint' }, 'Crawls that one host, one request a second, and obeys its robots.txt. ', more, '.'),
  );
  const title = h('h1', { tabindex: '-1', 'data-focus': true }, 'Crawls');
  const words = h(
    'p',
    { class: 'lead', hidden: true },
    'Give it an address. larm fetches the pages politely, keeps exactly what it saw, makes it searchable, and tells you what became of every link.',
  );
  const node = h('section', { class: 'hero' }, title, words, form);

  async function submit(event) {
    event.preventDefault();
    const settings = { seeds: [input.value.trim()] };
    await busy(begin, async () => {
      try {
        const crawl = await post('/crawls', { settings, start: true });
        go(viewPath(crawl.id, 'now'));
      } catch (error) {
        say(wrong, [error.message, error.hint].filter(Boolean).join(' '));
        input.focus();
      }
    });
  }
  function welcome(isEmpty) {
    say(title, isEmpty ? 'What shall be crawled?' : 'Crawls');
    words.hidden = !isEmpty;
    node.classList.toggle('large', isEmpty);
  }
  return { node, welcome };
}

function card(crawl) {
  const state = h('span');
  const words = h('p');
  const numbers = h('dl', { class: 'numbers' });
  const when = h('span', { class: 'hint' });
  const buttons = h('div', { class: 'row' });
  const name = h('a', { href: viewPath(crawl.id, 'now') }, foreign(crawl.name));
  const seeds = h(
    'p',
    { class: 'hint seeds' },
    urlText(crawl.seeds[0] ?? crawl.dir),
    crawl.seeds_total > 1 ? ` and ${count(crawl.seeds_total - 1)} more` : null,
  );
  const node = h(
    'li',
    { class: 'card crawl' },
    h('div', { class: 'crawl-title' }, h('h3', name), state, buttons),
    seeds,
    words,
    h('div', { class: 'numbers-line' }, numbers, when),
  );
  let last = '';

  function update(next) {
    say(words, standing(next));
    fill(
      numbers,
      facts(next).map(([term, value]) => h('div', h('dt', term), h('dd', value))),
    );
    if (next.state === last) return;
    last = next.state;
    fill(state, badge(STATES, next.state));
    refill(buttons, actions(next, update));
    fill(
      when,
      next.ended && !isAlive(next)
        ? ['ended ', ago(next.ended)]
        : next.started
          ? ['started ', ago(next.started)]
          : null,
    );
  }
  return { node, update };
}

function facts(crawl) {
  const { counts, rates } = crawl;
  const speed = isAlive(crawl) && rates ? [['Pages a second', decimal(rates.pages_per_second)]] : [];
  return [
    ['Pages', count(counts.fetched)],
    ['Waiting', count(counts.queued)],
    ['Failed', count(counts.failed)],
    ['Hosts', count(counts.hosts)],
    ['Received', bytes(counts.bytes)],
    ...speed,
  ];
}
