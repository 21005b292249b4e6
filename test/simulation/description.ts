import type { Dumps } from './dumps/dumps.ts';
import type { NodeDaemons } from './node-daemons/node-daemons.ts';
import { wordsOf as wordsOfDeed } from './remedies/deeds.ts';
import type { DrawnThreshold, RemedyWorld } from './remedies/remedy-world.ts';
import type { CrashPoint } from '../../src/testbed/simulation/port.ts';
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import type { Disturbance, Scenario } from './scenario.ts';
import type { Ways } from './ways/ways.ts';
import type { Deed, HostDeed, RequestDeed, SecondaryControllers } from './secondary-controllers/secondary-controllers.ts';

/** The scenario in one line. */
export function describeScenario(scenario: Scenario): string {
  const { crashes, disturbances, flaps, clockRates } = scenario;
  return [
    `${scenario.fault} of ${scenario.victim}${flaps.length > 1 ? `, ${flaps.length} times` : ''}${spellsOf(scenario)} (${scenario.nodes.length} nodes)`,
    `bmc ${scenario.device}`,
    scenario.feed === undefined ? undefined : `${scenario.feed.kind} restore ${scenario.feed.restore}`,
    `release ${scenario.configuration.release}`,
    scenario.configuration.policies === 'prompt' ? undefined : `policies ${scenario.configuration.policies}`,
    scenario.controllers === 2 ? 'two controllers' : 'one controller',
    ...crashes.map(describeCrash),
    crashes.length > 0 ? `back after ${seconds(scenario.restartAfterMs)}` : undefined,
    ...disturbances.map(describeDisturbance),
    scenario.healAfterOffMs === undefined ? undefined : `back ${seconds(scenario.healAfterOffMs)} after the off was sent`,
    scenario.hosts === undefined ? undefined : `replicas on ${scenario.hosts.join(' and ')}`,
    ...describeSecondaries(scenario.secondaries),
    ...describeDaemons(scenario.daemons, scenario.victim),
    ...describeDumps(scenario.dumps),
    ...describeRemedies(scenario.remedies),
    ...describeWays(scenario.ways),
    scenario.isMisconfigured ? 'the Secret is missing' : undefined,
    clockRates.replicas[0] === 1 ? undefined : 'clocks drift',
    scenario.api === CALM_API ? undefined : 'rough API',
    scenario.crowd === undefined ? undefined : `${scenario.crowd.slots} at a time, each request up to ${2 * scenario.crowd.latencyMs[1]} ms`,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function spellsOf({ fault, flaps }: Scenario): string {
  if (fault !== 'sick') return '';
  return ` for ${flaps.map(({ downMs, upMs }) => (Number.isFinite(downMs) ? `${seconds(downMs)}${upMs > 0 ? ` then well for ${seconds(upMs)}` : ''}` : 'ever')).join(', ')}`;
}

function describeCrash({ moment, tag, nth, stopMs }: CrashPoint): string {
  switch (moment) {
    case 'stopped':
    case 'suspended':
      return `${moment} at ${tag} ${nth} for ${seconds(stopMs)}`;
    case 'terminated':
      return `terminated at ${tag} ${nth}`;
    default:
      return `crash ${moment} of ${tag} ${nth}`;
  }
}

function describeDisturbance(disturbance: Disturbance): string {
  const { atMs, durationMs } = disturbance;
  const when = `at ${seconds(atMs)}${durationMs === 0 ? '' : ` for ${seconds(durationMs)}`}`;
  return `${wordsOf(disturbance)} ${when}`;
}

function wordsOf(disturbance: Disturbance): string {
  switch (disturbance.what) {
    case 'pause':
      return `${disturbance.kind} of ${disturbance.who}`;
    case 'terminate':
      return `SIGTERM to ${disturbance.who}`;
    case 'break':
      return `API ${disturbance.how} for ${disturbance.who}`;
    case 'device':
      return `device ${disturbance.how}`;
    case 'clock':
      return `wall clock of ${disturbance.who} jumps by ${seconds(disturbance.byMs)}`;
    case 'stop':
      return `a person stops ${disturbance.scope === 'node' ? 'the node' : 'it'}`;
    case 'edit':
      return `configuration ${disturbance.kind}`;
    case 'delete-fence':
      return 'a person deletes the NodeFence';
    case 'delete-node':
      return 'a person deletes the Node';
    case 'acknowledge':
      return `a ${disturbance.word} word of a person`;
    case 'mark':
      return `a foreign ${disturbance.mark}`;
    case 'preserve':
      return `preservation says ${disturbance.guard}`;
    case 'burst':
      return `burst of ${disturbance.how}`;
    case 'restart':
      return `the API server restarts${disturbance.lacks === undefined ? '' : `, without roles for ${seconds(disturbance.lacks.rolesMs)} and storages for ${seconds(disturbance.lacks.storagesMs)}`}`;
    case 'throttle':
      return 'the API server throttles our accounts';
    case 'expire':
      return 'history is compacted';
    case 'restore':
      return `etcd is restored as of ${seconds(disturbance.ageMs)} before`;
    case 'delete-lease':
      return 'somebody deletes the Lease of the leader';
    case 'hardware':
      return `bmc of ${disturbance.node} ${disturbance.behaviour}`;
    case 'swap':
      return `addresses swapped with ${disturbance.node}`;
    case 'late':
      return `next off late by ${seconds(disturbance.byMs)}`;
    case 'power-on':
      return `somebody switches ${disturbance.node} on`;
    case 'fail':
      return `${disturbance.fault} of ${disturbance.node}`;
    case 'switch':
      return `the switch of ${disturbance.nodes.join(' ')} is down`;
  }
}

function describeDaemons(daemons: NodeDaemons | undefined, victim: string): string[] {
  if (daemons === undefined) return [];
  const traits = daemons.machines[victim];
  return [
    `${daemons.isFast === true ? 'fast ' : ''}node daemons ${daemons.topologyKeys.join()}, the watchdog of ${victim} ${daemons.level} after ${seconds(traits?.watchdogMs ?? 0)}, its pods end in ${seconds(traits?.podStopMs ?? 0)}`,
    ...daemons.deeds.map((deed) => {
      const { atMs, durationMs, what, ...rest } = deed;
      return `${what} ${Object.values(rest).flat().join(' ')} at ${seconds(atMs)} for ${seconds(durationMs)}`;
    }),
  ];
}

function describeDumps(dumps: Dumps | undefined): string[] {
  if (dumps === undefined) return [];
  const { settings, evidence, kernel, bootMs, everyMs, lastsMs, reboots, deeds } = dumps;
  const { startMs, finishedMs, maxMs, isArmed } = settings;
  const lasts = kernel === 'ends' || kernel === 'stops' ? ` for ${seconds(lastsMs)}${kernel === 'ends' && reboots ? ', then reboots' : ''}` : '';
  return [
    `kdump ${seconds(startMs)}/${seconds(finishedMs)}/${seconds(maxMs)}${isArmed ? ' armed' : ''}${evidence === undefined ? '' : `, evidence ${evidence}`}`,
    `crash kernel ${kernel}, from ${seconds(bootMs)} each ${seconds(everyMs)}${lasts}`,
    ...deeds.map(({ what, atMs, durationMs, ...rest }) => `${what} ${Object.values(rest).join(' ')} at ${seconds(atMs)} for ${seconds(durationMs)}`),
  ];
}

function describeWays(ways: Ways | undefined): string[] {
  if (ways === undefined) return [];
  const { notReadyMs, storage, program, podsPerMinute, podsPerNode, areUnnamed = false } = ways;
  return [
    `not Ready for ${seconds(notReadyMs)}, ${podsPerNode} pods each${podsPerMinute === undefined ? '' : `, ${podsPerMinute} a minute`}`,
    ...(areUnnamed ? ['no device shows whose machine it switches'] : []),
    ...(storage === undefined
      ? []
      : [
          `${storage.count} ${storage.behaviour} paths to ${storage.isWhole ? 'every' : 'one'} volume, ${storage.isAdmitted ? 'admitted' : 'refused'}`,
        ]),
    ...(program === undefined ? [] : [`a program in ${program.step} ${program.deed}, says ${program.word}, takes ${seconds(program.takesMs)}`]),
  ];
}

function describeRemedies(remedies: RemedyWorld | undefined): string[] {
  if (remedies === undefined) return [];
  const { nodes, thresholds, monitors, deeds } = remedies;
  return [
    `remedies for ${nodes.join(' ')}`,
    ...thresholds.map(describeThreshold),
    ...monitors.map(({ node, condition, says, stills }) => {
      const words = says.map(({ atMs, status }) => `${status} at ${seconds(atMs)}`).join(' ');
      return `${condition} of ${node} ${words}${stills.map(({ fromMs, toMs }) => ` still from ${seconds(fromMs)} to ${seconds(toMs)}`).join('')}`;
    }),
    ...deeds.map((deed) => `${wordsOfDeed(deed)} at ${seconds(deed.atMs)} for ${seconds(deed.durationMs)}`),
  ];
}

function describeThreshold({ condition, status, periodSeconds, remedies, recovery, maxAttempts }: DrawnThreshold): string {
  const when = typeof status === 'string' ? `${condition}=${status}` : `${condition} flapping`;
  const steps = remedies.map(({ name, periodSeconds: next, cleans }) => `${name}${cleans ? ' and cleans' : ''} ${next} s`).join(' then ');
  return `${when} for ${periodSeconds} s: ${steps}, ${maxAttempts} times, recovery ${recovery ?? 'none'}`;
}

function describeSecondaries(secondaries: SecondaryControllers | undefined): string[] {
  if (secondaries === undefined) return [];
  const { composed, nodes, check, pool, deeds, hosts } = secondaries;
  const names = Object.entries(composed).flatMap(([name, isOn]) => (isOn ? [name] : []));
  return [
    `beside it ${names.length === 0 ? 'nobody' : names.join(', ')} for ${nodes.join(' ')}`,
    ...(check === undefined ? [] : [`a check of ${seconds(check.timeoutMs)}, at most ${check.atMost}, ${check.spec.strategy ?? ''}`]),
    ...(pool === undefined ? [] : [`a pool of ${seconds(pool.healthMs)}, at most ${pool.most} for ${seconds(pool.preserveMs)}`]),
    ...deeds.map(describeDeed),
    ...(hosts === undefined
      ? []
      : [
          `hosts of ${hosts.nodes.join(' ')} ${hosts.isServed ? `looked at each ${seconds(hosts.pace.steadyMs)}` : 'minded by nobody'}`,
          ...hosts.deeds.map(describeHostDeed),
        ]),
  ];
}

function describeHostDeed(deed: HostDeed): string {
  const when = `of ${deed.node} at ${seconds(deed.atMs)} for ${seconds(deed.durationMs)}`;
  switch (deed.what) {
    case 'fail':
      return `${deed.fault} ${when}`;
    case 'ask':
      return `asked by ${deed.by}${deed.everyMs === undefined ? '' : ` each ${seconds(deed.everyMs)}`} ${when}`;
    case 'operator':
      return `operator ${deed.how} ${when}`;
    case 'bmc':
      return `bmc ${deed.behaviour} ${when}`;
    case 'host':
      return `host ${deed.how} ${when}`;
  }
}

function describeDeed(deed: Deed): string {
  const { node, atMs, durationMs } = deed;
  const when = `${node} at ${seconds(atMs)} for ${seconds(durationMs)}`;
  switch (deed.what) {
    case 'illness':
      return `illness of ${when}`;
    case 'preserve':
      return `preserve=${deed.value} on the ${deed.on} of ${when}`;
    case 'delete-machine':
      return `the Machine deleted of ${when}`;
    case 'request':
      return describeRequest(deed, when);
  }
}

function describeRequest({ spec, timesOutMs, hasLease }: RequestDeed, when: string): string {
  const given = timesOutMs === undefined ? '' : ` given up after ${seconds(timesOutMs)}`;
  return `request to ${spec.strategy ?? ''}${hasLease ? ' with its lease' : ''}${given} of ${when}`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
