import type { PlugEntry } from '../../src/ports/agents.ts';
import type { ProgramResult } from '../shared/process/run-program.ts';
import { lookup } from '../../src/domain/lookup.ts';

const QUOTE_MAX = 300;
const PLUGS_MAX = 1_000;
/** What the library's logger writes before each message. */
const LOG_PREFIX = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (?:ERROR|WARNING|INFO|DEBUG): /;
const ON_CODE = 0;
const OFF_CODE = 2;

/**
 * The answer to `status`. Exit code and words have to agree: an interpreter that cannot read the agent's file ends with 2 as well, which alone would
 * mean off. `byCode`: the agent prints no words, and an interpreter that ends with 2 complains; so one that says anything is not off.
 */
export function statusOf({ ended, code, stdout, stderr, isCut }: ProgramResult, byCode: boolean): 'on' | 'off' | 'unknown' {
  if (ended !== 'exited' || isCut) return 'unknown';
  const words = stdout.split('\n').filter((line) => line.startsWith('Status:'));
  if (code === ON_CODE && (byCode ? words.length === 0 : words.join() === 'Status: ON')) return 'on';
  if (code === OFF_CODE && (byCode ? `${stdout}${stderr}`.trim() === '' : words.join() === 'Status: OFF')) return 'off';
  return 'unknown';
}

const SENT = new Set(['Success: Powered OFF', 'Failed: Timed out waiting to power OFF']);

/**
 * Did an off leave? The library reads the plug first and sends nothing where that is off; however the program ends after those words. Undefined: its words
 * do not say.
 */
export function isOffSent({ stdout, stderr }: ProgramResult): boolean | undefined {
  const lines = [...linesOf(stdout), ...linesOf(stderr)];
  if (lines.some((line) => /^success: already off$/iu.test(line))) return false;
  return lines.some((line) => SENT.has(line)) ? true : undefined;
}

export type Failure = 'Refused' | 'Unreachable' | 'Misconfigured' | 'none';

/** What kind of failure the agent's words tell of; `none` where they do not say, or nothing failed. */
export function failureIn({ code, stderr }: ProgramResult): Failure {
  if (code === 0) return 'none';
  if (/You have to (?:enter|set|use)|Parse error: (?!Ignoring)|Unrecogni[sz]ed action|validate-all failed/i.test(stderr)) return 'Misconfigured';
  if (/privilege|not (?:permitted|authori[sz]ed|allowed)|permission denied|forbidden|\b403\b/i.test(stderr)) return 'Refused';
  if (/Unable to connect|Connection (?:lost|timed out|refused)|\b401\b|Unauthori[sz]ed/i.test(stderr)) return 'Unreachable';
  return 'none';
}

/** The agent's words for a message: its errors, else its output, and how it ended; printable, short, without any of the secrets. */
export function describeResult(result: ProgramResult, secrets: readonly string[]): string {
  const lines = linesOf(result.stderr).filter((line) => !line.startsWith("Please use '-h'"));
  const spoken = lines.length > 0 ? lines.slice(-4) : linesOf(result.stdout).slice(-2);
  let message = spoken.join(' / ').replaceAll(/\p{Cc}/gu, '?');
  for (const secret of secrets) if (secret !== '') message = message.replaceAll(secret, '***');
  if (message.length > QUOTE_MAX) message = `${message.slice(0, QUOTE_MAX)}...`;
  return `${message === '' ? 'it said nothing' : message} (${endOf(result)})`;
}

function endOf({ ended, code, signal }: ProgramResult): string {
  if (ended === 'deadline') return 'killed at the deadline';
  if (ended === 'aborted') return 'killed, the call was given up';
  return code === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${code}`;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(LOG_PREFIX, ''))
    .filter((line) => line !== '');
}

const STATES: Readonly<Record<string, 'on' | 'off'>> = { ON: 'on', OFF: 'off' };

/** Lines `plug,alias` or `plug,alias,STATE`; what is none, such as a notice, is left out. */
export function plugsOf(stdout: string, withStates: boolean): { plug: string; alias?: string; state?: 'on' | 'off' | 'unknown' }[] {
  const plugs: ReturnType<typeof plugsOf> = [];
  for (const line of stdout.split('\n')) {
    const parts = line.trim().split(',');
    if (parts.length < (withStates ? 3 : 2)) continue;
    const plug = parts[0] ?? '';
    const alias = parts.slice(1, withStates ? -1 : undefined).join(',');
    const state = lookup(STATES, parts.at(-1) ?? '') ?? 'unknown';
    if (plug !== '') plugs.push({ plug, ...(alias === '' ? {} : { alias }), ...(withStates ? { state } : {}) } satisfies PlugEntry);
    if (plugs.length === PLUGS_MAX) break;
  }
  return plugs;
}
