// The graph of the links: pages that matter, hosts and how they link, how deep pages lie.

import { h, fill, foreign, urlText } from '../dom.js';
import { get, post, crawlPath, isGone } from '../api.js';
import { asCommand, busy, button, emptyBox, problemBox, loading, toast, viewHead } from '../widgets.js';
import { table } from '../table.js';
import { ago, count, counted } from '../format.js';
import { hostGraph } from '../network.js';
import { viewPath } from '../stage.js';

const LOOK_AGAIN_MS = 1500;
const LOOKS_MAX = 400;

export default function graph(place, stage) {
  const { id, signal } = stage;
  const path = crawlPath(id, 'graph');
  const body = h('div');
  const make = button('Make it anew', () => build(make), { sign: 'runs' });
  make.hidden = true;
  fill(place, viewHead('Graph', 'Who links to whom, and which pages matter.', make), body, asCommand('GET', path));

  /** Asks for the graph; `wasMade` is when the one shown until now was made. */
  async function look(looks = 0, wasMade = null) {
    try {
      const answer = await get(path, { signal });
      if (looks && answer.made === wasMade && looks < LOOKS_MAX)
        return setTimeout(look, LOOK_AGAIN_MS, looks + 1, wasMade);
      if (looks) toast('The graph is made.');
      make.hidden = false;
      show(answer);
    } catch (error) {
      if (isGone(error)) return;
      if (error.status !== 404)
        return fill(
          body,
          problemBox(error, () => look()),
        );
      if (looks && looks < LOOKS_MAX) return setTimeout(look, LOOK_AGAIN_MS, looks + 1, wasMade);
      fill(body, notYet());
    }
  }
  let made = null;
  function show(answer) {
    made = answer.made;
    fill(body, parts(id, answer));
  }
  function notYet() {
    const first = button('Make the graph', () => build(first), { kind: 'main', sign: 'graph' });
    return [
      emptyBox(
        'graph',
        'There is no graph yet.',
        'It is made from the links found so far; for a large crawl that takes a minute.',
      ),
      h('div', { class: 'row centre' }, first),
    ];
  }
  const build = (pressed) =>
    busy(pressed, async () => {
      await post(path);
      fill(body, loading('Making the graph …'));
      look(1, made);
    });
  look();
}

function parts(id, answer) {
  const stale = answer.stale
    ? h(
        'p',
        { class: 'notice' },
        'The crawl has gone on since this graph was made. Make it anew to see it as it is now.',
      )
    : null;
  const words = `${counted(answer.pages, 'page')}, ${counted(answer.nodes, 'URL')}, ${counted(answer.arcs, 'link')}`;
  return [
    h('p', words, answer.made ? ['; made ', ago(answer.made)] : null, '.'),
    stale,
    h(
      'section',
      { class: 'card' },
      h('h3', 'Hosts'),
      answer.hosts.nodes.length > 1
        ? hostGraph(answer.hosts)
        : h('p', { class: 'hint' }, 'One host alone: there is nothing to draw between hosts.'),
    ),
    h(
      'div',
      { class: 'pair' },
      h(
        'section',
        { class: 'card' },
        h('h3', 'By PageRank'),
        top(id, answer.by_pagerank, 'PageRank', (page) => rank(page.pagerank)),
      ),
      h(
        'section',
        { class: 'card' },
        h('h3', 'By links to them'),
        top(id, answer.by_in_links, 'Links', (page) => count(page.in)),
      ),
    ),
    h('section', { class: 'card' }, h('h3', 'How deep pages lie'), depths(answer.depths)),
  ];
}

const rank = (value) => (value >= 0.001 ? value.toFixed(4) : value.toExponential(1));

function top(id, pages, name, cell) {
  return table(
    `Pages by ${name}`,
    [
      {
        name: 'Page',
        class: 'wide',
        cell: (page) =>
          h(
            'a',
            { href: viewPath(id, 'urls', { show: page.url }) },
            page.title ? foreign(page.title) : urlText(page.url),
            page.title ? h('div', { class: 'hint' }, urlText(page.url)) : null,
          ),
      },
      { name, class: 'n', cell },
    ],
    pages,
  );
}

/** A histogram that is a list: each bar has its words. */
function depths(rows) {
  const most = Math.max(1, ...rows.map(({ pages }) => pages));
  return h(
    'ol',
    { class: 'plain histogram' },
    rows.map(({ depth, pages }) => {
      const bar = h('span', { class: 'fill', 'aria-hidden': 'true' });
      bar.style.setProperty('width', `${Math.max(0.5, (pages / most) * 100)}%`);
      return h(
        'li',
        h('span', depth === 0 ? 'start' : counted(depth, 'hop')),
        h('span', { class: 'track' }, bar),
        h('strong', count(pages)),
      );
    }),
  );
}
