const WORDS_MAX = 300;
// eslint's no-control-regex would forbid the escapes that terminals are steered by.
const ESCAPES = new RegExp('\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007]*\\u0007|[()][0-9A-Z]|[=>78DEHM])', 'g');
const CONTROLS = new RegExp('[\\u0000-\\u0008\\u000b-\\u001f\\u007f]', 'g');

/** Text without what steers a terminal; line ends are `\n`. */
export function plainText(text: string): string {
  return text.replace(ESCAPES, '').replaceAll(/\r+\n/g, '\n').replace(CONTROLS, '');
}

/** What a device said, in one line of at most 300 characters, with every secret struck out. */
export function deviceMessage(text: string, secrets: readonly (string | undefined)[]): string {
  const message = struckOut(plainText(text), secrets).replaceAll(/\s+/g, ' ').trim();
  return message.length > WORDS_MAX ? `${message.slice(0, WORDS_MAX)}…` : message;
}

/** The text without the secrets of at least so many characters. */
export function struckOut(text: string, secrets: readonly (string | undefined)[], charactersMin = 1): string {
  return secrets.reduce<string>((left, secret) => ((secret?.length ?? 0) < charactersMin ? left : left.replaceAll(secret ?? '', '***')), text);
}
