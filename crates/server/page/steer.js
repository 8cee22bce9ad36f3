// Steering: what can be done to a crawl, and rules: with a preview of what they would leave out, and to be lifted again.

import { h, fill, icon, urlText, debounce } from './dom.js';
import { get, post, remove, crawlPath, query } from './api.js';
import { asCommand, busy, button, confirm, dialog, field, loading, problemBox, toast } from './widgets.js';
import { counted, count } from './format.js';
import { isAlive } from './words.js';
import { go } from './stage.js';

const VERBS = {
  start: ['Start', 'play', 'It starts.'],
  'go on': ['Go on', 'play', 'It goes on.'],
  pause: ['Pause', 'pause', 'Paused. Nothing more is asked.'],
  resume: ['Resume', 'play', 'It goes on.'],
  stop: ['Stop', 'stop', 'Stopping: what is in flight is finished and saved.'],
};

/** What can be done now. */
function verbs(crawl) {
  if (crawl.state === 'stopping') return [];
  if (crawl.state === 'paused') return ['resume', 'stop'];
  if (isAlive(crawl)) return ['pause', 'stop'];
  if (crawl.state === 'new') return ['start'];
  return crawl.state === 'finished' && !crawl.counts.queued ? [] : ['go on'];
}

/** The buttons for it. `after` hears of the crawl as it is then. */
export function actions(crawl, after) {
  return verbs(crawl).map((verb) => {
    const [text, sign, done] = VERBS[verb];
    const kind = { stop: 'danger', start: 'main', resume: 'main', 'go on': 'main' }[verb] ?? '';
    const node = button(text, () => act(verb, crawl, node, done, after), {
      kind,
      sign,
      'aria-label': `${text} ${crawl.name}`,
    });
    return node;
  });
}

async function act(verb, crawl, node, done, after) {
  if (
    verb === 'stop' &&
    !(await confirm(
      `Stop ${crawl.name}?`,
      'What is in flight is finished, and everything is saved. It can go on later, where it was.',
      'Stop',
      'danger',
    ))
  )
    return;
  const changed = await busy(node, () => post(crawlPath(crawl.id, verb === 'go on' ? 'start' : verb)));
  if (!changed) return;
  toast(done);
  after?.(changed);
}

/** Asks, then deletes the crawl's directory. */
export async function deleteCrawl(crawl, node) {
  const words = `${crawl.dir} goes with everything in it: archive, index, logs. This cannot be undone.`;
  if (!(await confirm(`Delete ${crawl.name}?`, words, 'Delete for good', 'danger'))) return;
  await busy(node, async () => {
    await remove(crawlPath(crawl.id));
    toast(`${crawl.name} is deleted.`);
    go('/');
  });
}

/**
 * The dialog for a rule: `{exclude: pattern}` or `{block: host}`. Shows, as one types, how many of the waiting
 * URLs it would leave out, and the rules that hold already; nothing changes before Apply.
 */
export function ruleDialog(id, rule) {
  const [kind] = Object.keys(rule);
  const isPattern = kind === 'exclude';
  const title = isPattern ? 'Leave out what matches a pattern' : 'Block a host';
  return dialog(title, (close) => {
    const input = h('input', {
      type: 'text',
      value: rule[kind],
      class: 'mono',
      spellcheck: 'false',
      autocomplete: 'off',
      required: true,
    });
    const preview = h('div', { class: 'preview', 'aria-live': 'polite' });
    const apply = button('Apply the rule', () => applyRule(id, body(), apply, close), { kind: 'main' });
    const command = asCommand('POST', crawlPath(id, 'rules'), rule);
    const hint = isPattern
      ? 'A regular expression. It is looked for anywhere in a URL, such as /calendar/ or \\?sort='
      : 'Nothing more is asked of it. Its waiting URLs are left out when their turn comes.';
    const box = field(isPattern ? 'Pattern' : 'Host', input, { hint });
    const body = () => ({ [kind]: input.value.trim() });
    let asked = 0;

    async function look() {
      const turn = ++asked;
      command.update('POST', crawlPath(id, 'rules'), body());
      box.complain();
      apply.disabled = true;
      if (!input.value.trim()) return fill(preview);
      if (!preview.firstChild) fill(preview, loading('Counting …'));
      try {
        const answer = await post(crawlPath(id, 'rules', 'preview'), body());
        if (turn !== asked) return;
        fill(preview, matches(answer));
        apply.disabled = false;
      } catch (error) {
        if (turn !== asked) return;
        fill(preview);
        error.status === 422 ? box.complain(error.message) : fill(preview, problemBox(error));
      }
    }
    input.addEventListener('input', debounce(look, 250));
    look();
    return h(
      'form',
      {
        onsubmit: (event) => {
          event.preventDefault();
          if (!apply.disabled) apply.click();
        },
      },
      box,
      preview,
      held(id),
      command,
      h(
        'div',
        { class: 'row end' },
        button('Cancel', () => close()),
        apply,
      ),
    );
  });
}

/** The rules that hold, each with a button that lifts it. */
function held(id) {
  const list = h('div');
  const show = ({ rules }) =>
    fill(
      list,
      rules.length
        ? h(
            'details',
            h('summary', `${counted(rules.length, 'rule')} ${rules.length === 1 ? 'holds' : 'hold'} already`),
            h(
              'ul',
              { class: 'plain' },
              rules.map((rule) => h('li', { class: 'row' }, h('code', `${rule.key} ${rule.value}`), lift(rule))),
            ),
          )
        : null,
    );
  const lift = ({ key, value }) => {
    const node = button(
      'Lift',
      () =>
        busy(node, async () => {
          show(await liftRule(id, { [key]: value }));
          toast('The rule is lifted. What it left out already stays so.');
        }),
      { kind: 'small', 'aria-label': `Lift ${key} ${value}` },
    );
    return node;
  };
  get(crawlPath(id, 'rules')).then(show, () => fill(list));
  return list;
}

/** Where a rule, `{exclude: pattern}` or `{block: host}`, is lifted with DELETE. */
export const rulePath = (id, rule) => crawlPath(id, 'rules') + query(rule);

/** Lifts a rule; gives those that hold then. */
export const liftRule = (id, rule) => remove(rulePath(id, rule));

function matches({ waiting, matching, sampled, examples }) {
  const about = sampled ? 'about ' : '';
  const words = matching
    ? `It would leave out ${about}${count(matching)} of ${counted(waiting, 'waiting URL')}, each when its turn comes.`
    : `It matches none of the ${counted(waiting, 'waiting URL')}, but would keep such URLs out from now on.`;
  return [
    h('p', h('strong', words)),
    h(
      'ul',
      { class: 'plain urls-list' },
      examples.map((url) => h('li', urlText(url))),
    ),
    matching > examples.length
      ? h('p', { class: 'hint' }, `and ${about}${count(matching - examples.length)} more`)
      : null,
  ];
}

async function applyRule(id, body, node, close) {
  const answer = await busy(node, () => post(crawlPath(id, 'rules'), body));
  if (!answer) return;
  toast(`The rule is in force. ${answer.words}`);
  close(answer);
}

/** The button that opens it. */
export function ruleButton(id, rule, text, properties) {
  return h(
    'button',
    { type: 'button', class: 'small', onclick: () => ruleDialog(id, rule), ...properties },
    icon('skipped'),
    text,
  );
}
