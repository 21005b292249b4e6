/** What may stand for a placeholder: no blank, nothing that a shell or a program would take for an option. */
const VALUE = /^[A-Za-z0-9_/][A-Za-z0-9_.:/@=+-]{0,254}$/;
const PLACEHOLDER = /%([a-z]+)%/g;
const WORD = /"([^"]*)"|([^\s"]+)/g;
const WORDS_MAX = 64;
const LENGTH_MAX = 2_000;

/** Words by which a command or a line may name what is meant. */
export const PLACEHOLDERS: readonly string[] = ['plug', 'client', 'target', 'node'];

export type Placeholders = Readonly<Record<string, string | undefined>>;

/** The words of a command, quotes taken off; or what is wrong with it. Nothing is expanded yet. */
export function argumentsOf(template: string): string[] | string {
  if (template.length > LENGTH_MAX) return `is longer than ${LENGTH_MAX} characters`;
  if (template.replaceAll(WORD, '').includes('"')) return 'has a quotation mark without its other';
  const words = [...template.matchAll(WORD)].map(([, inQuotes, plain]) => inQuotes ?? plain ?? '');
  const [program = ''] = words;
  if (program === '') return 'is empty';
  if (words.length > WORDS_MAX) return `has more than ${WORDS_MAX} words`;
  if (!/^[A-Za-z0-9/][A-Za-z0-9_./-]*$/.test(program)) return 'must begin with a program';
  return unknownPlaceholder(template);
}

/** What is wrong with the placeholders of a text; otherwise the text's words, of which there are none to tell. */
function unknownPlaceholder(text: string): string[] | string {
  const unknown = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name).find((name) => !PLACEHOLDERS.includes(name));
  if (unknown !== undefined) return `has %${unknown}%, which is none of ${PLACEHOLDERS.map((name) => `%${name}%`).join(', ')}`;
  return [...text.matchAll(WORD)].map(([, inQuotes, plain]) => inQuotes ?? plain ?? '');
}

/** Names of the placeholders of a text. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** Problem of a line to look for; undefined when there is none. */
export function lineProblem(text: string): string | undefined {
  if (text.trim() === '') return 'is empty';
  const placeholders = unknownPlaceholder(text);
  if (typeof placeholders === 'string') return placeholders;
  const pattern = patternOf(text);
  if (pattern === undefined) return undefined;
  try {
    return new RegExp(pattern).test('') ? 'matches an empty line' : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return 'is no regular expression';
    throw error;
  }
}

function patternOf(text: string): string | undefined {
  return /^\/(.+)\/$/s.exec(text)?.[1];
}

/** The text with every placeholder filled; throws what is wrong, without the value. */
export function filled(text: string, placeholders: Placeholders, escape: (value: string) => string = (value) => value): string {
  return text.replaceAll(PLACEHOLDER, (_all, name: string) => {
    const value = placeholders[name] ?? '';
    if (value === '') throw new PlaceholderProblem(`%${name}% is needed, and ${name} is not given`);
    if (!VALUE.test(value)) throw new PlaceholderProblem(`${name} holds characters that are not allowed in a command`);
    return escape(value);
  });
}

export class PlaceholderProblem extends Error {
  override readonly name = 'PlaceholderProblem';
}

/** Is there a line that says this: word for word, or as `/a regular expression/` that has to match the whole of it. */
export function hasLine(output: string, wanted: string, placeholders: Placeholders): boolean {
  const lines = output.split('\n').map((line) => line.trim());
  const pattern = patternOf(wanted);
  if (pattern === undefined) {
    const text = filled(wanted, placeholders).trim();
    return lines.includes(text);
  }
  const whole = new RegExp(`^(?:${filled(pattern, placeholders, (value) => value.replaceAll(/[.+/=-]/g, String.raw`\$&`))})$`);
  return lines.some((line) => line !== '' && whole.test(line));
}
