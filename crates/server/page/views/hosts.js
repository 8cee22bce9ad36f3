// Hosts: what each waits for, until when, and by which rule; pause one, slow it down, block it.

import { h, fill, say, foreign } from '../dom.js';
import { patch, crawlPath } from '../api.js';
import {
  asCommand,
  badge,
  busy,
  button,
  dialog,
  dialogEnd,
  emptyBox,
  field,
  finder,
  form,
  line,
  select,
  submitter,
  toast,
  viewHead,
} from '../widgets.js';
import { browse, keepRows, table } from '../table.js';
import { count, duration, exact } from '../format.js';
import { HOST_STATES, isAlive } from '../words.js';
import { ruleDialog } from '../steer.js';
import { recall, viewPath } from '../stage.js';

const EVERY_MS = 2500;
const LIMIT = 50;

export default function hosts(place, stage) {
  const { params, signal } = stage;
  const filters = recall(params, { q: '', state: '', sort: '-queued' });
  const { list, pages, command, change, refresh } = browse(stage, 'hosts', filters, LIMIT, show);
  const rows = new Map();
  let body = null;
  let wide = [];
  let shape = '';

  const words = 'What each host waits for, and which rule set that time.';
  fill(place, viewHead('Hosts', words), filterBar(filters, change), list, pages.node, command);

  function show(node, { hosts: some }) {
    if (!some.length)
      fill(node, emptyBox('hosts', 'No host here', filters.q || filters.state ? ' fits the filter.' : ' yet.'));
    else if (!body?.isConnected || shape !== shapeNow()) begin(node);
    if (some.length)
      keepRows(
        body,
        rows,
        some,
        ({ host }) => host,
        () => hostRow(wide),
      );
    return some.length;
  }
  const shapeNow = () => `${filters.sort} ${isAlive(stage.crawl())}`;
  function begin(node) {
    rows.clear();
    shape = shapeNow();
    wide = columns(stage, refresh);
    fill(node, table('Hosts', wide, [], { sorted: filters.sort, onSort: (sort) => change({ sort }) }));
    body = node.querySelector('tbody');
  }
  const asking = setInterval(() => isAlive(stage.crawl()) && !document.hidden && refresh(), EVERY_MS);
  const ticking = setInterval(() => rows.forEach(({ tick }) => tick()), 1000);
  signal.addEventListener('abort', () => [asking, ticking].forEach(clearInterval));
  refresh();
}

function filterBar(filters, change) {
  const states = [['', 'Any state'], ...Object.entries(HOST_STATES).map(([key, [word]]) => [key, word])];
  const onchange = () => change({ state: state.value });
  const state = select(states, filters.state, { 'aria-label': 'State', onchange });
  return h(
    'div.row.filters',
    finder('Find a host', filters.q, (q) => change({ q })),
    state,
  );
}

/** `of` is what a cell is made of. */
function columns(stage, refresh) {
  const number = (name, key) => ({
    name,
    of: [key],
    sort: `-${key}`,
    class: 'n',
    cell: (host) => count(host[key]),
  });
  const way = ({ host }) => h('a', { href: viewPath(stage.id, 'urls', { host }) }, foreign(host));
  const steer = { name: 'Steer', of: ['paused', 'delay_ms'], cell: (host) => handles(stage, host, refresh) };
  return [
    { name: 'Host', of: ['host'], sort: 'host', class: 'wide', cell: way },
    { name: 'State', of: ['state'], cell: ({ state }) => badge(HOST_STATES, state) },
    { name: 'What it waits for', of: ['words', 'until'], class: 'wide', cell: waits },
    number('Queued', 'queued'),
    number('Fetched', 'fetched'),
    number('Failed', 'failed'),
    { name: 'Delay', of: ['delay_ms'], class: 'n', cell: (host) => duration(host.delay_ms) },
    ...(isAlive(stage.crawl()) ? [steer] : []),
  ];
}

function waits({ words = '', until, rule }) {
  const by = rule && !words.includes(rule) ? [' ', h('code', rule)] : null;
  const mark = { class: 'countdown', title: exact(until), 'data-until': until };
  return h('span', words, by, until ? [' ', h('strong', mark, left(until))] : null);
}

const left = (until) =>
  until > Date.now() ? `${duration(Math.ceil((until - Date.now()) / 1000) * 1000)} left` : 'now';

/** A row whose cells are written anew only where they changed; its buttons stay under the finger. */
function hostRow(columns) {
  const cells = columns.map((column) => h('td', { role: 'cell', class: column.class, 'data-label': column.name }));
  const node = h('tr', { role: 'row' }, cells);
  let last = {};
  function update(next) {
    columns.forEach((column, n) => {
      const isSame = last.host && column.of.every((key) => last[key] === next[key]);
      if (!isSame) fill(cells[n], column.cell(next));
    });
    last = next;
  }
  const tick = () =>
    node.querySelectorAll('[data-until]').forEach((mark) => say(mark, left(Number(mark.dataset.until))));
  return { node, update, tick };
}

function handles(stage, host, refresh) {
  const name = host.host;
  const path = crawlPath(stage.id, 'hosts', name);
  const handle = (verb, sign, act) => {
    const words = `${verb} ${name}`;
    const node = button('', () => act(node), { kind: 'small sign', sign, title: words, 'aria-label': words });
    return node;
  };
  const pause = (pressed) =>
    busy(pressed, async () => {
      await patch(path, { paused: !host.paused });
      toast(host.paused ? `${name} is asked again.` : `${name} is left alone until you resume it.`);
      refresh();
    });
  return h(
    'div.row.tight',
    handle(host.paused ? 'Resume' : 'Pause', host.paused ? 'play' : 'pause', pause),
    handle('Change the delay of', 'wait', () => delayDialog(path, host).then(refresh)),
    handle('Block', 'skipped', () => ruleDialog(stage.id, { block: name }).then(refresh)),
  );
}

function delayDialog(path, host) {
  const input = line(null, { value: duration(host.delay_ms).replace(' ', '') });
  const hint = 'Such as 500ms, 5s, 1m. robots.txt may ask for more, and gets it.';
  const box = field('Time between an answer and the next request', input, { hint });
  const command = asCommand('PATCH', path, { delay: '5s' });
  const apply = submitter('Apply');
  input.addEventListener('input', () => command.update('PATCH', path, { delay: input.value.trim() }));
  return dialog(`The pause of ${host.host}`, (close) => {
    const send = (delay, pressed) =>
      busy(pressed, async () => {
        try {
          await patch(path, { delay });
          toast(`${host.host} has ${delay ? `its own pause now: ${delay}` : "the crawl's pause again"}.`);
          close(true);
        } catch (error) {
          box.complain(error.message);
        }
      });
    const reset = button("Use the crawl's", () => send(null, reset));
    return form('form', () => send(input.value.trim(), apply), box, command, dialogEnd(close, reset, apply));
  });
}
