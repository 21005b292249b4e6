export const USAGE = `npm test                       the checks, then every test
npm test -- FOLDER|FILE ...    the tests of these, without the checks
npm test -- --changed [REF]    the tests and checks of what differs from REF (default: where this branch left main)
npm test -- --times            in the end, a table of what the files took
`;

export interface TestOptions {
  /** Only what is changed, since this commit or since the branch began. */
  changed: { since: string | undefined } | undefined;
  hasTimes: boolean;
  isHelp: boolean;
  /** What vitest is to have: filters and options of its own. */
  filters: string[];
}

/** The word after `--changed` is a commit unless it is an option. */
export function testOptions(words: readonly string[]): TestOptions {
  const options: TestOptions = { changed: undefined, hasTimes: false, isHelp: false, filters: [] };
  // npm takes the first `--` away; whoever starts scripts/run.mjs by hand leaves it, and with it vitest would run everything.
  const rest = words[0] === '--' ? words.slice(1) : [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--times') options.hasTimes = true;
    else if (word === '--help' || word === '-h') options.isHelp = true;
    else if (word.startsWith('--changed=')) options.changed = { since: word.slice('--changed='.length) };
    else if (word === '--changed') options.changed = { since: rest[0]?.startsWith('-') === false ? rest.shift() : undefined };
    else options.filters.push(word);
  }
  return options;
}
