import type { PolicyName } from '../domain/policies/policy.ts';
import { STORAGE_CASES } from '../domain/policies/storage-reachable.ts';
import type { Setting } from './configuration.ts';
import { checkForm } from './dormant-keys.ts';
import type { Form } from './dormant-keys.ts';
import { parseTimezone, parseWindows } from './policies-windows.ts';
import type { Problems } from './problems.ts';
import { parseList } from './properties.ts';
import { parseSelector } from './selector.ts';

/** What a value of a policy has to look like. */
type PolicyForm = Form | { kind: keyof typeof RULES };

const LABEL = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Forms of policies only: what is demanded, and whether a value is that. */
const RULES = {
  selector: { rule: 'a selector such as rack=r1', isMet: (value: string) => parseSelector(value) !== undefined },
  labels: {
    rule: 'names of labels, such as topology.kubernetes.io/zone',
    isMet: (value: string) => parseList(value).every((key) => LABEL.test(key)),
  },
  annotation: { rule: 'annotation or annotation=value', isMet: (value: string) => LABEL.test(value.split('=', 1)[0]?.trim() ?? '') },
  windows: {
    rule: 'windows such as 0 22 * * mon-fri 8h, joined by semicolons: minute, hour, day, month, weekday, and 1m to 31d',
    isMet: (value: string) => parseWindows(value) !== undefined,
  },
  timezone: { rule: 'a time zone such as Europe/Berlin', isMet: (value: string) => parseTimezone(value) !== undefined },
  url: { rule: 'an address such as http://prometheus.monitoring:9090', isMet: (value: string) => /^https?:\/\/[^\s/]/.test(value) },
} as const;

const TEXT: Form = { kind: 'text' };
/** A year: what is longer has no end. */
const DURATION: Form = { kind: 'duration', maximumMs: 366 * 86_400_000 };
const COUNT: Form = { kind: 'integer', minimum: 0, maximum: 1_000_000 };
const SOME: Form = { kind: 'integer', minimum: 1, maximum: 1_000_000 };
const PERCENTAGE: Form = { kind: 'percentage' };
const WINDOWS = { kind: 'windows' } as const;
const LABELS = { kind: 'labels' } as const;
const TIMEZONE = { kind: 'timezone' } as const;

/** Keys that any policy may have. */
export const COMMON_POLICY_KEYS: Readonly<Record<string, PolicyForm>> = {
  policy_name: TEXT,
  enabled: { kind: 'boolean' },
  node_selector: { kind: 'selector' },
  alarm_after: DURATION,
};

/** Keys of each policy's own. */
export const POLICY_KEYS: Readonly<Record<PolicyName, Readonly<Record<string, PolicyForm>>>> = {
  'max-unhealthy': { percentage: PERCENTAGE, max: COUNT },
  'max-concurrent': { max: SOME, max_per_domain: SOME, topology_key: LABELS },
  rate: { max: SOME, window: { ...DURATION, minimumMs: 1000 } },
  'failure-domain': { topology_key: LABELS, share: PERCENTAGE },
  'controller-isolated': { targets: TEXT, min_reachable: COUNT, grace: DURATION, stale_after: { ...DURATION, minimumMs: 1000 } },
  'control-plane': {},
  'startup-grace': { duration: DURATION },
  maintenance: { annotation: { kind: 'annotation' }, label: { kind: 'selector' }, windows: WINDOWS, timezone: TIMEZONE },
  cooldown: { duration: DURATION },
  windows: { allow: WINDOWS, deny: WINDOWS, timezone: TIMEZONE },
  alerts: { url: { kind: 'url' }, query: TEXT, alert: TEXT, when_unreachable: { kind: 'choice', words: ['hold', 'ignore'] } },
  'storage-reachable': { when: { kind: 'words', words: STORAGE_CASES } },
};

/** Does the value have its form? An error says which it must have; an empty value is no setting. */
export function checkPolicyValue(setting: Setting, form: PolicyForm, problems: Problems): void {
  if (!isOwn(form)) checkForm(setting, form, problems);
  else if (setting.value !== '' && !RULES[form.kind].isMet(setting.value))
    problems.error(setting.where, `${setting.key}=${setting.value.slice(0, 60)} must be ${RULES[form.kind].rule}`);
}

function isOwn(form: PolicyForm): form is { kind: keyof typeof RULES } {
  return Object.hasOwn(RULES, form.kind);
}
