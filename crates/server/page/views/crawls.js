// All crawls: how each stands, and one field to start another.

import { h, fill, refill, foreign, urlText, say } from '../dom.js';
import { get, isGone, listen, post, query } from '../api.js';
import { asCommand, badge, busy, form, hint, line, loading, problemBox, submitter } from '../widgets.js';
import { STATES, standing, stateOf, isAlive } from '../words.js';
import { ago, bytes, count, decimal } from '../format.js';
import { keepRows } from '../table.js';
import { actions } from '../steer.js';
import { go, viewPath } from '../stage.js';

const SHOWN_MAX = 200;
const LEAD =
  'Give it an address. larm fetches the pages politely, keeps exactly what it saw, makes it searchable, and tells you what became of every link.';

export default function crawls(place, { signal }) {
  const start = quickStart();
  const list = h('ul.plain.crawl-list');
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
      all.length > SHOWN_MAX ? h('p.hint', `The first ${SHOWN_MAX} are shown.`) : null,
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
      if (!signal.aborted) listen('/events', { crawls: show }, signal);
    } catch (error) {
      if (!isGone(error)) fill(rest, problemBox(error, open));
    }
  }
  open();
}

/** One field and Start: large while there is no crawl yet. */
function quickStart() {
  const input = line('Address to crawl', { inputmode: 'url', placeholder: 'https://…', required: true });
  const wrong = h('p.wrong', { role: 'alert' });
  const begin = submitter('Start', 'play');
  const more = h('a', { href: '/new' }, 'Choose more');
  const title = h('h1', { tabindex: '-1', 'data-focus': true }, 'Crawls');
  const lead = h('p.lead', { hidden: true }, LEAD);
  input.addEventListener('input', () => {
    say(wrong, '');
    more.setAttribute('href', `/new${query({ url: input.value.trim() })}`);
  });
  const submit = () =>
    busy(begin, async () => {
      try {
        const crawl = await post('/crawls', { settings: { seeds: [input.value.trim()] }, start: true });
        go(viewPath(crawl.id, 'now'));
      } catch (error) {
        say(wrong, [error.message, error.hint].filter(Boolean).join(' '));
        input.focus();
      }
    });
  const words = hint('Crawls that one host, one request a second, and obeys its robots.txt. ', more, '.');
  const node = h(
    'section.hero',
    title,
    lead,
    form('form.quick', submit, h('div.quick-line', input, begin), wrong, words),
  );
  function welcome(isEmpty) {
    say(title, isEmpty ? 'What shall be crawled?' : 'Crawls');
    lead.hidden = !isEmpty;
    node.classList.toggle('large', isEmpty);
  }
  return { node, welcome };
}

function card(crawl) {
  const state = h('span');
  const words = h('p');
  const numbers = h('dl.numbers');
  const when = h('span.hint');
  const buttons = h('div.row');
  const name = h('a', { href: viewPath(crawl.id, 'now') }, foreign(crawl.name));
  const seeds = h(
    'p.hint.seeds',
    urlText(crawl.seeds[0] ?? crawl.dir),
    crawl.seeds_total > 1 ? ` and ${count(crawl.seeds_total - 1)} more` : null,
  );
  const node = h(
    'li.card.crawl',
    h('div.crawl-title', h('h3', name), state, buttons),
    seeds,
    words,
    h('div.numbers-line', numbers, when),
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
    fill(state, badge(STATES, stateOf(next)));
    refill(buttons, actions(next, update));
    const ended = next.ended && !isAlive(next);
    fill(when, ended ? ['ended ', ago(next.ended)] : next.started ? ['started ', ago(next.started)] : null);
  }
  return { node, update };
}

function facts(crawl) {
  const { counts, rates } = crawl;
  const errors = counts.error_answers ? [['Answers 4xx or 5xx', count(counts.error_answers)]] : [];
  const speed = isAlive(crawl) && rates ? [['Pages a second', decimal(rates.pages_per_second)]] : [];
  return [
    ['Pages', count(counts.fetched)],
    ['Waiting', count(counts.queued)],
    ['Failed', count(counts.failed)],
    ...errors,
    ['Hosts', count(counts.hosts)],
    ['Received', bytes(counts.bytes)],
    ...speed,
  ];
}
