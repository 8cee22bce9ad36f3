// Settings: all of them as they are in force, and those that can be changed now.

import { h, fill } from '../dom.js';
import { get, crawlPath } from '../api.js';
import { asCommand, button, card, emptyBox, load, viewHead } from '../widgets.js';
import { table } from '../table.js';
import { isAlive, settingText } from '../words.js';
import { LIVE, liveForm, meaning, meaningOfChange } from '../keys.js';
import { deleteCrawl, ruleButton } from '../steer.js';

const COLUMNS = [
  { name: 'Key', class: 'mono', cell: ({ key }) => key },
  { name: 'Value', class: 'wide mono', cell: ({ value }) => settingText(value) || '–' },
  { name: 'Meaning', class: 'wide', cell: ({ key }) => meaning(key) },
];

const CHANGES = [...COLUMNS.slice(0, 2), { name: 'Meaning', class: 'wide', cell: ({ key }) => meaningOfChange(key) }];

export default function settings(place, stage) {
  const { id, signal } = stage;
  const path = crawlPath(id, 'settings');
  const words = isAlive(stage.crawl()) ? 'Applied at once.' : 'Kept for the next run.';
  const live = liveForm(path, Object.keys(LIVE), (answer) => fill(all, tables(answer)));
  const all = h('div');
  fill(
    place,
    viewHead('Settings', 'The keys of larm.toml, as they are in force.'),
    h(
      'section.card',
      h(
        'div.card-head',
        h('h3', 'Change'),
        h('span.hint', words),
        ruleButton(id, { exclude: '' }, 'Leave out a pattern …'),
      ),
      live.node,
    ),
    all,
    asCommand('GET', path),
    danger(stage),
  );
  const show = (answer) => {
    live.take(answer);
    return tables(answer);
  };
  load(all, () => get(path, { signal }), show);
}

function tables({ in_force: now, changes = [] }) {
  const rows = Object.entries(now).map(([key, value]) => ({ key, value }));
  const none = emptyBox('settings', 'Everything is as larm has it by default.');
  return [
    changes.length ? card('Changed since, on top of larm.toml', table('Changes', CHANGES, changes)) : null,
    card('All settings', rows.length ? table('Settings', COLUMNS, rows) : none),
  ];
}

function danger({ crawl }) {
  if (!crawl().deletable) return null;
  const node = button('Delete this crawl …', () => deleteCrawl(crawl(), node), { kind: 'danger' });
  return card('Delete', h('p', 'Removes ', h('code', crawl().dir), ' with everything in it.'), node);
}
