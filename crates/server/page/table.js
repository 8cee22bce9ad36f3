// Tables that become cards on a phone, pages of lists, and rows that are changed in place while one looks at them.

import { h, fill, turns } from './dom.js';
import { get, crawlPath, query, isGone } from './api.js';
import { asCommand, button, problemBox } from './widgets.js';
import { count } from './format.js';
import { remember } from './stage.js';

/**
 * A table. Columns are `{name, cell(item), class?, sort?}`; `sorted` is the key that it is sorted by now, with `-` in
 * front for the other way round, and `onSort` hears of clicks. One that `isSmall` stays a table on a phone. Roles are
 * written out: as cards, rows would lose them.
 */
export function table(caption, columns, items, { sorted, onSort, rowProperties, isSmall } = {}) {
  const head = h(
    'tr',
    { role: 'row' },
    columns.map((column) => headCell(column, sorted, onSort)),
  );
  const rows = items.map((item, n) => row(columns, item, rowProperties?.(item, n)));
  return h(
    'div.table-box',
    h(
      isSmall ? 'table' : 'table.cards',
      { role: 'table' },
      h('caption.sr-only', caption),
      h('thead', { role: 'rowgroup' }, head),
      h('tbody', { role: 'rowgroup' }, rows),
    ),
  );
}

function headCell(column, sorted, onSort) {
  const properties = { role: 'columnheader', scope: 'col', class: column.class };
  if (!column.sort || !onSort) return h('th', properties, column.name);
  const bare = column.sort.replace('-', '');
  const is = sorted?.replace('-', '') === bare;
  const down = sorted?.startsWith('-');
  const next = is ? (down ? bare : `-${bare}`) : column.sort;
  const sign = h('span', { 'aria-hidden': 'true' }, is ? (down ? ' ↓' : ' ↑') : '');
  const way = is ? (down ? 'descending' : 'ascending') : 'none';
  const press = button(column.name, () => onSort(next), { kind: 'sort' });
  press.append(sign);
  return h('th', { ...properties, 'aria-sort': way }, press);
}

/** One row of such a table. */
export function row(columns, item, properties) {
  return h(
    'tr',
    { role: 'row', ...properties },
    columns.map((column) => cell(column, column.cell(item))),
  );
}

/** One cell; where there is nothing to say, cards leave it out. */
export function cell({ name, class: kind = '' }, content) {
  const none = content === '–' || content === '' ? ' none' : '';
  return h('td', { role: 'cell', class: kind + none, 'data-label': name }, content);
}

/** Keeps the rows of `body` in step with `items` without touching those that stay: focus and hover survive. */
export function keepRows(body, rows, items, keyOf, make) {
  const wanted = new Set(items.map(keyOf));
  for (const [key, kept] of rows) {
    if (wanted.has(key)) continue;
    kept.node.remove();
    rows.delete(key);
  }
  items.forEach((item, place) => {
    const key = keyOf(item);
    if (!rows.has(key)) rows.set(key, make(item));
    const { node, update } = rows.get(key);
    update(item);
    if (body.children[place] !== node) body.insertBefore(node, body.children[place] ?? null);
  });
}

/**
 * A list of a crawl with filters, order and pages: `part` of the API, asked with what `filters` say. `show(list,
 * answer)` puts an answer into the list and says how many rows it has.
 */
export function browse({ id, signal }, part, filters, limit, show) {
  const list = h('div');
  const command = asCommand('GET', crawlPath(id, part));
  const pages = pager(refresh);
  const turn = turns();

  async function refresh() {
    const path = crawlPath(id, part) + query({ ...filters, limit, after: pages.cursor() });
    command.update('GET', path);
    list.setAttribute('aria-busy', 'true');
    const isLast = turn();
    try {
      const answer = await get(path, { signal });
      if (isLast()) pages.show(answer, show(list, answer));
    } catch (error) {
      if (isLast() && !isGone(error)) fill(list, problemBox(error, refresh));
    }
    if (isLast()) list.removeAttribute('aria-busy');
  }
  function change(values) {
    Object.assign(filters, values);
    remember(filters);
    pages.reset();
    return refresh();
  }
  return { list, pages, command, change, refresh };
}

/**
 * Goes through a list page by page, by cursors. `change(cursor)` loads one; `show(answer, shown)` tells where we are.
 * No more than one page is ever in the document.
 */
export function pager(change) {
  let trail = [null];
  const where = h('span.where');
  const back = button('← Back', () => go(-1), { kind: 'small' });
  const on = button('Next →', () => go(1), { kind: 'small' });
  const node = h('nav.pager', { 'aria-label': 'Pages of the list' }, back, where, on);
  let next = null;
  let seen = [0];

  function go(step) {
    if (step > 0 && !next) return;
    if (step < 0 && trail.length < 2) return;
    step > 0 ? trail.push(next) : trail.pop();
    change(trail.at(-1));
  }
  function show(answer, shown) {
    next = answer.next ?? null;
    seen.length = trail.length;
    const before = seen.reduce((sum, n) => sum + (n ?? 0), 0) - (seen[trail.length - 1] ?? 0);
    seen[trail.length - 1] = shown;
    fill(where, shown ? `${count(before + 1)} to ${count(before + shown)} of ${count(answer.total)}` : 'Nothing');
    back.disabled = trail.length < 2;
    on.disabled = !next;
    node.hidden = trail.length < 2 && !next && shown < 2;
  }
  return {
    node,
    show,
    go,
    reset: () => {
      trail = [null];
      seen = [0];
    },
    cursor: () => trail.at(-1),
  };
}
