import { CONFIG_KEY, place, readSettings } from './configuration.ts';
import type { Configuration, ConfigText, Setting } from './configuration.ts';
import { checkForm, NOT_ACTED_ON } from './dormant-keys.ts';
import type { Form } from './dormant-keys.ts';
import { didYouMean } from './nearest.ts';
import type { Problems } from './problems.ts';
import { parseList } from './properties.ts';
import { parseSelector } from './selector.ts';

export const POLICY_PREFIX = 'fence-policy-';

const TEXT: Form = { kind: 'text' };
const COUNT: Form = { kind: 'integer', minimum: 0, maximum: 1_000_000 };
const DURATION: Form = { kind: 'duration' };

/** Keys that any policy may have. */
const COMMON: Readonly<Record<string, Form>> = { policy_name: TEXT, node_selector: TEXT, alarm_after: DURATION, enabled: { kind: 'boolean' } };

/** Storm policies by name, with their own keys (design 5). */
const POLICIES: Readonly<Record<string, Readonly<Record<string, Form>>>> = {
  'max-unhealthy': { percentage: { kind: 'percentage' }, max: COUNT },
  'max-concurrent': { max: { kind: 'integer', minimum: 1, maximum: 1_000_000 } },
  rate: { max: { kind: 'integer', minimum: 1, maximum: 1_000_000 }, window: DURATION },
  'failure-domain': { topology_key: TEXT, share: { kind: 'percentage' } },
  'storage-reachable': { when: { kind: 'words', words: ['host-unreachable', 'storage-unreachable', 'lease-alive'] } },
  'controller-isolated': { targets: TEXT, min_reachable: COUNT },
  'control-plane': {},
  'startup-grace': { duration: DURATION },
  maintenance: { annotation: TEXT, label: TEXT, windows: TEXT },
  cooldown: { duration: DURATION },
  alerts: { url: TEXT, query: TEXT, alert: TEXT },
};

/** The original's only policy: a share of nodes above which fencing pauses. */
const ORIGINAL_KEY = 'percentage';

/** Every `fence-policy-*` in its form, and every name that `policies=` gives: both are read, and hold nobody yet. */
export function checkPolicies(configuration: Configuration, policies: Setting | undefined, problems: Problems): void {
  for (const config of configuration.configMaps.values()) if (config.name.startsWith(POLICY_PREFIX)) checkPolicy(config, problems);
  for (const name of parseList(policies?.value ?? '')) {
    if (configuration.configMaps.has(POLICY_PREFIX + name) || Object.hasOwn(POLICIES, name)) continue;
    const known = [
      ...Object.keys(POLICIES),
      ...[...configuration.configMaps.keys()].flatMap((key) => (key.startsWith(POLICY_PREFIX) ? [key.slice(POLICY_PREFIX.length)] : [])),
    ];
    problems.error(
      policies?.where ?? '',
      `policy ${name.slice(0, 60)} does not exist: ${didYouMean(name, known, `create ConfigMap ${POLICY_PREFIX}${name.slice(0, 60)}, or name one of ${Object.keys(POLICIES).join(', ')}`)}`,
    );
  }
}

function checkPolicy(config: ConfigText, problems: Problems): void {
  const settings = readSettings(config, CONFIG_KEY, problems);
  if (settings === undefined) {
    problems.error(place(config), `has no key ${CONFIG_KEY}: put the policy under that key`);
    return;
  }
  const named = settings.get('policy_name');
  const name = named?.value ?? config.name.slice(POLICY_PREFIX.length);
  const keys = Object.hasOwn(POLICIES, name) ? POLICIES[name] : undefined;
  if (keys === undefined && !settings.has(ORIGINAL_KEY)) {
    const names = Object.keys(POLICIES);
    problems.error(
      named?.where ?? place(config),
      `policy_name ${name.slice(0, 60)} is unknown: ${didYouMean(name, names, `one of ${names.join(', ')}`)}`,
    );
  }
  const known = { ...COMMON, ...(keys ?? POLICIES['max-unhealthy']) };
  for (const setting of settings.values()) checkKey(setting, known, problems);
  problems.warning(place(config), `policy ${name.slice(0, 60)}: ${NOT_ACTED_ON}`);
}

function checkKey(setting: Setting, known: Readonly<Record<string, Form>>, problems: Problems): void {
  const { key, value, where } = setting;
  const form = Object.hasOwn(known, key) ? known[key] : undefined;
  if (form === undefined) problems.warning(where, `unknown key ${key.slice(0, 60)}: ${didYouMean(key, Object.keys(known), 'it is ignored')}`);
  else if (key === 'node_selector' && parseSelector(value) === undefined) problems.error(where, `node_selector=${value.slice(0, 60)} is no selector`);
  else checkForm(setting, form, problems);
}
