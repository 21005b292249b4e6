import type { FenceOption } from './fence-options.ts';

/** Options by name as they were given; what could not be understood, in words. */
export interface FenceInput {
  values: Map<string, string>;
  /** Said on stderr; the call goes on. */
  warnings: string[];
  /** The call ends with these words. */
  failure?: string;
}

const YES: ReadonlySet<string> = new Set(['1', 'yes', 'on', 'true']);
const NO: ReadonlySet<string> = new Set(['0', 'no', 'off', 'false']);

/** What a fencer always sends: it means nothing to an agent of one machine. */
const IGNORED: ReadonlySet<string> = new Set(['nodename', 'plug', 'port']);

/** What may be quoted of a line that is not understood: anything else may be a further line of a key or a certificate. */
const NAME = /^[a-z][a-z0-9_-]{0,31}$/;

function byName(options: readonly FenceOption[]): Map<string, FenceOption> {
  const aliases = options.flatMap((option) => option.aliases.map((alias) => [alias, option] as const));
  return new Map([...aliases, ...options.map((option) => [option.name, option] as const)]);
}

/**
 * Lines `name=value`: trimmed, blank ones and comments left out, the first sign divides, one pair of quotes comes off, the last of several counts.
 * An unknown name is a warning without its value, which may be a secret.
 */
export function fromStdin(text: string, options: readonly FenceOption[]): FenceInput {
  const known = byName(options);
  const input: FenceInput = { values: new Map(), warnings: [] };
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const [, written = '', quoted = ''] = /^([^=]*)=(.*)$/s.exec(line) ?? [];
    const value = /^"(.*)"$/s.exec(quoted)?.[1] ?? quoted;
    const option = known.get(written.replaceAll('-', '_'));
    if (option === undefined) {
      // The name of a fencer's node is no path.
      if (IGNORED.has(written) && value.startsWith('/') && known.has('systems_uri')) input.values.set('systems_uri', value);
      else if (!IGNORED.has(written))
        input.warnings.push(`Parse error: Ignoring ${NAME.test(written) ? `unknown option '${written}'` : 'a line that names no option'}`);
    } else if (option.type !== 'boolean') input.values.set(option.name, value);
    else if (YES.has(value.toLowerCase())) input.values.set(option.name, 'yes');
    else if (NO.has(value.toLowerCase())) input.values.set(option.name, 'no');
    else input.warnings.push(`Parse error: Ignoring option '${written}' because it does not have value`);
  }
  return input;
}

/** Options in the manner of GNU getopt: anywhere, short ones together, long ones shortened as long as one is meant. */
export function fromArguments(argv: readonly string[], options: readonly FenceOption[]): FenceInput {
  const input: FenceInput = { values: new Map(), warnings: [] };
  const unused: string[] = [];
  const waiting = [...argv];
  for (let word = waiting.shift(); word !== undefined && input.failure === undefined; word = waiting.shift()) {
    if (word === '--') unused.push(...waiting.splice(0));
    else if (word.startsWith('--')) takeLong(word.slice(2), waiting, options, input);
    else if (word.startsWith('-') && word.length > 1) takeShort(word.slice(1), waiting, options, input);
    else unused.push(word);
  }
  if (unused.length > 0) input.warnings.push(`Unused arguments on command line: ${unused.length}`);
  return input;
}

function takeLong(word: string, waiting: string[], options: readonly FenceOption[], input: FenceInput): void {
  const [, written = word, , given] = /^([^=]*)(=(.*))?$/s.exec(word) ?? [];
  const known = byName(options);
  const name = written.replaceAll('-', '_');
  const exact = known.get(name);
  const meant = exact === undefined ? new Set([...known].filter(([each]) => each.startsWith(name)).map(([, option]) => option)) : new Set([exact]);
  const [option] = meant;
  if (name === '' || option === undefined) input.failure = `Parse error: option --${written} not recognized`;
  else if (meant.size > 1) input.failure = `Parse error: option --${written} not a unique prefix`;
  else if (option.type === 'boolean') {
    if (given === undefined) input.values.set(option.name, 'yes');
    else input.failure = `Parse error: option --${written} must not have an argument`;
  } else take(option, given ?? waiting.shift(), `--${written}`, input);
}

function takeShort(letters: string, waiting: string[], options: readonly FenceOption[], input: FenceInput): void {
  for (let index = 0; index < letters.length; index += 1) {
    const letter = letters.charAt(index);
    const option = options.find((each) => each.letter === letter);
    if (option === undefined) input.failure = `Parse error: option -${letter} not recognized`;
    else if (option.type === 'boolean') {
      input.values.set(option.name, 'yes');
      continue;
    } else {
      const rest = letters.slice(index + 1);
      take(option, rest === '' ? waiting.shift() : rest, `-${letter}`, input);
    }
    return;
  }
}

function take(option: FenceOption, value: string | undefined, written: string, input: FenceInput): void {
  if (value === undefined) input.failure = `Parse error: option ${written} requires argument`;
  else input.values.set(option.name, value);
}
