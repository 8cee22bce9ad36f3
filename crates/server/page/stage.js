// Where we are: the address, how to get elsewhere, and the life of the view that is shown.

import { h, urlText } from './dom.js';
import { query } from './api.js';

/** Told whenever the address changes. */
export const road = new EventTarget();

/** Goes to another view of the page. */
export function go(path, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  road.dispatchEvent(new Event('move'));
}

/** Writes what is filtered into the address, so that it can be kept and shared; the view stays. */
export const remember = (values) => history.replaceState(null, '', location.pathname + query(values));

/** What the address says of these filters; where it says nothing, they are as given. */
export const recall = (params, filters) =>
  Object.fromEntries(Object.entries(filters).map(([key, usual]) => [key, params.get(key) || usual]));

/** The address of a view of a crawl. */
export const viewPath = (id, view, values = {}) => `/crawls/${encodeURIComponent(id)}/${view}${query(values)}`;

/** The way to one URL of a crawl in full. */
export const urlLink = (id, url) => h('a', { href: viewPath(id, 'urls', { show: url }) }, urlText(url));

/** Lets plain clicks on our own links change the view instead of loading the page anew. */
export function followLinks() {
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    const isPlain = !['button', 'metaKey', 'ctrlKey', 'shiftKey', 'altKey'].some((key) => event[key]);
    if (!link || event.defaultPrevented || !isPlain) return;
    if (link.target || link.hasAttribute('download') || !isOurs(link)) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
  addEventListener('popstate', () => road.dispatchEvent(new Event('move')));
}

function isOurs(link) {
  const elsewhere = /^\/(api|page|replay|metrics)(\/|$)/;
  return (
    link.origin === location.origin && !elsewhere.test(link.pathname) && !link.getAttribute('href').startsWith('#')
  );
}
