// Skipped: why links were not followed, and what would let them in.

import { h, fill, urlText, icon } from '../dom.js';
import { get, patch, crawlPath } from '../api.js';
import { asCommand, busy, button, dialog, emptyBox, load, problemBox, toast, viewHead } from '../widgets.js';
import { count, counted } from '../format.js';
import { isAlive } from '../words.js';
import { liftRule, ruleButton, rulePath } from '../steer.js';
import { viewPath } from '../stage.js';

export default function skipped(place, stage) {
  const { id, signal } = stage;
  const list = h('div');
  const path = crawlPath(id, 'skipped');
  fill(
    place,
    viewHead(
      'Skipped',
      'Links that were not followed, by the rule that said no.',
      ruleButton(id, { exclude: '' }, 'Leave out more …'),
    ),
    list,
    asCommand('GET', path),
  );
  load(
    list,
    () => get(path, { signal }),
    ({ groups, again }) => (groups.length ? shown(stage, groups, again) : emptyBox('done', 'Nothing was skipped', ' so far.')),
  );
}

function shown(stage, groups, again) {
  const most = Math.max(...groups.map((group) => group.links));
  return [...groups].sort((a, b) => b.links - a.links).map((group) => card(stage, group, most, again));
}

function card(stage, group, most, again) {
  const bar = h('span', { class: 'meter', 'aria-hidden': 'true' }, h('span'));
  bar.firstChild.style.setProperty('width', `${Math.max(1, (group.links / most) * 100)}%`);
  const numbers = group.urls
    ? `${counted(group.links, 'link')} to ${counted(group.urls, 'URL')}`
    : counted(group.links, 'link');
  return h(
    'article',
    { class: 'card group' },
    h('div', { class: 'group-head' }, h('h3', group.words), h('span', { class: 'hint' }, numbers)),
    bar,
    h(
      'p',
      { class: 'hint' },
      'by ',
      h('code', group.filter ?? group.reason),
      group.filter && group.reason && group.reason !== group.filter ? [': ', h('code', group.reason)] : null,
    ),
    examples(stage.id, group),
    group.rule ? button('Let them in …', () => letIn(stage, group, again), { kind: 'small', sign: 'play' }) : null,
  );
}

function examples(id, { examples: some, urls }) {
  const items = some.map(({ url, from }) =>
    h(
      'li',
      h('a', { href: viewPath(id, 'urls', { show: url }) }, urlText(url)),
      from ? h('span', { class: 'hint' }, ' on ', urlText(from)) : null,
    ),
  );
  return h(
    'details',
    h('summary', some.length < urls ? `${some.length} of ${count(urls)}` : 'Which'),
    h('ul', { class: 'plain urls-list' }, items),
  );
}

/** What lets a group in, with examples and with what it does not do; nothing changes before Apply. */
function letIn(stage, group, again) {
  const { key, value, words, while_running: whileRunning } = group.rule;
  const { method, path, body, text, act } = request(stage.id, key, value);
  const mustStop = isAlive(stage.crawl()) && !whileRunning;
  return dialog('Let them in', (close) => {
    const wrong = h('div');
    const apply = button(
      'Apply',
      () =>
        busy(apply, async () => {
          try {
            await act();
            toast(isAlive(stage.crawl()) ? `From now on: ${words}` : `When it goes on: ${words}`);
            close(true);
          } catch (error) {
            fill(wrong, problemBox(error));
          }
        }),
      { kind: 'main' },
    );
    return h(
      'div',
      h('p', 'This lets in what “', group.words, '” kept out, and nothing else that was left out:'),
      h('pre', h('code', text)),
      h('p', h('strong', words)),
      h('p', `${counted(group.links, 'link')} so far led there, such as`),
      h(
        'ul',
        { class: 'plain urls-list' },
        group.examples.map(({ url }) => h('li', urlText(url))),
      ),
      h('p', { class: 'hint' }, again),
      mustStop ? h('p', icon('wait'), ' A crawl that runs does not take this: stop it first, then let them in.') : null,
      wrong,
      asCommand(method, path, body),
      h(
        'div',
        { class: 'row end' },
        button('Cancel', () => close()),
        mustStop ? null : apply,
      ),
    );
  });
}

/** What is sent: a setting that is changed, or a rule that is lifted. */
function request(id, key, value) {
  const lifted = { unexclude: 'exclude', unblock: 'block' }[key];
  if (lifted) {
    const rule = { [lifted]: value };
    const text = `without ${lifted} ${value}`;
    return { method: 'DELETE', path: rulePath(id, rule), text, act: () => liftRule(id, rule) };
  }
  const path = crawlPath(id, 'settings');
  const body = { [key]: value };
  return { method: 'PATCH', path, body, text: `${key} = ${JSON.stringify(value)}`, act: () => patch(path, body) };
}
