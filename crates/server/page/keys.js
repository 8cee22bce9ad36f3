// The settings of a crawl by key: what kind of value each takes, and what it means in a few words.

/** `key: [kind, words]`; kinds are text, number, list and yes (yes or no). */
export const SETTINGS = {
  'restrict-to': ['text', 'Follow only URLs that match this one pattern'],
  include: ['list', 'Follow only URLs that match one of these patterns'],
  exclude: ['list', 'Follow no URL that matches one of these patterns'],
  accept: ['list', 'Keep only these content types'],
  depth: ['number', 'Hops from a seed'],
  'max-pages': ['number', 'Stop after this many pages, over all runs'],
  'max-page-size': ['text', 'Cut larger pages at this size, such as 20MB'],
  'per-host': ['number', 'At most this many pages of each host'],
  'host-budget': ['text', 'Pages of a host before it has shown new text, or off'],
  'site-budget': ['text', 'The same for all hosts of a site, or off'],
  'pattern-budget': ['text', 'Pages with nothing new after which their like wait, or off'],
  concurrency: ['text', 'Fetches at a time, or auto'],
  threads: ['number', 'Threads to fetch and parse with'],
  sitemap: ['list', 'Begin with the URLs of these sitemaps'],
  'no-sitemap': ['yes', 'Do not look for /sitemap.xml'],
  'no-pdf': ['yes', 'Keep PDFs without reading them'],
  assets: ['yes', 'Fetch what pages embed'],
  order: ['text', 'Which waiting page comes next: breadth, pagerank, opic, …'],
  query: ['text', 'Look for pages about this, the likeliest links first'],
  like: ['list', 'Look for pages like these'],
  unlike: ['list', 'And not like these'],
  place: ['list', 'For orders by location: RE=POINTS'],
  duplicates: ['text', 'What to do about pages that are there already'],
  'path-ascending': ['yes', 'For /a/b/page.html also ask for /a/b/, /a/ and /'],
  'drop-params': ['list', 'Query parameters to drop from URLs'],
  'sort-query': ['yes', 'Sort the parameters of queries'],
  'user-agent': ['text', 'Another user agent'],
  header: ['list', 'Send these headers, NAME: VALUE'],
  cookies: ['yes', 'Keep cookies, and send them back'],
  proxy: ['text', 'Ask by way of a proxy'],
  'no-proxy': ['text', 'Names and networks that are asked without the proxy'],
  http2: ['yes', 'Speak HTTP/2 with servers that know it'],
  'respect-signals': ['list', 'Keep nothing whose owner reserves these uses: search, ai-input, ai-train, tdm'],
  tdmrep: ['yes', 'Ask each site for its tdmrep.json, too'],
  'no-probe': ['yes', 'Do not ask for a path that cannot be there'],
  'ignore-robots': ['yes', 'Fetch what robots.txt forbids; for your own sites'],
  'i-own-this-site': ['yes', 'You may treat these sites as you like'],
  'allow-private': ['list', 'Let pages lead into these private networks'],
  resolve: ['list', 'HOST:PORT:ADDR in place of DNS'],
  insecure: ['yes', 'Accept any TLS certificate; for your own machines'],
  warc: ['text', 'How to keep pages: gzip or none'],
  'page-text': ['yes', 'Put the text of each page into the list of pages'],
  'no-links': ['yes', 'Leave out the log of links'],
  'no-index': ['yes', 'Keep no search index'],
  limit: ['list', 'NAME=VALUE of one of the limits'],
};

/** Settings that a running crawl takes at once, with what they take. */
export const LIVE = {
  delay: ['Pause per host', 'between two requests: 500ms, 2s, 1m'],
  rate: ['Requests a second', 'over all hosts: a number, or none'],
  concurrency: ['Fetches at a time', 'over all hosts: a number, or auto'],
  'max-pages': ['Pages at most', 'over all runs: a number'],
  'host-budget': ['Budget of a host', 'pages until it shows something new, or off'],
  'site-budget': ['Budget of a site', 'the same for all its hosts, or off'],
  'pattern-budget': ['Budget of a pattern', 'pages with nothing new until their like wait, or off'],
};

/** What was typed as the value that larm.toml would have. What fits no kind stays text: the server says why not. */
export function readSetting(key, text) {
  const kind = SETTINGS[key]?.[0] ?? 'text';
  if (kind === 'list')
    return isPattern(key)
      ? [text]
      : text
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean);
  if (kind === 'yes' && /^(true|yes|on|false|no|off)$/i.test(text)) return /^(true|yes|on)$/i.test(text);
  if (kind === 'number' && /^[\d_, ]+$/.test(text)) return Number(text.replace(/[_, ]/g, ''));
  if (key === 'concurrency' && /^\d+$/.test(text)) return Number(text);
  return text;
}

/** A comma may be part of these. */
const isPattern = (key) => ['include', 'exclude', 'header', 'place'].includes(key);
