// One URL in full: what came of it and why, what was sent and answered, who links to it, where it leads, its text.

import { h, fill, foreign, outLink, told, turns, urlText } from './dom.js';
import { get, crawlPath, query, isGone } from './api.js';
import { asCommand, badge, button, hint, loading, problemBox } from './widgets.js';
import { ago, bytes, count, counted, duration } from './format.js';
import { OUTCOMES, statusText } from './words.js';
import { ruleDialog } from './steer.js';
import { viewPath } from './stage.js';

const TEXT_SHOWN_MAX = 20_000;

const turn = turns();

/** Shows `url` in `place`. `open(url)` goes to another one, `close()` leaves. */
export async function detail(place, stage, url, { open, close }) {
  const path = crawlPath(stage.id, 'url') + query({ url });
  const body = h('div.detail-body', loading());
  const isLast = turn();
  const closer = button('Close', close, { kind: 'small', sign: 'close' });
  fill(place, h('div.detail-head', h('h3', urlText(url), outLink(url)), closer), body);
  try {
    const found = await get(path, { signal: stage.signal });
    if (isLast()) fill(body, parts(found, stage, url, open), asCommand('GET', path));
  } catch (error) {
    const again = () => detail(place, stage, url, { open, close });
    if (!isGone(error) && isLast()) fill(body, problemBox(error, again));
  }
}

function parts(found, stage, url, open) {
  const { row, notes = [], text } = found;
  const copy = viewPath(stage.id, 'archive', { url, at: row?.at });
  return [
    row?.title ? h('p.page-title', foreign(row.title)) : null,
    row ? facts(row, found.facts, open) : null,
    h(
      'div.row',
      found.archived ? h('a.button', { href: copy }, 'Archived copy') : null,
      button('Leave out its like …', () => ruleDialog(stage.id, { exclude: patternOf(url) })),
    ),
    why(found.why),
    links('Links to it', found.in, open),
    links('Links on it', found.out, open),
    message('Answer', found.response),
    message('Request', found.request),
    notes.length
      ? part(
          'Notes',
          h(
            'ul',
            notes.map((note) => h('li', plain(note))),
          ),
        )
      : null,
    text ? part('Text', h('div.page-text', { dir: 'auto', tabindex: '0' }, text.slice(0, TEXT_SHOWN_MAX))) : null,
  ];
}

const plain = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** A way to another URL, in the same place. */
const step = (url, open) => h('button.plain-button', { type: 'button', onclick: () => open(url) }, urlText(url));

const part = (title, ...children) => h('details.part', h('summary', title), children);

function facts(row, more, open) {
  const rows = [
    ['Outcome', badge(OUTCOMES, row.outcome)],
    ['Status', row.status && statusText(row.status)],
    ['Reason', row.reason],
    ['Leads to', row.redirect && step(row.redirect, open)],
    ['Same bytes as', row.same_as && step(row.same_as, open)],
    ['Nearly the same as', row.near && step(row.near, open)],
    ['Type', row.type],
    ['Size', Number.isFinite(row.bytes) && `${bytes(row.bytes)} in ${duration(row.ms)}`],
    ['When', ago(row.at)],
    ['Depth', row.depth ? counted(row.depth, 'hop') : 'a start URL'],
    ['Found', row.from ? [`${row.via ?? 'link'} on `, step(row.from, open)] : row.via],
    ['Tries', row.tries > 1 && count(row.tries)],
    ...Object.entries(more ?? {}).map(([name, value]) => [name, plain(value)]),
  ];
  return h(
    'dl.facts-list',
    rows.filter(([, value]) => value).map(([name, value]) => [h('dt', name), h('dd', value)]),
  );
}

/** Why it came out so, in the server's words; the line of robots.txt where they do not have it. */
function why(found) {
  if (!found) return null;
  const { robots, words = [] } = found;
  const rule = robots?.rule && !words.some((text) => text.includes(robots.rule));
  const line = robots?.line ? `line ${robots.line}: ` : '';
  return h(
    'section.why',
    h('h4', 'Why'),
    words.map((text) => h('p', told(text))),
    rule ? h('p', 'In robots.txt, ', line, h('code', robots.rule)) : null,
  );
}

function links(title, found, open) {
  if (!found) return null;
  const items = found.links.map((link) =>
    h(
      'li',
      step(link.url, open),
      link.text ? [' ', foreign(link.text, 'q')] : null,
      link.verdict ? h('span.hint', ` ${link.verdict}`) : null,
    ),
  );
  const rest = found.total - found.links.length;
  return part(
    `${title}: ${found.partial ? 'at least ' : ''}${count(found.total)}`,
    h('ul.plain.urls-list', items),
    rest > 0 ? hint(`and ${count(rest)} more`) : null,
  );
}

function message(title, sent) {
  if (!sent) return null;
  const lines = sent.headers.map(([name, value]) => h('div', h('span.header-name', `${name}: `), value));
  return part(`${title}: ${sent.line}`, h('div.headers.mono', { dir: 'ltr' }, h('div', sent.line), lines));
}

/** A pattern for URLs like this one: its directory. */
function patternOf(url) {
  try {
    const { pathname } = new URL(url);
    const directory = pathname.slice(0, pathname.lastIndexOf('/') + 1);
    return (directory.length > 1 ? directory : pathname).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  } catch {
    return '';
  }
}
