// The beginning: the frame around the views, and which view belongs to which address.

import { h, fill, icon, say } from './dom.js';
import { gate, get, post } from './api.js';
import { busy, button, emptyBox, field, loading, problemBox, submitter } from './widgets.js';
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

const out = button(h('span', 'Log out'), logOut, { kind: 'quiet log-out', sign: 'lock', 'aria-label': 'Log out' });
let shown = null; // the view on the stage: {key, close, show?}

function header() {
  const logo = h('img', { src: '/page/logo.svg', alt: '', width: 28, height: 28 });
  const links = Object.entries(PLACES).map(([href, [name]]) => h('a', { href }, name));
  const connection = h('span.connection', { id: 'connection', role: 'status' });
  const own = isPublic ? [connection] : [h('nav', { 'aria-label': 'larm' }, links), connection, out];
  out.hidden = true;
  fill(document.getElementById('top'), h('a.home', { href: '/' }, logo, 'larm'), own, themeButton());
  if (isPublic) return;
  const show = ({ root }) => {
    links[1].hidden = !root;
    out.hidden = false;
  };
  get('/server').then(show, () => {});
}

async function logOut() {
  if (await busy(out, () => post('/logout').then(() => true))) locked('You are logged out');
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
    const node = h('div.view');
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
    h('h1.sr-only', { tabindex: '-1', 'data-focus': true }, 'Not here'),
    emptyBox('search', 'There is nothing at this address.', h('a', { href: '/' }, 'All crawls')),
  );
}

/** The server does not know this browser: asks for the token, whatever was shown. */
function locked(title = 'This browser is not let in yet') {
  if (shown?.key === 'locked') return; // each of several requests may be refused
  leave();
  shown = { key: 'locked', close() {} };
  document.title = 'Locked · larm';
  out.hidden = true;
  const isWrong = location.search === '?wrong-token';
  const input = h('input', { type: 'password', name: 'token', autocomplete: 'off', required: true });
  const box = field('Token', input, { hint: 'A cookie keeps you in from then on, until the server ends.' });
  // The whole address: a path that begins with two slashes would be another host.
  const form = h(
    'form',
    { method: 'get', action: location.origin + location.pathname },
    box,
    submitter('Let me in'),
  );
  box.complain(isWrong ? 'That token is not the right one.' : '');
  if (isWrong) history.replaceState(null, '', '/');
  fill(
    main,
    h(
      'div.lock',
      icon('lock'),
      h('h1', { tabindex: '-1', 'data-focus': !isWrong }, title),
      h('p', 'Open the link that ', h('code', 'larm serve'), ' printed when it started, or type its token here.'),
      form,
      whichToken(),
    ),
  );
  isWrong ? input.focus() : settleFocus();
}

const whichToken = () =>
  h(
    'details',
    h('summary', 'Which token?'),
    h(
      'ul',
      h('li', 'If you gave it one with ', h('code', 'LARM_TOKEN'), ' or ', h('code', '--token'), ': that one.'),
      h(
        'li',
        'If not, it made one. It is the part after ',
        h('code', 'token='),
        ' of the link, and also stands in the file ',
        h('code', '.larm-server/token'),
        ' where the crawls are.',
      ),
      h(
        'li',
        'You find neither? End ',
        h('code', 'larm serve'),
        ' and start it again: it prints the link. The crawls that it started stop meanwhile, with everything kept, and then go on.',
      ),
    ),
  );

/** How the stream to the server is: `live`, `lost` or `idle`. Said aloud only when it changes. */
export function connectionState(state) {
  const node = document.getElementById('connection');
  node.className = `connection ${state}`;
  say(node, { live: 'Live', lost: 'Connection lost, trying again …', idle: '' }[state]);
}

addEventListener('larm:connection', (event) => connectionState(event.detail));
gate.addEventListener('locked', () => locked());
road.addEventListener('move', () => move());
header();
followLinks();
move({ first: true });
