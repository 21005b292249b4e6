import { chassisStatus } from '../chassis-status.ts';
import type { Control, ControlAnswer, GuidAnswer, RawAnswer, StatusAnswer } from '../line.ts';
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

const SIXTEEN_BYTES = /^(?: [0-9a-f]{2}){16}$/;
const LAST_BYTES = /^(?: [0-9a-f]{2}){1,16}$/;

/** What the terminal showed, as lines: escape sequences and carriage returns taken out. Any other control character stays, and spoils its line. */
export function linesOf(text: string): string[] {
  return withoutEscapes(text)
    .split(/\r*\n/)
    .map((line) => line.replace(/\r+$/, ''));
}

/** Control sequences such as `ESC [ ? 2004 h` are the line editor's and carry no words. */
export function withoutEscapes(text: string): string {
  if (!text.includes('\u001b')) return text;
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
  const message = spoken(lines)
    .join(' / ')
    .replaceAll(/[^\P{Cc}]/gu, '?');
  if (message === '') return 'nothing';
  return message.length > QUOTE_MAX ? `${message.slice(0, QUOTE_MAX)}...` : message;
}

/** No answer of the BMC: it was silent, or what was said is no answer to the request. */
type Nothing = { kind: 'silence'; detail: string } | { kind: 'odd'; detail: string };

/** The answer to any `raw` command: lines of sixteen bytes, or the completion code of a failure. */
export function rawAnswer(lines: readonly string[]): RawAnswer | Nothing {
  const answer = spoken(lines);
  const detail = quoted(lines);
  const [line] = answer;
  if (answer.every((each, index) => (index === answer.length - 1 ? LAST_BYTES : SIXTEEN_BYTES).test(each)))
    return { kind: 'raw', completion: 0, data: Buffer.from(answer.join('').replaceAll(' ', ''), 'hex') };
  if (answer.length !== 1 || line === undefined) return { kind: 'odd', detail };
  const failed = /^Unable to send RAW command \([ -~]+ rsp=0x([0-9a-f]{1,2})\): [ -~]+$/.exec(line);
  if (failed !== null) return { kind: 'raw', completion: Number.parseInt(failed[1] ?? '', 16), data: Buffer.alloc(0) };
  return { kind: /^Unable to send RAW command \([ -~]+\)$/.test(line) ? 'silence' : 'odd', detail };
}

/** The answer to Get Chassis Status. */
export function statusAnswer(lines: readonly string[]): StatusAnswer | Nothing {
  const answer = rawAnswer(lines);
  return answer.kind === 'raw' ? chassisStatus(answer) : answer;
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

/** The answer to Get System GUID: 16 bytes in the order of the wire. */
export function guidAnswer(lines: readonly string[]): GuidAnswer | Nothing {
  const answer = rawAnswer(lines);
  if (answer.kind !== 'raw') return answer;
  const detail = quoted(lines);
  if (answer.completion !== 0) return { kind: 'none', detail };
  return answer.data.length === 16 ? { kind: 'guid', hexadecimal: answer.data.toString('hex'), detail } : { kind: 'odd', detail };
}
