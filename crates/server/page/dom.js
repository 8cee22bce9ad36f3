// Building elements, and nothing but elements: text goes in as text, never as markup.
// No other module writes HTML; there is no function here that could.

const SVG = 'http://www.w3.org/2000/svg';
const PROPERTIES = new Set(['value', 'checked', 'selected', 'disabled', 'open', 'hidden']);

/**
 * An HTML element: `div.card` for its tag and classes, properties, if any, then children. `on…` properties are
 * listeners; null, undefined and false are left out.
 */
export function h(name, ...rest) {
  const [tag, ...classes] = name.split('.');
  return dress(document.createElement(tag), classes, rest);
}

/** The same for SVG. */
export function s(name, ...rest) {
  const [tag, ...classes] = name.split('.');
  return dress(document.createElementNS(SVG, tag), classes, rest);
}

function dress(node, classes, rest) {
  if (classes.length) node.setAttribute('class', classes.join(' '));
  const properties = Object.getPrototypeOf(rest[0] ?? '') === Object.prototype ? rest.shift() : {};
  for (const [name, value] of Object.entries(properties)) set(node, name, value);
  add(node, rest);
  return node;
}

function set(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
  else if (PROPERTIES.has(name)) node[name] = value;
  else node.setAttribute(name, value === true ? '' : value);
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
}

/** Replaces what is in `node`. */
export function fill(node, ...children) {
  node.replaceChildren();
  add(node, children);
  return node;
}

/** The same for a group of buttons: if one of them had the focus, the first of the new ones has it. */
export function refill(node, ...children) {
  const hadFocus = node.contains(document.activeElement);
  fill(node, ...children);
  if (hadFocus) node.querySelector('button')?.focus();
  return node;
}

/** Changes the text of `node` only if it differs, so that nothing is drawn or read out for nothing. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** One of the icons of icons.svg; for eyes only. */
export function icon(name) {
  return s('svg', { class: 'icon', 'aria-hidden': 'true' }, s('use', { href: `/page/icons.svg#${name}` }));
}

/** A URL as an address that may be opened: http and https alone. Null for everything else. */
export function openable(url) {
  try {
    const parsed = new URL(url);
    return parsed.protocol === 'http:' || parsed.protocol === 'https:' ? parsed.href : null;
  } catch {
    return null;
  }
}

/** A URL of the crawl as text that can break anywhere and cannot turn what is around it. */
export function urlText(url) {
  return h('bdi', { class: 'url', dir: 'ltr', title: url }, url);
}

/** A way out to the live web, where the URL is one of it. */
export function outLink(url) {
  const href = openable(url);
  if (!href) return null;
  const label = `Open ${url} on the live web`;
  const safe = { target: '_blank', rel: 'noopener noreferrer' };
  return h('a', { class: 'out', href, title: 'Open on the live web', 'aria-label': label, ...safe }, icon('out'));
}

/** Words of the crawled web: their direction is their own. */
export function foreign(text, tag = 'bdi') {
  return h(tag, { dir: 'auto' }, text);
}

/** Words of the server: what stands between backticks is code. */
export const told = (text) => text.split('`').map((part, n) => (n % 2 ? h('code', part) : part));

/** Calls `act` once it was asked for no more for `ms`. */
export function debounce(act, ms) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), ms);
  };
}

/** For answers that may come out of order: each call takes a turn, and gives a test whether it is still the last. */
export function turns() {
  let last = 0;
  return () => {
    const mine = ++last;
    return () => mine === last;
  };
}

let ids = 0;
/** An id that no other element has. */
export const freshId = (name) => `${name}-${++ids}`;
