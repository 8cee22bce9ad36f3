// Settings: all of them as they are in force, and those that can be changed now.

import { h, fill } from '../dom.js';
import { get, patch, crawlPath, isGone } from '../api.js';
import { asCommand, busy, button, emptyBox, field, loading, problemBox, toast, viewHead } from '../widgets.js';
import { table } from '../table.js';
import { isAlive, settingText } from '../words.js';
import { LIVE, SETTINGS } from '../keys.js';
import { deleteCrawl, ruleButton } from '../steer.js';

export default function settings(place, stage) {
  const { id, signal } = stage;
  const path = crawlPath(id, 'settings');
  const body = h('div', loading());
  fill(
    place,
    viewHead('Settings', 'The keys of larm.toml, as they are in force.'),
    body,
    asCommand('GET', path),
    danger(stage),
  );
  const refresh = () =>
    get(path, { signal }).then(
      (answer) => fill(body, liveForm(stage, path, answer, refresh), all(answer)),
      (error) => {
        if (!isGone(error)) fill(body, problemBox(error, refresh));
      },
    );
  refresh();
}

function liveForm({ id, crawl }, path, { settings: now, changes = [] }, refresh) {
  const inForce = { ...now, ...Object.fromEntries(changes.map(({ key, value }) => [key, value])) };
  const boxes = Object.entries(LIVE).map(([key, [label, hint]]) =>
    field(label, h('input', { type: 'text', value: settingText(inForce[key]), autocomplete: 'off' }), {
      hint,
      key,
    }),
  );
  for (const { input } of boxes) input.defaultValue = input.value;
  const command = asCommand('PATCH', path, {});
  const apply = h('button', { type: 'submit', class: 'main' }, 'Apply');
  const body = () =>
    Object.fromEntries(
      boxes
        .filter(({ input }) => input.value.trim() && input.value !== input.defaultValue)
        .map((box) => [box.dataset.key, box.input.value.trim().replaceAll(',', '')]),
    );
  async function submit(event) {
    event.preventDefault();
    boxes.forEach((box) => box.complain());
    if (!Object.keys(body()).length) return toast('Nothing was changed.');
    await busy(apply, async () => {
      try {
        await patch(path, body());
        toast('The change is in force.');
        refresh();
      } catch (error) {
        const box = boxes.find(({ dataset }) => dataset.key === error.key);
        box ? (box.complain(error.message), box.input.focus()) : toast(error.message, 'bad');
      }
    });
  }
  const words = isAlive(crawl()) ? 'Applied at once.' : 'Kept for the next run.';
  return h(
    'section',
    { class: 'card' },
    h(
      'div',
      { class: 'card-head' },
      h('h3', 'Change'),
      h('span', { class: 'hint' }, words),
      ruleButton(id, { exclude: '' }, 'Leave out a pattern …'),
    ),
    h(
      'form',
      { onsubmit: submit, oninput: () => command.update('PATCH', path, body()) },
      h('div', { class: 'pair three' }, boxes),
      h('div', { class: 'row' }, apply),
    ),
    command,
  );
}

function all({ settings: now, changes = [] }) {
  const rows = Object.entries(now).map(([key, value]) => ({ key, value }));
  const columns = [
    { name: 'Key', class: 'mono', cell: ({ key }) => key },
    { name: 'Value', class: 'wide mono', cell: ({ value }) => settingText(value) || '–' },
    { name: 'Meaning', class: 'wide', cell: ({ key }) => SETTINGS[key]?.[1] ?? LIVE[key]?.[0] ?? '' },
  ];
  const changed = changes.length
    ? h('section', { class: 'card' }, h('h3', 'Changed while it ran'), table('Changes', columns, changes))
    : null;
  return [
    changed,
    h(
      'section',
      { class: 'card' },
      h('h3', 'All settings'),
      rows.length
        ? table('Settings', columns, rows)
        : emptyBox('settings', 'Everything is as larm has it by default.'),
    ),
  ];
}

function danger({ crawl }) {
  if (!crawl().deletable) return null;
  const node = button('Delete this crawl …', () => deleteCrawl(crawl(), node), { kind: 'danger' });
  return h(
    'section',
    { class: 'card' },
    h('h3', 'Delete'),
    h('p', 'Removes ', h('code', crawl().dir), ' with everything in it.'),
    node,
  );
}
