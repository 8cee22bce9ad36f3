// Where we are: the address, how to get elsewhere, and the life of the view that is shown.

/** Told whenever the address changes. */
export const road = new EventTarget();

/** Goes to another view of the page. */
export function go(path, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  road.dispatchEvent(new Event('move'));
}

/** Writes what is filtered into the address, so that it can be kept and shared; the view stays. */
export function remember(values) {
  const filled = Object.entries(values).filter(([, value]) => value);
  const search = filled.length ? `?${new URLSearchParams(filled)}` : '';
  history.replaceState(null, '', location.pathname + search);
}

/** The address of a view of a crawl. */
export const viewPath = (id, view, values = {}) => {
  const filled = Object.entries(values).filter(([, value]) => value);
  return `/crawls/${encodeURIComponent(id)}/${view}${filled.length ? `?${new URLSearchParams(filled)}` : ''}`;
};

/** Lets plain clicks on our own links change the view instead of loading the page anew. */
export function followLinks() {
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    if (
      !link ||
      event.defaultPrevented ||
      event.button ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
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
