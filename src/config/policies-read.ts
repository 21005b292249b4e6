import { alerts } from '../domain/policies/alerts.ts';
import { controlPlane } from '../domain/policies/control-plane.ts';
import { controllerIsolated, DEFAULT_ISOLATION } from '../domain/policies/controller-isolated.ts';
import type { IsolationSettings } from '../domain/policies/controller-isolated.ts';
import { cooldown, DEFAULT_COOLDOWN_MS } from '../domain/policies/cooldown.ts';
import { DEFAULT_FAILURE_DOMAIN, failureDomain } from '../domain/policies/failure-domain.ts';
import { maintenance } from '../domain/policies/maintenance.ts';
import { DEFAULT_CONCURRENT, maxConcurrent } from '../domain/policies/max-concurrent.ts';
import { maxUnhealthy } from '../domain/policies/max-unhealthy.ts';
import type { PolicyName, StormPolicy } from '../domain/policies/policy.ts';
import { DEFAULT_RATE, rate } from '../domain/policies/rate.ts';
import type { CommonSettings } from '../domain/policies/scope.ts';
import { DEFAULT_STARTUP_GRACE_MS, startupGrace } from '../domain/policies/startup-grace.ts';
import { DEFAULT_STORAGE_CASES, STORAGE_CASES, storageReachable } from '../domain/policies/storage-reachable.ts';
import { UTC, windows } from '../domain/policies/windows.ts';
import type { Settings } from './configuration.ts';
import { parseTimezone, parseWindows } from './policies-windows.ts';
import { parseDuration, parseList } from './properties.ts';
import { parseSelector, selects } from './selector.ts';

/** The values of one policy, each checked before; an empty one is no setting. */
export class PolicyValues {
  readonly #settings: Settings;

  constructor(settings: Settings = new Map()) {
    this.#settings = settings;
  }

  text(key: string): string | undefined {
    const value = this.#settings.get(key)?.value;
    return value === '' ? undefined : value;
  }

  durationMs(key: string): number | undefined {
    return parseDuration(this.text(key) ?? '');
  }

  number(key: string): number | undefined {
    const value = this.text(key);
    return value === undefined ? undefined : Number.parseFloat(value);
  }

  list(key: string): readonly string[] | undefined {
    const value = this.text(key);
    return value === undefined ? undefined : parseList(value);
  }

  matcher(key: string): CommonSettings['scope'] {
    const requirements = parseSelector(this.text(key) ?? '');
    return requirements === undefined ? undefined : (labels) => selects(requirements, labels);
  }
}

export interface PolicyContext {
  /** What being cut off means here, as `controller-isolated` has it. */
  isolation: IsolationSettings;
  /** Why its ConfigMap cannot be used, where its defaults cannot stand for it. */
  broken?: string;
}

/** What every policy has, from its ConfigMap. */
export function commonSettings(name: string, values: PolicyValues): CommonSettings {
  const scope = values.matcher('node_selector');
  const alarmAfterMs = values.durationMs('alarm_after');
  return { name, ...(scope !== undefined && { scope }), ...(alarmAfterMs !== undefined && { alarmAfterMs }) };
}

/** `graceMs`: how long a node may be silent in this cluster before it counts as failed. */
export function isolationSettings(values: PolicyValues, graceMs: number): IsolationSettings {
  const minReachable = values.number('min_reachable');
  return {
    targets: values.list('targets') ?? DEFAULT_ISOLATION.targets,
    ...(minReachable !== undefined && { minReachable }),
    staleAfterMs: values.durationMs('stale_after') ?? DEFAULT_ISOLATION.staleAfterMs,
    graceMs: values.durationMs('grace') ?? graceMs,
  };
}

type Maker = (common: CommonSettings, values: PolicyValues, context: PolicyContext) => StormPolicy;

const MAKERS: Readonly<Record<PolicyName, Maker>> = {
  'max-unhealthy': (common, values, { isolation }) => {
    const [percentage, max] = [values.number('percentage'), values.number('max')];
    return maxUnhealthy({ ...common, isolation, ...(percentage !== undefined && { percentage }), ...(max !== undefined && { max }) });
  },
  'max-concurrent': (common, values) =>
    maxConcurrent({
      ...common,
      // Who picks some nodes means them one at a time.
      max: values.number('max') ?? (common.scope === undefined ? DEFAULT_CONCURRENT.max : 1),
      maxPerDomain: values.number('max_per_domain') ?? DEFAULT_CONCURRENT.maxPerDomain,
      topologyKeys: values.list('topology_key') ?? DEFAULT_CONCURRENT.topologyKeys,
    }),
  rate: (common, values) =>
    rate({ ...common, max: values.number('max') ?? DEFAULT_RATE.max, windowMs: values.durationMs('window') ?? DEFAULT_RATE.windowMs }),
  'failure-domain': (common, values) =>
    failureDomain({
      ...common,
      topologyKeys: values.list('topology_key') ?? DEFAULT_FAILURE_DOMAIN.topologyKeys,
      share: values.number('share') ?? DEFAULT_FAILURE_DOMAIN.share,
    }),
  'controller-isolated': (common, values, { isolation }) => controllerIsolated({ ...common, ...isolationSettings(values, isolation.graceMs) }),
  'control-plane': (common) => controlPlane(common),
  'startup-grace': (common, values) => startupGrace({ ...common, durationMs: values.durationMs('duration') ?? DEFAULT_STARTUP_GRACE_MS }),
  maintenance: (common, values, { broken }) => {
    const [key, value] = split(values.text('annotation'));
    const label = values.matcher('label');
    return maintenance({
      ...common,
      ...(key !== undefined && { annotation: { key, value } }),
      ...(label !== undefined && { label, labelText: values.text('label') ?? '' }),
      windows: parseWindows(values.text('windows') ?? '') ?? [],
      offsetMs: offsetOf(values),
      ...(broken !== undefined && { unreadable: broken }),
    });
  },
  cooldown: (common, values) => cooldown({ ...common, durationMs: values.durationMs('duration') ?? DEFAULT_COOLDOWN_MS }),
  windows: (common, values, { broken }) =>
    windows({
      ...common,
      allow: parseWindows(values.text('allow') ?? '') ?? [],
      deny: parseWindows(values.text('deny') ?? '') ?? [],
      offsetMs: offsetOf(values),
      ...(broken !== undefined && { unreadable: broken }),
    }),
  alerts: (common, values, { broken }) => {
    const query = values.text('query');
    const whenUnreachable = values.text('when_unreachable')?.toLowerCase() === 'hold' ? 'hold' : 'ignore';
    return alerts({
      ...common,
      query: {
        url: broken === undefined ? (values.text('url') ?? '') : '',
        names: values.list('alert') ?? [],
        ...(query !== undefined && { query }),
      },
      whenUnreachable,
    });
  },
  'storage-reachable': (common, values) => {
    const words = values.list('when')?.map((word) => word.toLowerCase());
    return storageReachable({ ...common, when: words === undefined ? DEFAULT_STORAGE_CASES : STORAGE_CASES.filter((name) => words.includes(name)) });
  },
};

/** The policy of that kind; without values its defaults. */
export function makePolicy(policy: PolicyName, common: CommonSettings, values: PolicyValues, context: PolicyContext): StormPolicy {
  return MAKERS[policy](common, values, context);
}

function offsetOf(values: PolicyValues): (wallMs: number) => number {
  return parseTimezone(values.text('timezone') ?? 'UTC') ?? UTC;
}

function split(text: string | undefined): [key: string | undefined, value: string | undefined] {
  if (text === undefined) return [undefined, undefined];
  const at = text.indexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
