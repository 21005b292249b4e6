import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const METAL3_AGENT = 'agents/metal3/agent.test.ts';

/** Defects of the agent metal3. */
export const METAL3_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'metal3 stale off',
    defect: 'an off that was there before the request counts',
    file: 'agents/metal3/host.ts',
    edits: [['if (!record.wasOn)\n    return', 'if (record.node === "")\n    return']],
    killedBy: byTest(METAL3_AGENT, 'does not believe an off that was told before our request'),
  },
  {
    name: 'metal3 wanted on',
    defect:
      'a host that nobody holds off counts as off until its operator has looked again: another replica, or the same one anew, takes it for proven',
    file: 'agents/metal3/host.ts',
    edits: [['const isWantedOn = others.length === 0 && ', 'const isWantedOn = others.length > 9 && ']],
    killedBy: byTest(METAL3_AGENT, 'does not call off what nobody holds off: the operator switches it on, whoever had asked for its off before'),
  },
  {
    name: 'metal3 earlier incident',
    defect: 'a hold of an earlier incident proves this one',
    file: 'agents/metal3/host.ts',
    edits: [['if (incident !== undefined && record.incident !== incident)', 'if (incident === "" && record.incident !== incident)']],
    killedBy: byTest(METAL3_AGENT, 'proves nothing of this one: somebody may have switched the machine on, and the operator be away'),
  },
  {
    name: 'metal3 unminded',
    defect: 'the status of a host that the operator leaves alone counts',
    file: 'agents/metal3/host.ts',
    edits: [['const doubt = unmanaged(host) ?? trouble(host);', 'const doubt = trouble(host);']],
    killedBy: byTest(METAL3_AGENT, 'a host in inspection'),
  },
  {
    name: 'metal3 troubled',
    defect: 'the status of a host in trouble counts',
    file: 'agents/metal3/host.ts',
    edits: [['const doubt = unmanaged(host) ?? trouble(host);', 'const doubt = unmanaged(host);']],
    killedBy: byTest(METAL3_AGENT, 'a power management error'),
  },
  {
    name: 'metal3 contradicted',
    defect: 'a host that the Node’s records contradict is switched',
    file: 'agents/metal3/agent.ts',
    edits: [
      [
        "if (contradiction !== undefined) throw call.error('Misconfigured', `BareMetalHost",
        "if (contradiction === '') throw call.error('Misconfigured', `BareMetalHost",
      ],
    ],
    killedBy: byTest(METAL3_AGENT, 'by its uid in an older providerID, and by OpenShift’s'),
  },
  {
    name: 'metal3 off of before',
    defect: 'an off that is older than our request counts while our hold is not to be seen',
    file: 'agents/metal3/agent.ts',
    edits: [["if (power.state !== 'off' || isHeld(host) || !wasAsked) return power;", 'return power;']],
    killedBy: byTest(METAL3_AGENT, 'does not believe an off while its own request is not to be seen, though somebody else holds it off'),
  },
  {
    name: 'metal3 let go of all',
    defect: 'the holds of others are taken away',
    file: 'agents/metal3/agent.ts',
    edits: [['if (host.spec?.online === false) throw', 'if (host.spec === null) throw']],
    killedBy: byTest(METAL3_AGENT, 'says so when somebody has switched the host off on purpose'),
  },
  {
    name: 'metal3 unpowered',
    defect: 'a host that is never switched off is held',
    file: 'agents/metal3/agent.ts',
    edits: [["if (refusal !== undefined) throw call.error('Refused', refusal);", '']],
    killedBy: byTest(METAL3_AGENT, 'baremetalhost.metal3.io/paused'),
  },
  {
    name: 'metal3 hold without record',
    defect: 'an off under our hold counts though nothing tells what was before',
    file: 'agents/metal3/host.ts',
    edits: [["  if (record === undefined)\n    return say('unknown',", "  if (record === undefined)\n    return say('off',"]],
    killedBy: byTest(METAL3_AGENT, 'metal3 believes no off under our hold whose record is missing'),
  },
  {
    name: 'metal3 forgets its request',
    defect: 'an off that is older than our request counts where another process than the one that asked reads it',
    file: 'agents/metal3/agent.ts',
    edits: [['isAfterOff === true || this.#asked', 'this.#asked']],
    killedBy: byTest(METAL3_AGENT, 'does not call off what nobody holds off: the operator switches it on, whoever had asked for its off before'),
  },
  {
    name: 'metal3 soft hold',
    defect: 'a hold that only asks the system to shut down counts as ours',
    file: 'agents/metal3/host.ts',
    edits: [['return host.metadata.annotations?.[HOLD] === HARD;', 'return host.metadata.annotations?.[HOLD] !== undefined;']],
    killedBy: byTest(METAL3_AGENT, 'sets a hard hold where a soft one of our name stands: a shutdown that the system may ignore holds nothing'),
  },
  {
    name: 'metal3 any uid',
    defect: 'a host with another uid than the Machine names is switched',
    file: 'agents/metal3/agent.ts',
    edits: [['if (claim.uid !== undefined && claim.uid.toLowerCase() !== metadata.uid?.toLowerCase())', "if (claim.uid === '')"]],
    killedBy: byTest(METAL3_AGENT, 'by its uid in an older providerID, and by OpenShift’s'),
  },
  {
    name: 'metal3 first of uids',
    defect: 'a host of any uid is found',
    file: 'agents/metal3/agent.ts',
    edits: [['all.find(({ metadata }) => metadata.uid?.toLowerCase() === uid)', "all.find(({ metadata }) => metadata.uid !== '')"]],
    killedBy: byTest(METAL3_AGENT, 'of several by its own uid, and none where no host has it'),
  },
];
