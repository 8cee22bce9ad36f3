// Small parts that every view uses: signs, problems, empty places, dialogs, notices, the command behind a view.

import { h, fill, icon, freshId, say, debounce, told } from './dom.js';
import { address } from './api.js';
import { tone, verdict, verdictWords } from './words.js';

/** A sign with a word, from a table of words.js. */
export function badge(table, key) {
  const [word, sign, tone] = table[key] ?? [key, 'wait', 'calm'];
  return h('span', { class: `badge ${tone}` }, icon(sign), word);
}

/** A button; `kind` is `main`, `danger`, `quiet` or nothing. */
export function button(text, act, { kind = '', sign, ...rest } = {}) {
  return h('button', { type: 'button', class: kind, onclick: act, ...rest }, sign ? icon(sign) : null, text);
}

/** The button that sends a form. */
export const submitter = (text, sign) => h('button.main', { type: 'submit' }, sign ? icon(sign) : null, text);

/** A form that does `act` in place of sending anything; `name` may have classes. */
export function form(name, act, ...rest) {
  const onsubmit = (event) => {
    event.preventDefault();
    act(event);
  };
  const node = h(name, ...rest);
  node.addEventListener('submit', onsubmit);
  return node;
}

/** A field for one line that no browser should complete or correct; its label is its placeholder, too. */
export const line = (label, properties) =>
  h('input', {
    type: 'text',
    'aria-label': label,
    placeholder: label,
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    ...properties,
  });

/** The same for what is looked for as one types. */
export function finder(label, value, act, properties) {
  const find = debounce(() => act(node.value.trim()), 250);
  const node = line(label, { type: 'search', value, oninput: find, ...properties });
  return node;
}

/** A part of a view with its own title. */
export const card = (title, ...children) => h('section.card', h('h3', title), children);

/** Small words beside something. */
export const hint = (...words) => h('p.hint', words);

/** Figures, each with its name and a note. `put(name, value, note)` adds or changes one; null hides it. */
export function tilesOf() {
  const node = h('dl.tiles');
  const tiles = new Map();
  function put(name, value, note = '') {
    if (!tiles.has(name)) {
      const [figure, small] = [h('dd'), h('dd.note')];
      tiles.set(name, [h('div.tile', h('dt', name), figure, small), figure, small]);
    }
    const [tile, figure, small] = tiles.get(name);
    if (!tile.parentNode) node.append(tile);
    tile.hidden = value === null;
    say(figure, value ?? '');
    say(small, note);
  }
  return { node, put };
}

/** One short word for what came of a URL, with the rest on hover. */
export const verdictSign = (row) => h(`span.verdict.${tone(row)}`, { title: verdictWords(row) }, verdict(row));

/** A list as a file. */
export const csvLink = (path) => h('a.button', { href: address(path), download: true }, icon('down'), 'CSV');

/** What went wrong, and what to do next. */ /** What went wrong, and what to do next. */
export function problemBox(problem, again) {
  return h(
    'div.problem',
    { role: 'alert' },
    icon('alert'),
    h(
      'div',
      h('p', h('strong', told(problem.message))),
      problem.hint ? h('p', told(problem.hint)) : null,
      again ? button('Try again', again) : null,
    ),
  );
}

/** A place where nothing is, and why. */
export function emptyBox(sign, title, ...words) {
  return h('div.empty', icon(sign), h('p.empty-title', title), words.length ? h('p', words) : null);
}

/** A place that is being filled. */
export const loading = (words = 'Loading …') => h('p.loading', words);

/** Tells it to those who listen, without moving anything. */
export function announce(text) {
  say(document.getElementById('say'), text);
}

/** A notice that goes away by itself. */
export function toast(text, tone = 'good') {
  const place = document.getElementById('toasts');
  const note = h('div', { class: `toast ${tone}` }, icon(tone === 'bad' ? 'alert' : 'done'), text);
  while (place.children.length > 2) place.firstChild.remove();
  place.append(note);
  announce(text);
  setTimeout(() => note.remove(), 6000);
}

/** Runs `act`, once at a time: its button keeps the focus and does nothing meanwhile. What goes wrong becomes a notice. */
export async function busy(button, act) {
  if (button.ariaDisabled === 'true') return null;
  button.ariaDisabled = 'true';
  try {
    return await act();
  } catch (error) {
    toast(error.message, 'bad');
    return null;
  } finally {
    button.ariaDisabled = 'false';
  }
}

/** A field with its label, and places for a hint and for what is wrong with it. */
export function field(label, input, { hint, key } = {}) {
  input.id ||= freshId('field');
  const note = h('p.hint', { id: `${input.id}-hint` }, hint ?? '');
  const wrong = h('p.wrong', { id: `${input.id}-wrong` });
  input.setAttribute('aria-describedby', `${note.id} ${wrong.id}`);
  const node = h(
    'div.field',
    { 'data-key': key ?? null },
    h('label', { for: input.id }, label),
    input,
    note,
    wrong,
  );
  node.input = input;
  node.complain = (text) => {
    say(wrong, text ?? '');
    text ? input.setAttribute('aria-invalid', 'true') : input.removeAttribute('aria-invalid');
  };
  return node;
}

/** A choice from `[value, text]` pairs. */
export function select(options, chosen, properties) {
  return h(
    'select',
    properties,
    options.map(([value, text]) => h('option', { value, selected: value === chosen }, text)),
  );
}

/**
 * A modal dialog. `body` is built by `build(close)`; the promise gives what `close` was given, or null.
 * The browser keeps the focus inside and gives it back at the end.
 */
export function dialog(title, build) {
  return new Promise((resolve) => {
    const id = freshId('dialog');
    const node = h('dialog', { 'aria-labelledby': id });
    const close = (value = null) => {
      node.close();
      node.remove();
      resolve(value);
    };
    node.addEventListener('cancel', (event) => {
      event.preventDefault();
      close();
    });
    node.append(h('h2', { id }, title), build(close));
    document.body.append(node);
    node.showModal();
  });
}

/** The buttons at the end of a dialog: to leave it, and to do it. */
export const dialogEnd = (close, ...others) =>
  h(
    'div.row.end',
    button('Cancel', () => close()),
    others,
  );

/** Asks whether it is meant; gives true or null. */
export function confirm(title, words, yes, kind = 'main') {
  const sure = (close) => button(yes, () => close(true), { kind });
  return dialog(title, (close) => h('div', h('p', words), dialogEnd(close, sure(close))));
}

/** The line of curl that does the same as a view. `update(method, path, body)` changes it. */
export function asCommand(method, path, body) {
  const node = commandBox('As a command', curl(method, path, body));
  node.update = (...request) => node.write(curl(...request));
  return node;
}

/** Lines for a shell, folded, with a button that copies them. `write(text)` changes them. */
export function commandBox(title, text) {
  const code = h('code', text);
  const copy = button('Copy', () => copyText(code, copy), { kind: 'small' });
  const node = h('details.command', h('summary', title), h('div', h('pre', { tabindex: '0' }, code), copy));
  node.write = (next) => say(code, next);
  return node;
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(method, path, body) {
  const parts = ['curl', '-H "Authorization: Bearer $LARM_TOKEN"'];
  if (path.endsWith('/events')) parts.push('-N');
  if (method !== 'GET') parts.push('-X', method);
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", '-d', quoted(JSON.stringify(body)));
  return [...parts, quoted(location.origin + address(path))].join(' ');
}

async function copyText(code, copy) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    say(copy, 'Copied');
  } catch {
    getSelection().selectAllChildren(code);
    say(copy, 'Selected: press Ctrl+C');
  }
  setTimeout(() => say(copy, 'Copy'), 3000);
}

/** The head of a view: its title, a sentence on what it shows, and what can be done. */
export function viewHead(title, words, ...actions) {
  return h(
    'div.view-head',
    h('div', h('h2', { tabindex: '-1', 'data-focus': true }, title), words ? h('p', words) : null),
    actions.length ? h('div.row', actions) : null,
  );
}

/** Loads into `place`: a word while it takes, what went wrong if it does. */
export async function load(place, request, show) {
  if (!place.firstChild) fill(place, loading());
  place.setAttribute('aria-busy', 'true');
  try {
    const value = await request();
    fill(place, show(value));
  } catch (error) {
    if (error.name === 'AbortError') return;
    fill(
      place,
      problemBox(error, () => load(place, request, show)),
    );
  } finally {
    place.removeAttribute('aria-busy');
  }
}
