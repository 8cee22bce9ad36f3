// The frame around the views of one crawl: its name, how it stands, what can be done, and the way to its views.
// It holds the one stream of events; views hear of them through `stage.on`.

import { h, fill, icon, refill, say, foreign } from './dom.js';
import { get, listen, crawlPath, isGone } from './api.js';
import { announce, badge, emptyBox, loading, problemBox } from './widgets.js';
import { STATES, standing, stateOf } from './words.js';
import { short } from './format.js';
import { actions } from './steer.js';
import { viewPath } from './stage.js';

const SAY_EVERY_MS = 60_000;

/** The views of a crawl: path, name, and the count that is shown beside it. */
const VIEWS = [
  ['now', 'Now'],
  ['hosts', 'Hosts', (counts) => counts.hosts],
  ['urls', 'URLs', (counts) => counts.urls],
  ['broken', 'Broken'],
  ['redirects', 'Redirects', (counts) => counts.redirects],
  ['skipped', 'Skipped', (counts) => counts.denied + counts.rejected],
  ['search', 'Search'],
  ['graph', 'Graph'],
  ['archive', 'Archive', (counts) => counts.warc_files],
  ['runs', 'Runs'],
  ['settings', 'Settings'],
];

/** Redirects have the view of broken links: both are lists of links that do not lead where they say. */
const MODULES = { redirects: 'broken' };

/** Opens the frame in `main` and `side`. Gives `show(view)` and `close()`. */
export function openCrawl(id, main, side) {
  const ended = new AbortController();
  const events = new EventTarget();
  const place = h('div.view');
  const head = headOf(id);
  const nav = navOf(id);
  let crawl = null;
  let viewEnds = null;

  function update(next) {
    crawl = next;
    head.update(next);
    nav.update(next);
    events.dispatchEvent(new CustomEvent('status', { detail: next }));
  }

  async function start() {
    fill(main, head.node, place);
    fill(side, nav.node);
    document.body.classList.add('has-side');
    fill(place, loading());
    update(await get(crawlPath(id), { signal: ended.signal }));
    const tell = (name) => (detail) => events.dispatchEvent(new CustomEvent(name, { detail }));
    listen(crawlPath(id, 'events'), { status: update, fetches: tell('fetches') }, ended.signal);
  }

  const ready = start();

  async function show(view) {
    viewEnds?.abort();
    const ends = (viewEnds = new AbortController());
    const signal = AbortSignal.any([ended.signal, ends.signal]);
    nav.mark(view);
    try {
      await ready;
      const known = VIEWS.find(([name]) => name === view) ?? VIEWS[0];
      const module = await import(`./views/${MODULES[known[0]] ?? known[0]}.js`);
      if (signal.aborted) return;
      document.title = `${known[1]} · ${crawl.name} · larm`;
      const on = (name, act) => events.addEventListener(name, (event) => act(event.detail), { signal });
      const stage = {
        id,
        view: known[0],
        signal,
        on,
        update,
        crawl: () => crawl,
        params: new URLSearchParams(location.search),
      };
      const node = h('div', { class: `view ${known[0]}` });
      module.default(node, stage);
      fill(place, node);
      nav.mark(known[0]);
    } catch (error) {
      if (!isGone(error)) fill(place, crawl || error.status !== 404 ? problemBox(error, reload) : noCrawl());
    }
  }

  return { show, close: () => ended.abort() };
}

const reload = () => location.reload();

function noCrawl() {
  const way = h('a', { href: '/' }, 'All crawls');
  return emptyBox('search', 'There is no such crawl here.', way);
}

function headOf(id) {
  const name = h('h1', id);
  const state = h('span.state');
  const words = h('p.standing');
  const buttons = h('div.row.actions');
  const node = h('div.crawl-head', h('div.crawl-title', name, state, buttons), words);
  let last = '';
  let saidAt = 0;

  function update(crawl) {
    const sentence = standing(crawl);
    say(words, sentence);
    if (crawl.state !== last) {
      fill(name, foreign(crawl.name));
      fill(state, badge(STATES, stateOf(crawl)));
      refill(buttons, actions(crawl));
    }
    // The numbers change every second; who listens is told when the state changes, and now and then.
    if (crawl.state !== last || Date.now() - saidAt > SAY_EVERY_MS) {
      if (last) announce(sentence);
      saidAt = Date.now();
    }
    last = crawl.state;
  }
  return { node, update };
}

function navOf(id) {
  const links = VIEWS.map(([view, name, counter]) => {
    const number = h('span.number');
    const link = h('a', { href: viewPath(id, view), 'data-view': view }, icon(view), h('span', name), number);
    return { link, number, counter, view };
  });
  const node = h(
    'nav.side',
    { 'aria-label': 'Views of this crawl' },
    links.map(({ link }) => link),
  );
  function update(crawl) {
    for (const { number, counter } of links) {
      const value = counter?.(crawl.counts);
      say(number, value ? short(value) : '');
    }
  }
  function mark(view) {
    for (const { link, view: own } of links) {
      own === view ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
      if (own === view) node.scrollLeft = link.offsetLeft - (node.clientWidth - link.clientWidth) / 2;
    }
  }
  return { node, update, mark };
}
