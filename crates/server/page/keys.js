// The settings of a crawl by key: what kind of value each takes, what it means in a few words, and the form for those
// that can be changed while it runs.

import { patch } from './api.js';
import { asCommand, busy, field, form, line, submitter, toast } from './widgets.js';
import { settingText } from './words.js';

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

/** Settings that have fields of their own, or that nobody types. */
const OTHERS = {
  seeds: 'Where it begins',
  scope: 'How far around each seed: host, domain, subdomains, prefix, any',
  filters: 'What each link has to pass, in this order',
  'public-only': 'Ask no private addresses, and none of this machine',
  contact: 'Your address for webmasters',
  delay: 'Pause between two requests to a host',
  rate: 'Requests a second, over all hosts',
  'max-time': 'Stop after this time',
  'max-size': 'Stop after this much was received',
  block: 'A file of hosts to leave alone',
  'allow-target': 'Ask these hosts and no others',
};

/** Changes that are called otherwise than settings, or mean something else there. */
const CHANGES = {
  exclude: 'Follow no URL that matches this pattern',
  unexclude: 'This pattern of larm.toml excludes nothing any more',
  block: 'This host is left alone, with everything below it',
  unblock: 'This host is left alone no longer',
  'host-delay': 'Pause between two requests to this host',
  'host-pause': 'Nothing is asked of this host for now',
  'host-resume': 'This host is asked again',
};

/** What a setting means. */
export const meaning = (key) => SETTINGS[key]?.[1] ?? OTHERS[key] ?? '';

/** What a change means. */
export const meaningOfChange = (key) => CHANGES[key] ?? meaning(key);

/** Settings that a running crawl takes at once, with what they take. */
export const LIVE = {
  delay: ['Pause per host', 'between two requests: 500ms, 2s, 1m'],
  rate: ['Requests a second', 'over all hosts: a number, or none'],
  concurrency: ['Fetches at a time', 'over all hosts: a number, or auto'],
  'max-pages': ['Pages at most', 'over all runs: a number, or none'],
  'host-budget': ['Budget of a host', 'pages until it shows something new, or off'],
  'site-budget': ['Budget of a site', 'the same for all its hosts, or off'],
  'pattern-budget': ['Budget of a pattern', 'pages with nothing new until their like wait, or off'],
};

/** What was typed as the value that larm.toml would have. What fits no kind stays text: the server says why not. */
export function readSetting(key, text) {
  const kind = SETTINGS[key]?.[0] ?? 'text';
  if (kind === 'list') return isPattern(key) ? [text] : parts(text, ',');
  if (kind === 'yes' && /^(true|yes|on|false|no|off)$/i.test(text)) return /^(true|yes|on)$/i.test(text);
  if (kind === 'number' && /^[\d_, ]+$/.test(text)) return Number(text.replace(/[_, ]/g, ''));
  if (key === 'concurrency' && /^\d+$/.test(text)) return Number(text);
  return text;
}

/** What stands between separators, without the space around it. */
export const parts = (text, separator) =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean);

/** A comma may be part of these. */
const isPattern = (key) => ['include', 'exclude', 'header', 'place'].includes(key);

/**
 * The form for some of the LIVE settings of the crawl whose settings are at `path`. `take(answer)` puts in how they
 * are now; `done(answer)` hears of a change.
 */
export function liveForm(path, keys, done) {
  const boxes = keys.map((key) => field(LIVE[key][0], line(null), { hint: LIVE[key][1], key }));
  const command = asCommand('PATCH', path, { delay: '2s' });
  const apply = submitter('Apply');

  /** A field that was emptied takes its setting back: it is then what it is when nobody sets it. */
  function body() {
    const changed = boxes.filter(({ input }) => input.value.trim() !== input.defaultValue);
    const typed = (box) => box.input.value.trim().replaceAll(',', '') || null;
    return Object.fromEntries(changed.map((box) => [box.dataset.key, typed(box)]));
  }
  /** What is in force. What somebody has begun to type while it was on its way stays. */
  function take({ in_force: now }) {
    for (const { input, dataset } of boxes) {
      const isTyped = input.value !== input.defaultValue;
      input.defaultValue = settingText(now[dataset.key]);
      if (!isTyped) input.value = input.defaultValue;
    }
  }
  function complain(error) {
    const box = boxes.find(({ dataset }) => dataset.key === error.key);
    if (!box) return toast(error.message, 'bad');
    box.complain(error.message);
    box.input.focus();
  }
  async function send() {
    boxes.forEach((box) => box.complain());
    if (!Object.keys(body()).length) return toast('Nothing was changed.');
    const change = () => patch(path, body()).catch(complain);
    const answer = await busy(apply, change);
    if (!answer) return;
    for (const { input } of boxes) input.value = input.defaultValue;
    take(answer);
    toast('The change is made.');
    done?.(answer);
  }
  const oninput = () => command.update('PATCH', path, body());
  return { node: [form('form.pace', send, { oninput }, boxes, apply), command], take };
}
