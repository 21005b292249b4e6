import { duration, failureOf, viewOf } from './view.js';

const COMMAND = ['nodefence', 'node', 'status', '--output', 'json'];
const EVERY_MS = 5_000;
const DEADLINE_MS = 10_000;
/** Values are old when they were to be asked for twice meanwhile, and no answer came. */
const OLD_AFTER_MS = 3 * EVERY_MS;
const LEVELS = { good: 'good: ', warning: 'warning: ', bad: 'bad: ' };

const { cockpit } = window;
const page = Object.fromEntries(['headline', 'failure', 'age', 'values'].map((id) => [id, document.getElementById(id)]));
let answeredAtMs;
let known = '';
let hasFailed = false;
let isAsking = false;

/** One question at a time, and none that nobody waits for any more. */
async function ask() {
  if (isAsking || document.hidden) return;
  isAsking = true;
  const asked = cockpit.spawn(COMMAND, { superuser: 'try', err: 'message' });
  const timer = setTimeout(() => asked.close('timeout'), DEADLINE_MS);
  // Awaited, not chained: what is thrown behind a promise of Cockpit's own is lost.
  try {
    show(viewOf(await asked));
  } catch (error) {
    fail(failureOf(error));
  }
  clearTimeout(timer);
  isAsking = false;
  showAge();
}

function show({ headline, sections }) {
  answeredAtMs = performance.now();
  known = headline.text;
  hasFailed = false;
  page.failure.hidden = true;
  say(page.headline, headline.text);
  page.headline.dataset.level = headline.level;
  page.values.replaceChildren(...sections.map(sectionOf));
}

/** What was known stays, and is said to be of before: nobody may take it for how the node is now. */
function fail(words) {
  say(page.failure, words);
  page.failure.hidden = false;
  hasFailed = true;
  say(page.headline, answeredAtMs === undefined ? 'Nothing is known of this node.' : `Before: ${known}`);
  page.headline.dataset.level = 'neutral';
}

function showAge() {
  if (answeredAtMs === undefined) return;
  const ageMs = performance.now() - answeredAtMs;
  const isOld = hasFailed || ageMs > OLD_AFTER_MS;
  document.documentElement.classList.toggle('old', isOld);
  say(page.age, isOld ? `Old: all of this is from ${duration(ageMs / 1000)} ago, and may have changed.` : 'This page asks every 5 seconds.');
}

function sectionOf({ title, items, rows }) {
  const section = document.createElement('section');
  const body = items === undefined ? element('dl', ...rows.flatMap(rowOf)) : element('ul', ...items.map((item) => textIn('li', item)));
  section.append(textIn('h2', title), body);
  return section;
}

function rowOf({ label, text, level }) {
  const value = textIn('dd', text);
  if (level !== undefined) {
    value.className = level;
    // The mark before it is a colour and a sign; this is for who hears the page.
    value.setAttribute('aria-label', `${LEVELS[level] ?? ''}${text}`);
  }
  return [textIn('dt', label), value];
}

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/** Only ever as text: what a node says is no HTML. */
function textIn(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

/** Who hears the page is not told the same again. */
function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/** As the shell of Cockpit has it: light, dark, or what the browser prefers. */
function followStyle() {
  const wanted = localStorage.getItem('shell:style') ?? 'auto';
  const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = wanted === 'dark' || (wanted === 'auto' && prefersDark) ? 'dark' : 'light';
}

followStyle();
addEventListener('storage', followStyle);
addEventListener('cockpit-style', followStyle);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', followStyle);
document.addEventListener('visibilitychange', ask);
setInterval(ask, EVERY_MS);
setInterval(showAge, 1_000);
void ask();
