// Light or dark: as the system says, until one chooses. The choice is kept in this browser.

import { h, icon } from './dom.js';

const KEY = 'larm-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

const kept = () => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage is switched off: the system decides
  }
};

const isDark = () => (kept() ?? (system.matches ? 'dark' : 'light')) === 'dark';

function apply() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
}

/** The button that changes it. */
export function themeButton() {
  const node = h(
    'button.quiet.theme',
    { type: 'button', onclick: toggle },
    icon('theme'),
    h('span.sr-only', 'Dark colours'),
  );
  function toggle() {
    try {
      localStorage.setItem(KEY, isDark() ? 'light' : 'dark');
    } catch {
      // nothing is kept, and nothing else is lost
    }
    show();
  }
  function show() {
    apply();
    node.setAttribute('aria-pressed', String(isDark()));
    node.title = isDark() ? 'Use light colours' : 'Use dark colours';
  }
  system.addEventListener('change', show);
  show();
  return node;
}
