import { rackOf } from '../racks.ts';
import { failing } from '../scenario.ts';
import type { Scenario } from '../scenario.ts';
import type { DaemonDeed, NodeDaemons } from './node-daemons.ts';

type Played = Pick<Scenario, 'victim' | 'nodes' | 'disturbances' | 'crashes' | 'device' | 'fault' | 'configuration' | 'api' | 'controllers'> & {
  daemons: Pick<NodeDaemons, 'deeds' | 'topologyKeys' | 'datagrams' | 'machines' | 'level'>;
};

/** What cannot cost a node its life while the leader grants. */
const HARMLESS: ReadonlySet<DaemonDeed['what']> = new Set(['slow-disk', 'jump', 'outage', 'change-times', 'link']);
const LONG_MS = 400_000;

/**
 * Those to which something happens; and where controllers or the API server fail too, or a lone controller may be cut off from it by calls that are lost, all that do not hear more than half of the failure domains from peers to
 * which nothing happens.
 */
export function mayGoDown(scenario: Played): string[] {
  const { nodes, daemons, fault, victim } = scenario;
  const { deeds } = daemons;
  const named = new Set(deeds.flatMap((deed) => ('node' in deed && !HARMLESS.has(deed.what) ? [deed.node] : [])));
  if (fault !== 'none') named.add(victim);
  for (const node of failing(scenario)) if (node !== victim) named.add(node);
  // Nobody takes its place within the time for which nodes go on without a grant.
  const losesItsLease = scenario.controllers === 1 && scenario.api.lostRequestShare + scenario.api.lostAnswerShare > 0;
  const isControlled =
    !losesItsLease && scenario.crashes.length === 0 && scenario.disturbances.length === 0 && !deeds.some(({ what }) => what === 'outage');
  if (isControlled) return [...named];
  for (const deed of deeds) if (deed.what === 'link') named.add(deed.node).add(deed.to);
  const domainOf = (node: string): string => (daemons.topologyKeys.length === 0 ? node : rackOf(nodes.indexOf(node)));
  const needed = Math.floor(new Set(nodes.map(domainOf)).size / 2) + 1;
  // Who goes down vouches for nobody any more.
  for (;;) {
    const well = nodes.filter((node) => !named.has(node));
    const lost = well.filter((node) => new Set(well.filter((peer) => peer !== node).map(domainOf)).size < needed);
    for (const node of lost) named.add(node);
    if (lost.length === 0) return nodes.filter((node) => named.has(node));
  }
}

/** Where nothing else happens, the watchdog of a node that is cut off for long must prove its end; that of a machine that can be paused never does. */
export function provesItself({ daemons, victim, disturbances, crashes, device, fault, configuration, api }: Played): NodeDaemons['evidence'] {
  if (daemons.machines[victim]?.isPausable === true) return 'never';
  const [deed, ...others] = daemons.deeds;
  const isQuiet = disturbances.length === 0 && crashes.length === 0 && others.length === 0 && api.lostRequestShare === 0;
  // Whose kernel is still heard renews its Lease.
  const isCutOff = fault === 'none' && deed?.what === 'cut' && deed.places.length === 3 && deed.durationMs > LONG_MS && deed.way !== 'in';
  const isStuck = fault === 'hang' && deed === undefined && daemons.machines[victim]?.isStuckAfterReset === true;
  const isAlone = device === 'dead' || daemons.level === 'only';
  return isQuiet && (isCutOff || isStuck) && isAlone && configuration.policies === 'off' ? 'must' : 'may';
}
