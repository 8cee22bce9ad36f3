// Links that do not lead where they say: broken ones and redirects, each target with the pages that link to it.

import { h, fill, foreign, outLink, urlText, icon, debounce, turns } from '../dom.js';
import { get, crawlPath, query, address, isGone } from '../api.js';
import { asCommand, emptyBox, problemBox, viewHead } from '../widgets.js';
import { pager } from '../table.js';
import { count, counted } from '../format.js';
import { STATUSES, tone, verdict, verdictWords } from '../words.js';
import { remember, viewPath } from '../stage.js';

const LIMIT = 50;

const KINDS = {
  broken: [
    'Broken links',
    'Where links lead to nothing, with the pages that have them.',
    'No broken links',
    ' were found. ',
  ],
  redirects: [
    'Redirects',
    'Where links lead elsewhere, how many hops that takes, and where it ends.',
    'No redirects',
    ' were found. ',
  ],
};

export default function broken(place, stage) {
  const { id, params, signal, view } = stage;
  const [title, words, none, noneWords] = KINDS[view];
  const filters = { q: params.get('q') ?? '' };
  const list = h('div');
  const command = asCommand('GET', crawlPath(id, view));
  const csv = h(
    'a',
    { class: 'button', download: true, href: address(crawlPath(id, `${view}.csv`)) },
    icon('down'),
    'CSV',
  );
  const pages = pager(refresh);
  const turn = turns();
  const find = h('input', {
    type: 'search',
    'aria-label': 'Part of a URL',
    placeholder: 'Part of a URL',
    value: filters.q,
    oninput: debounce(change, 250),
  });

  fill(place, viewHead(title, words, csv), h('div', { class: 'row filters' }, find), list, pages.node, command);

  function change() {
    filters.q = find.value.trim();
    remember(filters);
    pages.reset();
    refresh();
  }
  async function refresh() {
    const path = crawlPath(id, view) + query({ ...filters, limit: LIMIT, after: pages.cursor() });
    command.update('GET', path);
    const isLast = turn();
    try {
      const answer = await get(path, { signal });
      if (!isLast()) return;
      pages.show(answer, answer.groups.length);
      fill(
        list,
        answer.groups.length
          ? answer.groups.map((group) => card(id, view, group))
          : emptyBox('done', none, filters.q ? ' fit the filter.' : noneWords),
      );
    } catch (error) {
      if (isLast() && !isGone(error)) fill(list, problemBox(error, refresh));
    }
  }
  refresh();
}

function card(id, view, group) {
  const row = view === 'redirects' ? { outcome: 'redirected', ...group } : group;
  const target = h('a', { href: viewPath(id, 'urls', { show: group.url }) }, urlText(group.url));
  return h(
    'article',
    { class: 'card group' },
    h(
      'div',
      { class: 'group-head' },
      h('span', { class: `verdict ${tone(row)}`, title: verdictWords(row) }, verdict(row)),
      h('h3', target, outLink(group.url)),
    ),
    view === 'redirects' ? journey(id, group) : h('p', { class: 'reason' }, reason(group)),
    linkedFrom(id, group),
  );
}

const reason = ({ status, reason: told }) =>
  [status && STATUSES[status] ? `${STATUSES[status]}` : null, told].filter(Boolean).join(': ');

function journey(id, { target, final, final_status: status, hops }) {
  const step = (url) => h('a', { href: viewPath(id, 'urls', { show: url }) }, urlText(url));
  const end = status ? ` (${status}${STATUSES[status] ? `, ${STATUSES[status]}` : ''})` : '';
  const further = final && final !== target ? h('p', '→ … → ', step(final), end) : null;
  return h(
    'div',
    { class: 'reason' },
    h('p', '→ ', step(target), further ? '' : end),
    further,
    hops > 1 ? h('p', { class: 'hint' }, counted(hops, 'hop')) : null,
  );
}

function linkedFrom(id, { from, from_total: total }) {
  if (!total) return h('p', { class: 'hint' }, 'No page links to it: a start URL, a sitemap, or another redirect.');
  const rest = total - from.length;
  return h(
    'details',
    h('summary', `Linked from ${counted(total, 'page')}`),
    h(
      'ul',
      { class: 'plain urls-list' },
      from.map(({ url, text }) =>
        h(
          'li',
          h('a', { href: viewPath(id, 'urls', { show: url }) }, urlText(url)),
          text ? [' ', foreign(text, 'q')] : null,
        ),
      ),
    ),
    rest > 0 ? h('p', { class: 'hint' }, `and ${count(rest)} more; the CSV has all`) : null,
  );
}
