// Hosts: what each waits for, until when, and by which rule; pause one, slow it down, block it.

import { h, fill, say, debounce, foreign, turns } from '../dom.js';
import { get, patch, crawlPath, query, isGone } from '../api.js';
import {
  asCommand,
  badge,
  busy,
  button,
  dialog,
  field,
  emptyBox,
  problemBox,
  select,
  toast,
  viewHead,
} from '../widgets.js';
import { keepRows, pager, table } from '../table.js';
import { count, duration, exact } from '../format.js';
import { HOST_STATES, isAlive } from '../words.js';
import { ruleDialog } from '../steer.js';
import { remember, viewPath } from '../stage.js';

const EVERY_MS = 2500;
const LIMIT = 50;

export default function hosts(place, stage) {
  const { id, params, signal } = stage;
  const filters = {
    q: params.get('q') ?? '',
    state: params.get('state') ?? '',
    sort: params.get('sort') ?? '-queued',
  };
  const list = h('div');
  const command = asCommand('GET', crawlPath(id, 'hosts'));
  const pages = pager(() => refresh());
  const rows = new Map();
  const wide = columns(stage, () => refresh());
  const turn = turns();
  let body = null;
  let timer = 0;

  const change = (values) => {
    Object.assign(filters, values);
    remember(filters);
    pages.reset();
    body = null;
    refresh();
  };
  fill(
    place,
    viewHead('Hosts', 'What each host waits for, and which rule set that time.'),
    filterBar(filters, change),
    list,
    pages.node,
    command,
  );

  async function refresh() {
    clearTimeout(timer);
    const path = crawlPath(id, 'hosts') + query({ ...filters, limit: LIMIT, after: pages.cursor() });
    command.update('GET', path);
    const isLast = turn();
    try {
      const answer = await get(path, { signal });
      if (!isLast()) return;
      show(answer);
    } catch (error) {
      if (isGone(error) || !isLast()) return;
      body = null;
      fill(list, problemBox(error, refresh));
    }
    if (!signal.aborted && isAlive(stage.crawl())) timer = setTimeout(refresh, EVERY_MS);
  }
  function show(answer) {
    pages.show(answer, answer.hosts.length);
    if (!answer.hosts.length) {
      body = null;
      return fill(
        list,
        emptyBox('hosts', 'No host here', filters.q || filters.state ? ' fits the filter.' : ' yet.'),
      );
    }
    if (!body) {
      rows.clear();
      fill(list, table('Hosts', wide, [], { sorted: filters.sort, onSort: (sort) => change({ sort }) }));
      body = list.querySelector('tbody');
    }
    keepRows(
      body,
      rows,
      answer.hosts,
      (host) => host.host,
      (host) => hostRow(wide, host),
    );
  }
  const ticking = setInterval(() => rows.forEach(({ tick }) => tick()), 1000);
  signal.addEventListener('abort', () => {
    clearInterval(ticking);
    clearTimeout(timer);
  });
  refresh();
}

function filterBar(filters, change) {
  const label = 'Find a host';
  const find = h('input', { type: 'search', 'aria-label': label, placeholder: label, value: filters.q });
  find.addEventListener(
    'input',
    debounce(() => change({ q: find.value.trim() }), 250),
  );
  const states = [['', 'Any state'], ...Object.entries(HOST_STATES).map(([key, [word]]) => [key, word])];
  const onchange = () => change({ state: state.value });
  const state = select(states, filters.state, { 'aria-label': 'State', onchange });
  return h('div', { class: 'row filters' }, find, state);
}

function columns(stage, refresh) {
  return [
    {
      name: 'Host',
      sort: 'host',
      class: 'wide',
      cell: ({ host }) => h('a', { href: viewPath(stage.id, 'urls', { host }) }, foreign(host)),
    },
    { name: 'State', cell: ({ state }) => badge(HOST_STATES, state) },
    { name: 'What it waits for', class: 'wide', cell: waits },
    { name: 'Queued', sort: '-queued', class: 'n', cell: ({ queued }) => count(queued) },
    { name: 'Fetched', sort: '-fetched', class: 'n', cell: ({ fetched }) => count(fetched) },
    { name: 'Failed', sort: '-failed', class: 'n', cell: ({ failed }) => count(failed) },
    { name: 'Delay', class: 'n', cell: ({ delay_ms: delay }) => duration(delay) },
    { name: 'Steer', cell: (host) => (isAlive(stage.crawl()) ? handles(stage, host, refresh) : '–') },
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
function hostRow(columns, host) {
  const cells = columns.map((column) => h('td', { role: 'cell', class: column.class, 'data-label': column.name }));
  const node = h('tr', { role: 'row' }, cells);
  const parts = [
    ['host'],
    ['state'],
    ['words', 'until'],
    ['queued'],
    ['fetched'],
    ['failed'],
    ['delay_ms'],
    ['paused', 'delay_ms'],
  ];
  let last = {};
  function update(next) {
    columns.forEach((column, n) => {
      const isSame = last.host && parts[n].every((key) => last[key] === next[key]);
      if (!isSame) fill(cells[n], column.cell(next));
    });
    last = next;
  }
  const tick = () =>
    node.querySelectorAll('[data-until]').forEach((mark) => say(mark, left(Number(mark.dataset.until))));
  update(host);
  return { node, update, tick };
}

function handles(stage, host, refresh) {
  const path = crawlPath(stage.id, 'hosts', host.host);
  const named = (verb, sign) => ({
    kind: 'small sign',
    sign,
    title: `${verb} ${host.host}`,
    'aria-label': `${verb} ${host.host}`,
  });
  const verb = host.paused ? 'Resume' : 'Pause';
  const pause = button(
    '',
    () =>
      busy(pause, async () => {
        await patch(path, { paused: !host.paused });
        toast(host.paused ? `${host.host} is asked again.` : `${host.host} is left alone until you resume it.`);
        refresh();
      }),
    named(verb, host.paused ? 'play' : 'pause'),
  );
  const slow = button('', () => delayDialog(path, host).then(refresh), named('Change the delay of', 'wait'));
  const block = button(
    '',
    () => ruleDialog(stage.id, { block: host.host }).then(refresh),
    named('Block', 'skipped'),
  );
  return h('div', { class: 'row tight' }, pause, slow, block);
}

function delayDialog(path, host) {
  return dialog(`The pause of ${host.host}`, (close) => {
    const box = field(
      'Time between an answer and the next request',
      h('input', { type: 'text', value: duration(host.delay_ms).replace(' ', ''), autocomplete: 'off' }),
      { hint: 'Such as 500ms, 5s, 1m. robots.txt may ask for more, and gets it.' },
    );
    const command = asCommand('PATCH', path, { delay: '5s' });
    const send = (delay, pressed) =>
      busy(pressed, async () => {
        try {
          await patch(path, { delay });
          toast(
            delay ? `${host.host} has its own pause now: ${delay}.` : `${host.host} has the crawl's pause again.`,
          );
          close(true);
        } catch (error) {
          box.complain(error.message);
        }
      });
    const apply = h('button', { type: 'submit', class: 'main' }, 'Apply');
    const reset = button("Use the crawl's", () => send(null, reset));
    box.input.addEventListener('input', () => command.update('PATCH', path, { delay: box.input.value.trim() }));
    return h(
      'form',
      {
        onsubmit: (event) => {
          event.preventDefault();
          send(box.input.value.trim(), apply);
        },
      },
      box,
      command,
      h(
        'div',
        { class: 'row end' },
        button('Cancel', () => close()),
        reset,
        apply,
      ),
    );
  });
}
