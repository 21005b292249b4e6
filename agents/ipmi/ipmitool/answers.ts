import type { Control, RawAnswer } from '../line.ts';
import { CONTROL } from './commands.ts';

/** Lines of ipmitool 1.8.19 that say nothing of the request, as a session of little privilege or without suite list shows them. */
const NOISE = [/^Get HPM\.x Capabilities request failed, compcode = [0-9a-f]{2}$/, /^Unable to Get Channel Cipher Suites$/];

/** Completion codes (IPMI 2.0 table 5-2) by which a BMC says that it did not and will not do it, in ipmitool's words. */
const REFUSALS: ReadonlySet<string> = new Set([
  'Invalid command',
  'Invalid command on LUN',
  'Request data truncated',
  'Request data length invalid',
  'Request data field length limit exceeded',
  'Parameter out of range',
  'Invalid data field in request',
  'Command illegal for specified sensor or record type',
  'Insufficient privilege level',
  'Command not supported in present state',
  'Cannot execute command, command disabled',
]);

const QUOTE_MAX = 200;

/** What the terminal showed, as lines: escape sequences and carriage returns taken out. Any other control character stays, and spoils its line. */
export function linesOf(text: string): string[] {
  return withoutEscapes(text)
    .split(/\r*\n/)
    .map((line) => line.replace(/\r+$/, ''));
}

/** Control sequences such as `ESC [ ? 2004 h` are the line editor's and carry no words. */
export function withoutEscapes(text: string): string {
  // eslint's no-control-regex is right elsewhere: here the escape itself is what is looked for.
  return text
    .split('\u001b')
    .map((part, index) => (index === 0 ? part : part.replace(/^\[[0-9;?]*[A-Za-z]/, '')))
    .join('');
}

/** The lines that answer: without noise and blank lines. */
function spoken(lines: readonly string[]): string[] {
  return lines.filter((line) => line !== '' && !NOISE.some((noise) => noise.test(line)));
}

/** The device's words for a message: printable, short. */
export function quoted(lines: readonly string[]): string {
  const words = spoken(lines)
    .join(' / ')
    .replaceAll(/[^\P{Cc}]/gu, '?');
  if (words === '') return 'nothing';
  return words.length > QUOTE_MAX ? `${words.slice(0, QUOTE_MAX)}...` : words;
}

export type StatusAnswer =
  { kind: 'state'; state: 'on' | 'off' | 'unknown'; detail: string } | { kind: 'silence'; detail: string } | { kind: 'odd'; detail: string };

/** The answer to `chassis power status`. Only one whole line, alone, is a state; a BMC that gave an error is `unknown`. */
export function statusAnswer(lines: readonly string[]): StatusAnswer {
  const answer = spoken(lines);
  const detail = quoted(lines);
  const [line] = answer;
  if (answer.length !== 1 || line === undefined) return { kind: 'odd', detail };
  if (line === 'Chassis Power is on') return { kind: 'state', state: 'on', detail };
  if (line === 'Chassis Power is off') return { kind: 'state', state: 'off', detail };
  if (line === 'Unable to get Chassis Power Status') return { kind: 'silence', detail };
  if (/^Get Chassis Power Status failed: [ -~]+$/.test(line)) return { kind: 'state', state: 'unknown', detail };
  return { kind: 'odd', detail };
}

export interface ControlAnswer {
  kind: 'accepted' | 'refused' | 'unclear';
  detail: string;
}

/** The answer to `chassis power on|off|diag`. Busy, unspecified errors and silence are unclear: it may have been done. */
export function controlAnswer(lines: readonly string[], wanted: Control): ControlAnswer {
  const answer = spoken(lines);
  const detail = quoted(lines);
  const [line] = answer;
  if (answer.length !== 1 || line === undefined) return { kind: 'unclear', detail };
  if (line === `Chassis Power Control: ${CONTROL[wanted].words}`) return { kind: 'accepted', detail };
  const failure = `Set Chassis Power Control to ${CONTROL[wanted].words} failed: `;
  return { kind: line.startsWith(failure) && REFUSALS.has(line.slice(failure.length)) ? 'refused' : 'unclear', detail };
}

export type GuidAnswer =
  { kind: 'guid'; hexadecimal: string } | { kind: 'none'; detail: string } | { kind: 'silence'; detail: string } | { kind: 'odd'; detail: string };

/** The answer to `raw 0x06 0x37` (Get System GUID): 16 bytes in the order of the wire. */
export function guidAnswer(lines: readonly string[]): GuidAnswer {
  const answer = spoken(lines);
  const detail = quoted(lines);
  const [line] = answer;
  if (answer.length !== 1 || line === undefined) return { kind: 'odd', detail };
  if (/^(?: [0-9a-f]{2}){16}$/.test(line)) return { kind: 'guid', hexadecimal: line.replaceAll(' ', '') };
  if (/^Unable to send RAW command \([ -~]+ rsp=0x[0-9a-f]{1,2}\): [ -~]+$/.test(line)) return { kind: 'none', detail };
  if (/^Unable to send RAW command \([ -~]+\)$/.test(line)) return { kind: 'silence', detail };
  return { kind: 'odd', detail };
}

/** The answer to any `raw` command: lines of sixteen bytes, or the completion code of a failure; `undefined` for silence and all else. */
export function rawAnswer(lines: readonly string[]): RawAnswer | undefined {
  const answer = spoken(lines);
  const [line] = answer;
  const failed = line === undefined || answer.length > 1 ? null : /^Unable to send RAW command \([ -~]+ rsp=0x([0-9a-f]{1,2})\): [ -~]+$/.exec(line);
  if (failed !== null) return { kind: 'raw', completion: Number.parseInt(failed[1] ?? '', 16), data: Buffer.alloc(0) };
  if (!answer.every((each) => /^(?: [0-9a-f]{2}){1,16}$/.test(each))) return undefined;
  return { kind: 'raw', completion: 0, data: Buffer.from(answer.join('').replaceAll(' ', ''), 'hex') };
}
