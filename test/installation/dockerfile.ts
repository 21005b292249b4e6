/** One instruction of a Dockerfile, its continuation lines joined: `RUN`, `npm ci`. */
export interface Instruction {
  word: string;
  rest: string;
  line: number;
}

export interface Stage {
  /** What follows AS; empty for one without a name. */
  name: string;
  /** Reference of an image, or the name of an earlier stage. */
  from: string;
  instructions: readonly Instruction[];
}

const KNOWN = new Set(['FROM', 'ARG', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'EXPOSE', 'ENTRYPOINT', 'CMD']);

/** The stages of a Dockerfile, with the build arguments before the first FROM filled in. An instruction that is not understood is an error. */
export function parseDockerfile(text: string): Stage[] {
  const values = new Map<string, string>();
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(text)) {
    const { word, rest, line } = instruction;
    if (!KNOWN.has(word)) throw new Error(`Dockerfile, line ${line}: ${word} is not understood here`);
    const current = stages.at(-1);
    if (word === 'FROM') {
      const [from = '', as, name = ''] = rest.replace(/^--platform=\$(BUILD|TARGET)PLATFORM\s+/, '').split(/\s+/);
      if (as !== undefined && as.toUpperCase() !== 'AS') throw new Error(`Dockerfile, line ${line}: FROM image AS name`);
      stages.push({ name, from: from.replace(/\$\{(\w+)\}/g, (_whole, key: string) => values.get(key) ?? ''), instructions: [] });
    } else if (current === undefined) {
      if (word !== 'ARG') throw new Error(`Dockerfile, line ${line}: ${word} before the first FROM`);
      const [key = '', value = ''] = rest.split('=');
      values.set(key, value);
    } else current.instructions.push(instruction);
  }
  return stages;
}

function instructionsOf(text: string): Instruction[] {
  const found: Instruction[] = [];
  let joined = '';
  let begun = 0;
  for (const [index, raw] of text.split('\n').entries()) {
    if (raw.trim() === '' || raw.trimStart().startsWith('#')) continue;
    if (joined === '') begun = index + 1;
    joined += raw.trim().replace(/\\$/, '');
    if (raw.trimEnd().endsWith('\\')) continue;
    const [, word = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(joined) ?? [];
    found.push({ word: word.toUpperCase(), rest: rest.trim(), line: begun });
    joined = '';
  }
  return found;
}

/** Does this path, relative to the context, go to the builder? The last pattern that matches decides. */
export function isSent(ignoreText: string, path: string): boolean {
  let isIgnored = false;
  for (const line of ignoreText.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const isException = line.startsWith('!');
    if (matches(isException ? line.slice(1) : line, path)) isIgnored = !isException;
  }
  return !isIgnored;
}

/** A pattern covers what it names and everything below. */
function matches(pattern: string, path: string): boolean {
  const escaped = pattern.replace(/[.+^${}()|[\]\\?]/g, '\\$&');
  const expression = escaped.replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'));
  return new RegExp(`^${expression}(?:/.*)?$`).test(path);
}
