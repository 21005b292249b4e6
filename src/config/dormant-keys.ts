import type { Setting } from './configuration.ts';
import type { Problems } from './problems.ts';
import { parseBoolean, parseDuration, parseList } from './properties.ts';

/** What a value has to look like. */
export type Form =
  | { kind: 'duration'; minimumMs?: number; maximumMs?: number }
  | { kind: 'boolean' }
  | { kind: 'integer'; minimum: number; maximum: number }
  | { kind: 'percentage' }
  | { kind: 'choice'; words: readonly string[] }
  | { kind: 'words'; words: readonly string[] }
  | { kind: 'text' };

/** Said of what is read and checked, but moves nothing yet. */
const NOT_ACTED_ON = 'recognised, not acted on by this version';

const DAY_MS = 86_400_000;
const DURATION: Form = { kind: 'duration' };

/** Keys that are part of the format, but that this version checks only. */
export const DORMANT_KEYS: Readonly<Record<string, Form>> = {
  heartbeat_interval: DURATION,
};

/** Does the value have its form? An error says which it must have; an empty value is no setting. */
export function checkForm({ key, value, where }: Setting, form: Form, problems: Problems): void {
  const rule = value === '' ? undefined : broken(value, form);
  if (rule !== undefined) problems.error(where, `${key}=${value.slice(0, 60)} must be ${rule}`);
}

function broken(value: string, form: Form): string | undefined {
  switch (form.kind) {
    case 'duration': {
      const ms = parseDuration(value);
      const { minimumMs: least = 0, maximumMs: most } = form;
      if (ms !== undefined && ms >= least && ms <= (most ?? Number.POSITIVE_INFINITY)) return undefined;
      const bounds = `${least === 0 ? '' : `, at least ${least / 1000}s`}${most === undefined ? '' : `${least === 0 ? ',' : ' and'} at most ${span(most)}`}`;
      return `a duration such as 5s, 3m or 1h30m${bounds}`;
    }
    case 'boolean':
      return parseBoolean(value) === undefined ? 'yes or no' : undefined;
    case 'integer': {
      const isWithin = /^\d{1,9}$/.test(value) && Number(value) >= form.minimum && Number(value) <= form.maximum;
      return isWithin ? undefined : `a whole number from ${form.minimum} to ${form.maximum}`;
    }
    case 'percentage':
      return /^\d{1,3}(\.\d+)?%?$/.test(value) && Number.parseFloat(value) <= 100 ? undefined : 'a percentage from 0 to 100';
    case 'choice':
      return form.words.includes(value.toLowerCase()) ? undefined : `one of ${form.words.join(', ')}`;
    case 'words':
      return parseList(value).every((word) => form.words.includes(word.toLowerCase())) ? undefined : `of ${form.words.join(', ')}`;
    case 'text':
      return undefined;
  }
}

function span(ms: number): string {
  return ms % DAY_MS === 0 ? `${ms / DAY_MS}d` : `${ms / 1000}s`;
}

/** Checked in form, and said to be dormant; a switch that is off and an empty value ask for nothing. */
export function checkDormant(setting: Setting, form: Form, problems: Problems): void {
  checkForm(setting, form, problems);
  if (setting.value === '' || (form.kind === 'boolean' && parseBoolean(setting.value) === false)) return;
  problems.warning(setting.where, `${setting.key}: ${NOT_ACTED_ON}`);
}
