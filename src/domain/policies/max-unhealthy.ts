import { isolationOf, unlessSwitchedOff } from './controller-isolated.ts';
import type { IsolationSettings } from './controller-isolated.ts';
import { NOBODY } from './policy.ts';
import type { StormPolicy } from './policy.ts';
import { isUnhealthy } from './node-set.ts';
import { countOf, forAll, stormPolicy, unhealthyIn } from './scope.ts';
import type { CommonSettings, Ruling } from './scope.ts';
import type { StormNode, StormView } from './view.ts';

export interface MaxUnhealthySettings extends CommonSettings {
  /** Percent of the nodes in scope that may be unhealthy, rounded down; with the small scopes written out, see `allowedUnhealthy`. */
  percentage?: number;
  /** Nodes that may be unhealthy, taken as written on any scope. With both the smaller counts; with neither 40 percent. */
  max?: number;
  /** What being cut off means, for the scope of two nodes. */
  isolation: IsolationSettings;
}

export const DEFAULT_PERCENTAGE = 40;

/**
 * How many of `total` nodes may be unhealthy while one of them is fenced. By percentage: of 1 node none, of 2 or 3 one, of more the percentage rounded
 * down. 0 percent allows none and 100 percent all, whatever the scope.
 */
export function allowedUnhealthy(total: number, { percentage, max }: Pick<MaxUnhealthySettings, 'percentage' | 'max'>): number {
  if (percentage === undefined && max !== undefined) return max;
  const allowed = share(total, percentage ?? DEFAULT_PERCENTAGE);
  return max === undefined ? allowed : Math.min(allowed, max);
}

function share(total: number, percentage: number): number {
  if (percentage <= 0) return 0;
  if (percentage >= 100) return total;
  if (total <= 1) return 0;
  // Tenths of a percent are whole numbers: 29 percent of 100 is 29, not 28.999.
  const rounded = Math.floor((total * Math.round(percentage * 1000)) / 100_000);
  return total <= 3 ? Math.max(1, rounded) : rounded;
}

/** Too many are down at once: that is no failure of a node but of what they share. */
export function maxUnhealthy(settings: MaxUnhealthySettings): StormPolicy {
  return stormPolicy('max-unhealthy', settings, (view) => {
    const total = countOf(settings, view);
    const unhealthy = unhealthyIn(settings, view);
    const allowed = allowedUnhealthy(total, settings);
    const limit = `${allowed} may be (${rule(total, settings)})`;
    if (unhealthy.length > allowed) {
      const end = allowed === 0 ? 'no node is' : `no more than ${allowed} of them are`;
      return forAll({ reason: 'max-unhealthy', message: `${counted(unhealthy, total)}, ${limit}; ends when ${end}` });
    }
    const held = unhealthy.length < allowed ? forAll(undefined) : oneMore(`${counted(unhealthy, total)} beside this one`, limit, allowed);
    const isolation = total === 2 && isByPercentage(settings) ? whileIsolated(settings.isolation, view) : forAll(undefined);
    return held === NOBODY ? isolation : (node) => held(node) ?? isolation(node);
  });
}

/** A well node that somebody asks for makes one more when its fence begins: it waits, so that the fences of those that failed go on. */
function oneMore(counts: string, limit: string, allowed: number): Ruling {
  const end = allowed === 0 ? 'more may be' : allowed === 1 ? 'no other node is' : `no more than ${allowed - 1} others are`;
  const message = `${counts}, which is well and would be one more, ${limit}; ends when ${end}`;
  return (node) => (!isUnhealthy(node) && isAskedFor(node) ? { reason: 'max-unhealthy', message } : undefined);
}

function isAskedFor({ fence }: StormNode): boolean {
  return fence?.state === 'new' && fence.isRequested;
}

function counted(unhealthy: readonly StormNode[], total: number): string {
  const silent = unhealthy.filter(({ health }) => health === 'silent').length;
  const kept = unhealthy.filter(({ isPreserved }) => isPreserved === true).length;
  const preserved = kept === 0 ? '' : `, ${kept} preserved`;
  return `${unhealthy.length} of ${total} nodes are unhealthy (${silent} of them silent${preserved})`;
}

function whileIsolated(settings: IsolationSettings, view: StormView): Ruling {
  const isolation = isolationOf(settings, view);
  if (isolation === undefined) return forAll(undefined);
  const held = unlessSwitchedOff(isolation);
  const { reason, message, untilMs } = isolation;
  const words = `of two nodes one is fenced only by a controller that is not cut off: ${message}`;
  return (node) => held(node) && { reason, message: words, ...(untilMs !== undefined && { untilMs }) };
}

/** Do the small scopes apply? */
function isByPercentage({ percentage, max }: MaxUnhealthySettings): boolean {
  return percentage === undefined ? max === undefined : percentage < 100;
}

function rule(total: number, settings: MaxUnhealthySettings): string {
  const { percentage = DEFAULT_PERCENTAGE, max } = settings;
  const byShare = total <= 3 && isByPercentage(settings) && percentage > 0 ? `the rule for ${total} in scope` : `${percentage}%, rounded down`;
  if (max === undefined) return byShare;
  return settings.percentage === undefined ? `max=${max}` : `${byShare}, and max=${max}`;
}
