// The beginning: the frame around the views, and which view belongs to which address.

import { h, fill, icon, say } from './dom.js';
import { gate, get } from './api.js';
import { button, emptyBox, loading, problemBox } from './widgets.js';
import { followLinks, road } from './stage.js';
import { openCrawl } from './crawl.js';
import { themeButton } from './theme.js';

const main = document.getElementById('main');
const side = document.getElementById('side');
const isPublic = document.querySelector('meta[name="larm-mode"]')?.content === 'public-search';

/** Views that belong to no crawl: address, name in the title, module. */
const PLACES = {
  '/': ['Crawls', () => import('./views/crawls.js')],
  '/new': ['New crawl', () => import('./views/new.js')],
  '/compare': ['Compare', () => import('./views/compare.js')],
};

let shown = null; // the view on the stage: {key, close, show?}

function header() {
  const connection = h('span', { id: 'connection', class: 'connection', role: 'status' });
  const home = h(
    'a',
    { class: 'home', href: '/' },
    h('img', { src: '/page/logo.svg', alt: '', width: 28, height: 28 }),
    'larm',
  );
  const links = [
    ['/', 'Crawls'],
    ['/new', 'New crawl'],
    ['/compare', 'Compare'],
  ];
  const nav = h(
    'nav',
    { 'aria-label': 'larm' },
    links.map(([href, text]) => h('a', { href }, text)),
  );
  fill(document.getElementById('top'), home, isPublic ? null : nav, connection, themeButton());
  if (!isPublic)
    get('/server').then(
      ({ root }) => (nav.children[1].hidden = !root),
      () => {},
    );
}

function markPlace(path) {
  for (const link of document.querySelectorAll('#top nav a')) {
    link.pathname === path ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
  }
}

/** Shows what the address says. Views of one crawl share its frame and its stream. */
async function move({ first = false } = {}) {
  const path = location.pathname;
  markPlace(path);
  const crawl = path.match(/^\/crawls\/([^/]+)(?:\/([a-z]+))?\/?$/);
  if (isPublic) await showPlace('public', ['Search', () => import('./views/search.js')]);
  else if (crawl) await showCrawl(decodeURIComponent(crawl[1]), crawl[2] ?? 'now');
  else await showPlace(path, PLACES[path]);
  if (!first) settleFocus();
}

function settleFocus() {
  scrollTo(0, 0);
  (main.querySelector('[data-focus]') ?? main).focus({ preventScroll: true });
}

async function showCrawl(id, view) {
  if (shown?.key !== `crawl ${id}`) {
    leave();
    shown = { key: `crawl ${id}`, ...openCrawl(id, main, side) };
  }
  await shown.show(view);
}

async function showPlace(key, place) {
  leave();
  const ended = new AbortController();
  shown = { key, close: () => ended.abort() };
  if (!place) return notFound();
  const [title, module] = place;
  document.title = `${title} · larm`;
  fill(main, loading());
  try {
    const view = await module();
    if (ended.signal.aborted) return;
    const node = h('div', { class: 'view' });
    view.default(node, { signal: ended.signal, params: new URLSearchParams(location.search), isPublic });
    fill(main, node);
  } catch (error) {
    fill(
      main,
      problemBox(error, () => location.reload()),
    );
  }
}

function leave() {
  shown?.close();
  shown = null;
  fill(side);
  document.body.classList.remove('has-side');
  connectionState('idle');
}

function notFound() {
  document.title = 'Not here · larm';
  fill(
    main,
    h('h1', { class: 'sr-only', tabindex: '-1', 'data-focus': true }, 'Not here'),
    emptyBox('search', 'There is nothing at this address.', h('a', { href: '/' }, 'All crawls')),
  );
}

/** The server does not know this browser: says how to get in, whatever was shown. */
function locked() {
  leave();
  shown = { key: 'locked', close() {} };
  document.title = 'Locked · larm';
  fill(
    main,
    h(
      'div',
      { class: 'lock' },
      icon('lock'),
      h('h1', { tabindex: '-1', 'data-focus': true }, 'This browser is not let in yet'),
      h(
        'p',
        'When ',
        h('code', 'larm serve'),
        ' starts, it prints a link with a token in it. Open that link once in this browser; after that, a cookie lets you in.',
      ),
      h('pre', h('code', `${location.origin}/?token=…`)),
      h('p', 'The link is gone? Start ', h('code', 'larm serve'), ' again: crawls that run go on meanwhile.'),
      button('Try again', () => location.reload(), { kind: 'main' }),
    ),
  );
  settleFocus();
}

/** How the stream to the server is: `live`, `lost` or `idle`. Said aloud only when it changes. */
export function connectionState(state) {
  const node = document.getElementById('connection');
  node.className = `connection ${state}`;
  say(node, { live: 'Live', lost: 'Connection lost, trying again …', idle: '' }[state]);
}

addEventListener('larm:connection', (event) => connectionState(event.detail));
gate.addEventListener('locked', locked);
road.addEventListener('move', () => move());
header();
followLinks();
move({ first: true });
