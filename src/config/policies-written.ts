import { TARGETS_MAX } from '../domain/policies/controller-isolated.ts';
import { POLICY_NAMES } from '../domain/policies/policy.ts';
import type { PolicyName } from '../domain/policies/policy.ts';
import { CONFIG_KEY, place, readSettings } from './configuration.ts';
import type { ConfigText, Setting, Settings } from './configuration.ts';
import { didYouMean } from './nearest.ts';
import { checkPolicyValue, COMMON_POLICY_KEYS, POLICY_KEYS } from './policies-keys.ts';
import { PolicyValues } from './policies-read.ts';
import { Problems } from './problems.ts';
import { parseBoolean, parseList } from './properties.ts';

export const POLICY_PREFIX = 'fence-policy-';

/** The original's only policy: a share of nodes above which fencing pauses. */
const ORIGINAL_KEY = 'percentage';

/** One `fence-policy-<name>`, read. */
export interface WrittenPolicy {
  name: string;
  policy: PolicyName;
  where: string;
  values: PolicyValues;
  isEnabled: boolean;
  isScoped: boolean;
  /** It cannot be used as written: it stands with its defaults, for all nodes. */
  isBroken: boolean;
  /** It says when, or where, nothing is to be fenced: where it cannot be read nobody knows that, and everybody is held. */
  forbids: boolean;
}

/** By which `maintenance` is told of more than the marks of others. */
const MAINTENANCE_KEYS = ['windows', 'annotation', 'label'];

/** What a ConfigMap says; undefined where not even its kind is known. */
export function readPolicy(config: ConfigText, problems: Problems): WrittenPolicy | undefined {
  const own = new Problems();
  const settings = readSettings(config, CONFIG_KEY, own) ?? new Map<string, Setting>();
  if (config.data[CONFIG_KEY] === undefined) own.error(place(config), `has no key ${CONFIG_KEY}: put the policy under that key`);
  const name = config.name.slice(POLICY_PREFIX.length);
  const policy = kindOf(config, settings, own);
  if (policy !== undefined) {
    const known = { ...COMMON_POLICY_KEYS, ...POLICY_KEYS[policy] };
    for (const setting of settings.values()) {
      const form = Object.hasOwn(known, setting.key) ? known[setting.key] : undefined;
      if (form !== undefined) checkPolicyValue(setting, form, own);
      else own.warning(setting.where, `unknown key ${setting.key.slice(0, 60)}: ${didYouMean(setting.key, Object.keys(known), 'it is ignored')}`);
    }
    checkTogether(policy, settings, place(config), own);
  }
  const isBroken = own.all().some(({ severity }) => severity === 'error');
  problems.take(own.all());
  if (policy === undefined) return undefined;
  const isEnabled = parseBoolean(settings.get('enabled')?.value ?? '') ?? true;
  const isTold = MAINTENANCE_KEYS.some((key) => (settings.get(key)?.value ?? '') !== '');
  const forbids = policy === 'windows' || (policy === 'maintenance' && isTold);
  if (isBroken && isEnabled) problems.error(place(config), `policy ${name.slice(0, 60)} cannot be used as written: ${standIn(policy, forbids)}`);
  const isScoped = !isBroken && (settings.get('node_selector')?.value ?? '') !== '';
  return { name, policy, where: place(config), values: new PolicyValues(settings), isEnabled, isScoped, isBroken, forbids };
}

function kindOf(config: ConfigText, settings: Settings, problems: Problems): PolicyName | undefined {
  const named = settings.get('policy_name');
  const written = named?.value ?? config.name.slice(POLICY_PREFIX.length);
  const policy = POLICY_NAMES.find((known) => known === written);
  if (policy !== undefined) return policy;
  if (settings.has(ORIGINAL_KEY)) return 'max-unhealthy';
  const hint = didYouMean(written, POLICY_NAMES, `one of ${POLICY_NAMES.join(', ')}`);
  problems.error(named?.where ?? place(config), `policy_name ${written.slice(0, 60)} is unknown: ${hint}`);
  return undefined;
}

/** What a policy needs more than values that are right by themselves. */
function checkTogether(policy: PolicyName, settings: Settings, where: string, problems: Problems): void {
  const has = (key: string): boolean => (settings.get(key)?.value ?? '') !== '';
  if (policy === 'alerts' && !has('url')) problems.error(where, 'has no url: nothing can be asked which alerts fire');
  if (policy === 'windows' && !has('allow') && !has('deny')) problems.warning(where, 'has neither allow nor deny: it holds no node');
  const reach = settings.get('min_reachable');
  const named = settings.get('targets');
  const targets = parseList(named?.value ?? '').length;
  if (policy === 'controller-isolated' && named !== undefined && targets > TARGETS_MAX)
    problems.error(named.where, `targets= names ${targets}: at most ${TARGETS_MAX} are asked`);
  if (policy === 'controller-isolated' && reach !== undefined && targets > 0 && Number(reach.value) > targets)
    problems.error(reach.where, `min_reachable=${reach.value} is more than the ${targets} targets`);
}

function standIn(policy: PolicyName, forbids: boolean): string {
  if (forbids) return 'until it is corrected, all nodes are held';
  return policy === 'alerts' ? 'until it is corrected, it counts as unanswered' : 'until it is corrected, its defaults apply to all nodes';
}
