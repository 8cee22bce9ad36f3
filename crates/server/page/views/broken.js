// Links that do not lead where they say: broken ones and redirects, each target with the pages that link to it.

import { h, fill, foreign, outLink } from '../dom.js';
import { crawlPath } from '../api.js';
import { csvLink, emptyBox, finder, hint, verdictSign, viewHead } from '../widgets.js';
import { browse } from '../table.js';
import { count, counted } from '../format.js';
import { STATUSES, statusText } from '../words.js';
import { recall, urlLink } from '../stage.js';

const LIMIT = 50;

const KINDS = {
  broken: ['Broken links', 'Where links lead to nothing, with the pages that have them.', 'No broken links'],
  redirects: [
    'Redirects',
    'Where links lead elsewhere, how many hops that takes, and where it ends.',
    'No redirects',
  ],
};

export default function broken(place, stage) {
  const { id, params, view } = stage;
  const [title, words, none] = KINDS[view];
  const filters = recall(params, { q: '' });
  const { list, pages, command, change, refresh } = browse(stage, view, filters, LIMIT, show);
  const find = finder('Part of a URL', filters.q, (q) => change({ q }));
  const csv = csvLink(crawlPath(id, `${view}.csv`));
  fill(place, viewHead(title, words, csv), h('div.row.filters', find), list, pages.node, command);

  function show(node, { groups }) {
    const nothing = emptyBox('done', none, filters.q ? ' fit the filter.' : ' were found.');
    fill(node, groups.length ? groups.map((group) => target(id, view, group)) : nothing);
    return groups.length;
  }
  refresh();
}

function target(id, view, group) {
  const isRedirect = view === 'redirects';
  return h(
    'article.card.group',
    h(
      'div.group-head',
      verdictSign(isRedirect ? { outcome: 'redirected', ...group } : group),
      h('h3', urlLink(id, group.url), outLink(group.url)),
    ),
    isRedirect ? journey(id, group) : h('p.reason', reason(group)),
    linkedFrom(id, group),
  );
}

/** The server's words, unless they only repeat the status. */
const reason = ({ status, reason: told }) =>
  [STATUSES[status], told?.includes(String(status)) && STATUSES[status] ? null : told].filter(Boolean).join(': ');

function journey(id, { target: next, final, final_status: status, hops }) {
  const end = status ? `: ${statusText(status)}` : '';
  const further = final && final !== next ? h('p', '→ … → ', urlLink(id, final), end) : null;
  return h(
    'div.reason',
    h('p', '→ ', urlLink(id, next), further ? '' : end),
    further,
    hops > 1 ? hint(counted(hops, 'hop')) : null,
  );
}

function linkedFrom(id, { from, from_total: total }) {
  if (!total) return hint('No page links to it: a start URL, a sitemap, or another redirect.');
  const rest = total - from.length;
  const items = from.map(({ url, text }) => h('li', urlLink(id, url), text ? [' ', foreign(text, 'q')] : null));
  return h(
    'details',
    h('summary', `Linked from ${counted(total, 'page')}`),
    h('ul.plain.urls-list', items),
    rest > 0 ? hint(`and ${count(rest)} more; the CSV has all`) : null,
  );
}
