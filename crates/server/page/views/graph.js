// The graph of the links: pages that matter, hosts and how they link, how deep pages lie.

import { h, fill, foreign, urlText } from '../dom.js';
import { get, post, crawlPath, isGone } from '../api.js';
import {
  asCommand,
  busy,
  button,
  card,
  emptyBox,
  hint,
  problemBox,
  loading,
  toast,
  viewHead,
} from '../widgets.js';
import { table } from '../table.js';
import { ago, count, counted } from '../format.js';
import { hostGraph } from '../network.js';
import { viewPath } from '../stage.js';

const LOOK_AGAIN_MS = 1500;
const LOOKS_MAX = 400;
const NOT_YET = 'It is made from the links found so far; for a large crawl that takes a minute.';

export default function graph(place, stage) {
  const { id, signal } = stage;
  const path = crawlPath(id, 'graph');
  const body = h('div', loading());
  const anew = button('Make it anew', () => build(anew), { sign: 'runs' });
  const command = asCommand('GET', path);
  let made = null;
  anew.hidden = true;
  fill(place, viewHead('Graph', 'Who links to whom, and which pages matter.', anew), body, command);

  /** Asks for the graph; after `looks` in vain, for one that is not the one shown until now. */
  async function look(looks = 0) {
    const again = () => setTimeout(look, LOOK_AGAIN_MS, looks + 1);
    try {
      const answer = await get(path, { signal });
      if (looks && answer.made === made && looks < LOOKS_MAX) return again();
      if (looks) toast('The graph is made.');
      show(answer);
    } catch (error) {
      if (isGone(error)) return;
      if (error.status !== 404)
        return fill(
          body,
          problemBox(error, () => look()),
        );
      looks && looks < LOOKS_MAX ? again() : notYet();
    }
  }
  function show(answer) {
    made = answer.made;
    anew.hidden = false;
    command.update('GET', path);
    fill(body, parts(id, answer));
  }
  function notYet() {
    const first = button('Make the graph', () => build(first), { kind: 'main', sign: 'graph' });
    command.update('POST', path);
    fill(body, emptyBox('graph', 'There is no graph yet.', NOT_YET), h('div.row.centre', first));
  }
  const build = (pressed) =>
    busy(pressed, async () => {
      await post(path);
      fill(body, loading('Making the graph …'));
      look(1);
    });
  look();
}

function parts(id, { hosts, pages, nodes, arcs, ...answer }) {
  const words = `${counted(pages, 'page')}, ${counted(nodes, 'URL')}, ${counted(arcs, 'link')}`;
  const stale = 'The crawl has gone on since this graph was made. Make it anew to see it as it is now.';
  const alone = hint('One host alone: there is nothing to draw between hosts.');
  return [
    h('p', words, answer.made ? ['; made ', ago(answer.made)] : null, '.'),
    answer.stale ? h('p.notice', stale) : null,
    card('Hosts', hosts.nodes.length > 1 ? hostGraph(hosts) : alone),
    card('How deep pages lie', depths(answer.depths)),
    h(
      'div.pair',
      card(
        'By PageRank',
        top(id, answer.by_pagerank, 'PageRank', (page) => rank(page.pagerank)),
      ),
      card(
        'By links to them',
        top(id, answer.by_in_links, 'Links', (page) => count(page.in)),
      ),
    ),
  ];
}

const rank = (value) => (value >= 0.001 ? value.toFixed(4) : value.toExponential(1));

function top(id, pages, name, cell) {
  const page = ({ url, title }) => {
    const words = title ? [foreign(title), h('div.hint', urlText(url))] : urlText(url);
    return h('a', { href: viewPath(id, 'urls', { show: url }) }, words);
  };
  const columns = [
    { name: 'Page', class: 'wide', cell: page },
    { name, class: 'n', cell },
  ];
  return table(`Pages by ${name}`, columns, pages, { isSmall: true });
}

/** A histogram that is a list: each bar has its words. */
function depths(rows) {
  const most = Math.max(1, ...rows.map(({ pages }) => pages));
  return h(
    'ol.plain.histogram',
    rows.map(({ depth, pages }) => {
      const bar = h('span.fill', { 'aria-hidden': 'true' });
      bar.style.setProperty('width', `${Math.max(0.5, (pages / most) * 100)}%`);
      return h(
        'li',
        h('span', depth === 0 ? 'start' : counted(depth, 'hop')),
        h('span.track', bar),
        h('strong', count(pages)),
      );
    }),
  );
}
