// One URL in full: what came of it and why, what was sent and answered, who links to it, where it leads, its text.

import { h, fill, foreign, outLink, urlText } from './dom.js';
import { get, crawlPath, query, isGone } from './api.js';
import { asCommand, badge, button, loading, problemBox } from './widgets.js';
import { ago, bytes, count, counted, duration } from './format.js';
import { OUTCOMES, STATUSES } from './words.js';
import { ruleDialog } from './steer.js';
import { viewPath } from './stage.js';

const TEXT_SHOWN_MAX = 20_000;

/** Shows `url` in `place`. `open(url)` goes to another one, `close()` leaves. */
export async function detail(place, stage, url, { open, close }) {
  const path = crawlPath(stage.id, 'url') + query({ url });
  const turn = (place.dataset.turn = String(Number(place.dataset.turn ?? 0) + 1));
  fill(place, head(url, close), loading());
  try {
    const found = await get(path, { signal: stage.signal });
    if (place.dataset.turn !== turn) return;
    fill(place, head(url, close), parts(found, stage, url, open), asCommand('GET', path));
  } catch (error) {
    if (!isGone(error) && place.dataset.turn === turn)
      fill(
        place,
        head(url, close),
        problemBox(error, () => detail(place, stage, url, { open, close })),
      );
  }
}

const head = (url, close) =>
  h(
    'div',
    { class: 'detail-head' },
    h('h3', urlText(url), outLink(url)),
    button('Close', close, { kind: 'small', sign: 'close' }),
  );

function parts(found, stage, url, open) {
  const { row } = found;
  return [
    row?.title ? h('p', { class: 'page-title' }, foreign(row.title)) : null,
    row ? facts(row, found.facts, open) : null,
    h(
      'div',
      { class: 'row' },
      found.archived
        ? h('a', { class: 'button', href: viewPath(stage.id, 'archive', { url, at: row?.at }) }, 'Archived copy')
        : null,
      button('Leave out its like …', () => ruleDialog(stage.id, { exclude: patternOf(url) })),
    ),
    why(found.why),
    links('Links to it', found.in, open),
    links('Links on it', found.out, open),
    message('Answer', found.response),
    message('Request', found.request),
    found.notes?.length
      ? part(
          'Notes',
          h(
            'ul',
            found.notes.map((note) => h('li', typeof note === 'string' ? note : JSON.stringify(note))),
          ),
        )
      : null,
    found.text
      ? part('Text', h('div', { class: 'page-text', dir: 'auto' }, found.text.slice(0, TEXT_SHOWN_MAX)))
      : null,
  ];
}

const part = (title, ...children) => h('details', { class: 'part' }, h('summary', title), children);

function facts(row, more, open) {
  const link = (to) => h('button', { type: 'button', class: 'plain-button', onclick: () => open(to) }, urlText(to));
  const status = row.status ? `${row.status}${STATUSES[row.status] ? ` (${STATUSES[row.status]})` : ''}` : null;
  const rows = [
    ['Outcome', badge(OUTCOMES, row.outcome)],
    ['Status', status],
    ['Reason', row.reason],
    ['Leads to', row.redirect && link(row.redirect)],
    ['Same bytes as', row.same_as && link(row.same_as)],
    ['Nearly the same as', row.near && link(row.near)],
    ['Type', row.type],
    ['Size', row.bytes !== undefined && row.bytes !== null ? `${bytes(row.bytes)} in ${duration(row.ms)}` : null],
    ['When', ago(row.at)],
    ['Depth', row.depth ? counted(row.depth, 'hop') : 'a start URL'],
    ['Found', row.from ? [`${row.via ?? 'link'} on `, link(row.from)] : row.via],
    ['Tries', row.tries > 1 ? count(row.tries) : null],
    ...Object.entries(more ?? {}).map(([name, value]) => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  ];
  return h(
    'dl',
    { class: 'facts-list' },
    rows.filter(([, value]) => value).map(([name, value]) => [h('dt', name), h('dd', value)]),
  );
}

function why(found) {
  if (!found) return null;
  const { robots, words = [] } = found;
  const line = robots?.line ? ` Line ${robots.line}` : '';
  const verdict = robots
    ? h(
        'p',
        robots.allowed ? 'robots.txt lets us in.' : 'robots.txt says no.',
        robots.rule ? [`${line ? `${line}: ` : ' '}`, h('code', robots.rule)] : null,
      )
    : null;
  return h(
    'section',
    { class: 'why' },
    h('h4', 'Why'),
    words.map((text) => h('p', text)),
    verdict,
  );
}

function links(title, found, open) {
  if (!found) return null;
  const items = found.links.map((link) =>
    h(
      'li',
      h('button', { type: 'button', class: 'plain-button', onclick: () => open(link.url) }, urlText(link.url)),
      link.text ? [' ', foreign(link.text, 'q')] : null,
      link.verdict ? h('span', { class: 'hint' }, ` ${link.verdict}`) : null,
    ),
  );
  const rest = found.total - found.links.length;
  return part(
    `${title}: ${found.partial ? 'at least ' : ''}${count(found.total)}`,
    h('ul', { class: 'plain urls-list' }, items),
    rest > 0 ? h('p', { class: 'hint' }, `and ${count(rest)} more`) : null,
  );
}

function message(title, sent) {
  if (!sent) return null;
  const lines = sent.headers.map(([name, value]) =>
    h('div', h('span', { class: 'header-name' }, `${name}: `), value),
  );
  return part(
    `${title}: ${sent.line}`,
    h('div', { class: 'headers mono', dir: 'ltr' }, h('div', sent.line), lines),
  );
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
