// Small parts that every view uses: signs, problems, empty places, dialogs, notices, the command behind a view.

import { h, fill, icon, freshId, say } from './dom.js';
import { address } from './api.js';

/** A sign with a word, from a table of words.js. */
export function badge(table, key) {
  const [word, sign, tone] = table[key] ?? [key, 'wait', 'calm'];
  return h('span', { class: `badge ${tone}` }, icon(sign), word);
}

/** A button; `kind` is `main`, `danger`, `quiet` or nothing. */
export function button(text, act, { kind = '', sign, ...rest } = {}) {
  return h('button', { type: 'button', class: kind, onclick: act, ...rest }, sign ? icon(sign) : null, text);
}

/** What went wrong, and what to do next. */
export function problemBox(problem, again) {
  return h(
    'div',
    { class: 'problem', role: 'alert' },
    icon('alert'),
    h(
      'div',
      h('p', h('strong', problem.message)),
      problem.hint ? h('p', problem.hint) : null,
      again ? button('Try again', again) : null,
    ),
  );
}

/** A place where nothing is, and why. */
export function emptyBox(sign, title, ...words) {
  return h(
    'div',
    { class: 'empty' },
    icon(sign),
    h('p', { class: 'empty-title' }, title),
    words.length ? h('p', words) : null,
  );
}

/** A place that is being filled. */
export const loading = (words = 'Loading …') => h('p', { class: 'loading' }, words);

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
  const note = h('p', { class: 'hint', id: `${input.id}-hint` }, hint ?? '');
  const wrong = h('p', { class: 'wrong', id: `${input.id}-wrong` });
  input.setAttribute('aria-describedby', `${note.id} ${wrong.id}`);
  const node = h(
    'div',
    { class: 'field', 'data-key': key ?? null },
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

/** Asks whether it is meant; gives true or null. */
export function confirm(title, words, yes, kind = 'main') {
  return dialog(title, (close) =>
    h(
      'div',
      h('p', words),
      h(
        'div',
        { class: 'row end' },
        button('Cancel', () => close()),
        button(yes, () => close(true), { kind }),
      ),
    ),
  );
}

/** The line of curl that does the same as a view. `update(method, path, body)` changes it. */
export function asCommand(method, path, body) {
  const code = h('code');
  const copy = button('Copy', () => copyText(code, copy), { kind: 'small' });
  const node = h(
    'details',
    { class: 'command' },
    h('summary', 'As a command'),
    h('div', h('pre', { tabindex: '0' }, code), copy),
  );
  node.update = (...request) => say(code, curl(...request));
  node.update(method, path, body);
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
    'div',
    { class: 'view-head' },
    h('div', h('h2', { tabindex: '-1', 'data-focus': true }, title), words ? h('p', words) : null),
    actions.length ? h('div', { class: 'row' }, actions) : null,
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
