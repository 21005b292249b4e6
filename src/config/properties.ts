import { lookup } from '../domain/lookup.ts';

/** One `key=value` line of a ConfigMap's data key. */
export interface Entry {
  key: string;
  value: string;
  /** 1 for the first line. */
  line: number;
}

export interface PropertiesProblem {
  severity: 'error' | 'warning';
  line: number;
  message: string;
}

export interface Properties {
  /** In order; of a key that is given twice the last counts and only that one is here. */
  entries: readonly Entry[];
  problems: readonly PropertiesProblem[];
}

/** Historical spellings, as they stand in clusters since 2017. */
const SPELLINGS: Readonly<Record<string, string>> = {
  precentage: 'percentage',
  must_sucess: 'must_success',
  roles: 'policies',
  grace_timeout: 'isolation_delay',
  giveup_retries: 'step_retries',
  recover: 'recovery',
};

/** The first level has no number of its own. */
const FIRST_LEVEL = /^(isolation|power_management|recovery)\.1$/;

/**
 * The key as this program calls it: dashes as underscores, historical names and misspellings resolved, levels kept (`power-managment.2` → `power_management.2`)
 * but for the first (`power_management.1` → `power_management`).
 */
export function canonicalKey(key: string): string {
  const plain = key.replaceAll('-', '_');
  return lookup(SPELLINGS, plain) ?? plain.replace(/^power_manage?ment(?=$|\.)/, 'power_management').replace(FIRST_LEVEL, '$1');
}

/**
 * Parses the properties dialect: split at the first `=`, trimmed; `#` starts a comment at the start of a line or after white space; CRLF as LF.
 * Source: reference vectors of rootfs/node-fencing's users.
 */
export function parseProperties(text: string): Properties {
  const byKey = new Map<string, Entry>();
  const problems: PropertiesProblem[] = [];
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = index + 1;
    const content = raw.replace(/(^|\s)#.*$/, '').trim();
    if (content === '') continue;
    const at = content.indexOf('=');
    const written = content.slice(0, at).trim();
    if (at < 0 || written === '') {
      problems.push({ severity: 'error', line, message: 'is not key=value; write key=value, or start the line with # for a comment' });
      continue;
    }
    const key = canonicalKey(written);
    const earlier = byKey.get(key);
    if (earlier !== undefined) problems.push({ severity: 'warning', line, message: `duplicate key ${written}: replaces line ${earlier.line}` });
    byKey.delete(key);
    byKey.set(key, { key, value: content.slice(at + 1).trim(), line });
  }
  return { entries: [...byKey.values()], problems };
}

/** Items between blanks or commas. */
export function parseList(value: string): string[] {
  return value.split(/[\s,]+/).filter((item) => item !== '');
}

const TRUE = new Set(['on', 'yes', 'true', '1']);
const FALSE = new Set(['off', 'no', 'false', '0']);

/** on, yes, true, 1 and their opposites, in any case; undefined for anything else. */
export function parseBoolean(value: string): boolean | undefined {
  const word = value.toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : undefined;
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

/** Milliseconds of `500ms`, `5s`, `1h30m` or bare seconds; undefined for anything else. */
export function parseDuration(value: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000);
  if (!DURATION.test(value)) return undefined;
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  return Math.round(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNITS_MS[unit ?? ''] ?? Number.NaN), 0));
}
