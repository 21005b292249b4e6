const WORDS_MAX = 300;
// eslint's no-control-regex would forbid the escapes that terminals are steered by.
const ESCAPES = new RegExp('\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007]*\\u0007|[()][0-9A-Z]|[=>78DEHM])', 'g');
const CONTROLS = new RegExp('[\\u0000-\\u0008\\u000b-\\u001f\\u007f]', 'g');

/** Text without what steers a terminal; line ends are `\n`. */
export function plainText(text: string): string {
  return text.replace(ESCAPES, '').replaceAll(/\r+\n/g, '\n').replace(CONTROLS, '');
}

/** What a device said, in one line of at most 300 characters, with every secret struck out. */
export function deviceWords(text: string, secrets: readonly (string | undefined)[]): string {
  let words = plainText(text);
  for (const secret of secrets) if (secret !== undefined && secret !== '') words = words.replaceAll(secret, '***');
  words = words.replaceAll(/\s+/g, ' ').trim();
  return words.length > WORDS_MAX ? `${words.slice(0, WORDS_MAX)}…` : words;
}
