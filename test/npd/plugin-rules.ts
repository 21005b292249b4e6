/** What node-problem-detector demands of the configuration of a custom plugin monitor: pkg/custompluginmonitor/types/config.go at 6632ca67, in our own words. */
export interface PluginConfig {
  plugin?: string;
  pluginConfig?: Readonly<Record<string, unknown>>;
  source?: string;
  conditions?: readonly { type: string; reason: string; message: string }[];
  rules?: readonly PluginRule[];
}

export interface PluginRule {
  type: string;
  condition?: string;
  reason: string;
  path: string;
  args?: readonly string[];
  timeout?: string;
  invoke_interval?: string;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration as Go writes it. NaN: it is none. */
export function durationMs(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/u.test(text)) return Number.NaN;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gu)].reduce(
    (total, [, count, unit]) => total + Number(count) * (UNITS[unit ?? ''] ?? Number.NaN),
    0,
  );
}

/** Why it would not start with it; empty: it would. `isThere` says whether a plugin's path is. */
export function refusals(config: PluginConfig, isThere: (path: string) => boolean): string[] {
  const found: string[] = [];
  const global = config.pluginConfig ?? {};
  const time = (name: string, otherwise: string): number => durationMs(typeof global[name] === 'string' ? global[name] : otherwise);
  const [intervalMs, timeoutMs] = [time('invoke_interval', '30s'), time('timeout', '5s')];
  if (config.plugin !== 'custom') found.push('the plugin is not "custom"');
  if (!(intervalMs > 0)) found.push('the global invoke_interval is not above zero');
  if (Number.isNaN(timeoutMs)) found.push('the global timeout is no duration');
  for (const rule of config.rules ?? []) {
    const ownMs = rule.timeout === undefined ? timeoutMs : durationMs(rule.timeout);
    if (Number.isNaN(ownMs)) found.push(`${rule.reason}: its timeout is no duration`);
    if (ownMs > timeoutMs) found.push(`${rule.reason}: its timeout is above the global one`);
    if (rule.invoke_interval !== undefined && !(durationMs(rule.invoke_interval) > 0))
      found.push(`${rule.reason}: its invoke_interval is not above zero`);
    if (!isThere(rule.path)) found.push(`${rule.reason}: there is no ${rule.path}`);
    if (rule.type === 'permanent' && !(config.conditions ?? []).some(({ type }) => type === rule.condition))
      found.push(`${rule.reason}: its condition ${rule.condition ?? ''} is not declared`);
  }
  return found;
}
