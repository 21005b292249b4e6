import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const KUBEVIRT_AGENT = 'agents/kubevirt/agent.test.ts';

/** Defects of the agent kubevirt. */
export const KUBEVIRT_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'kubevirt container lost',
    defect: 'a container that its kubelet found no more has ended',
    file: 'agents/kubevirt/objects.ts',
    edits: [['state?.terminated?.reason === CONTAINER_LOST', "state?.terminated?.reason === ''"]],
    killedBy: byTest(KUBEVIRT_AGENT, 'does not take a container for ended that its kubelet found no more'),
  },
  {
    name: 'kubevirt container unsaid',
    defect: 'a container of which nothing is said has ended with the others',
    file: 'agents/kubevirt/objects.ts',
    edits: [[' && (spec.containers ?? []).every(({ name }) => ended.includes(name))', ' && spec !== undefined']],
    killedBy: byTest(KUBEVIRT_AGENT, 'does not take a container for ended that nothing is said of'),
  },
  {
    name: 'kubevirt half a witness',
    defect: 'a pod keeps our finalizer where another pod of the machine could not be given one',
    file: 'agents/kubevirt/agent.ts',
    edits: [
      ['  try {\n    for (const pod of alive) await setWitness(call, pod);', '  for (const pod of alive) await setWitness(call, pod);\n  try {'],
    ],
    killedBy: byTest(KUBEVIRT_AGENT, 'leaves no witness behind when it may not put one on each of its pods'),
  },
  {
    name: 'kubevirt terminated by a dead host',
    defect: 'a pod that a dead host is said to have ended is off',
    file: 'agents/kubevirt/power.ts',
    edits: [
      [
        "      : { state: 'unknown', detail: `pod ${name}: terminated, but ${silence}` };",
        "      : { state: 'off', detail: `pod ${name}: terminated` };",
      ],
    ],
    killedBy: byTest(KUBEVIRT_AGENT, 'ends the machine, keeps the pod to be seen, and believes its kubelet'),
  },
  {
    name: 'kubevirt best of pods',
    defect: 'of several pods the ended one decides',
    file: 'agents/kubevirt/power.ts',
    edits: [["(['on', 'unknown', 'pending', 'off'] as const)", "(['off', 'on', 'unknown', 'pending'] as const)"]],
    killedBy: byTest(KUBEVIRT_AGENT, 'needs every launcher of the machine to have ended, a migration’s target too'),
  },
  {
    name: 'kubevirt restarts',
    defect: 'a machine that will be started again is off',
    file: 'agents/kubevirt/power.ts',
    edits: [["if (worst === 'off' && vm !== undefined && !isHalted(vm)) return", "if (worst === 'off' && vm === null) return"]],
    killedBy: byTest(KUBEVIRT_AGENT, 'calls a machine that will be started again pending, however dead it is now'),
  },
  {
    name: 'kubevirt pod gone',
    defect: 'a pod that was deleted by force is off',
    file: 'agents/kubevirt/power.ts',
    edits: [
      [
        "if (instance !== undefined && phase !== 'Failed' && phase !== 'Succeeded')\n    return",
        "if (instance !== undefined && phase === 'nothing')\n    return",
      ],
    ],
    killedBy: byTest(KUBEVIRT_AGENT, 'does not know where a machine without a pod may run, while a host is silent'),
  },
  {
    name: 'kubevirt silent host',
    defect: 'no pod while a host is silent is off',
    file: 'agents/kubevirt/power.ts',
    edits: [
      [
        "if (silent !== undefined) return { state: 'unknown', detail: `no launcher pod, but",
        "if (silent === '') return { state: 'unknown', detail: `no launcher pod, but",
      ],
    ],
    killedBy: byTest(KUBEVIRT_AGENT, 'does not know where a machine without a pod may run, while a host is silent'),
  },
  {
    name: 'kubevirt pod that still ends',
    defect: 'a pod that was deleted by force a moment ago is off, while its kubelet still ends it',
    file: 'agents/kubevirt/power.ts',
    edits: [['if (absentForMs >= endsSeconds * 1000) return', 'if (absentForMs >= 0) return']],
    killedBy: byTest(KUBEVIRT_AGENT, 'waits for the process of a pod that was deleted by force, which its kubelet takes some time to end'),
  },
  {
    name: 'kubevirt host not heard meanwhile',
    defect: 'a host that was not heard between two looks may still run a machine that is read off',
    file: 'agents/kubevirt/power.ts',
    edits: [[', ready?.lastTransitionTime]', ']']],
    killedBy: byTest(KUBEVIRT_AGENT, 'waits as long as the machine itself may take, and anew when a host was not heard, or the machine has changed'),
  },
  {
    name: 'kubevirt started meanwhile',
    defect: 'a machine that ran between two looks is read off as if it had not',
    file: 'agents/kubevirt/power.ts',
    edits: [['return JSON.stringify([machine, kubelets]);', 'return JSON.stringify([machine.length, kubelets]);']],
    killedBy: byTest(KUBEVIRT_AGENT, 'waits as long as the machine itself may take, and anew when a host was not heard, or the machine has changed'),
  },
  {
    name: 'kubevirt host whose Node is gone',
    defect: 'no pod is off while a host hangs whose Node was deleted',
    file: 'agents/kubevirt/power.ts',
    edits: [['new Set([...named, ...labelled])', 'new Set(labelled)']],
    killedBy: byTest(KUBEVIRT_AGENT, 'does not take a machine for off whose host hangs, and whose Node was deleted'),
  },
  {
    name: 'kubevirt hosts of nobody',
    defect: 'no pod is off where nobody says which hosts there are',
    file: 'agents/kubevirt/power.ts',
    edits: [['if (named.length === 0) {', 'if (named.length < 0) {']],
    killedBy: byTest(KUBEVIRT_AGENT, 'does not take a machine for off whose host hangs, and whose Node was deleted'),
  },
  {
    name: 'kubevirt another machine',
    defect: 'a machine whose firmware UUID is another is switched',
    file: 'agents/kubevirt/identity.ts',
    edits: [['if (shown !== undefined && !areSameUUID(shown, expected))', "if (shown === '')"]],
    killedBy: byTest(KUBEVIRT_AGENT, 'another firmware'),
  },
  {
    name: 'kubevirt UUID of a name',
    defect: 'a UUID that was made of the name alone verifies a machine',
    file: 'agents/kubevirt/identity.ts',
    edits: [['(!areSameUUID(shown, uuidOfName(name)) || isAddressed(identity, machine))', "(name !== '' || isAddressed(identity, machine))"]],
    killedBy: byTest(KUBEVIRT_AGENT, 'is not verified by it'),
  },
  {
    name: 'kubevirt address of everybody',
    defect: 'an address that every guest behind masquerade has verifies a machine',
    file: 'agents/kubevirt/identity.ts',
    edits: [[' && !OF_EVERYBODY.has(address)', '']],
    killedBy: byTest(KUBEVIRT_AGENT, 'is not verified by the address that every guest behind masquerade has'),
  },
  {
    name: 'kubevirt uid of the verified',
    defect: 'a machine that was made anew counts as the one that was verified',
    file: 'agents/kubevirt/identity.ts',
    edits: [['JSON.stringify([device, uid, identity])', 'JSON.stringify([device, identity])']],
    killedBy: byTest(KUBEVIRT_AGENT, 'stays verified while it is off and shows no address'),
  },
  {
    name: 'kubevirt halted on purpose',
    defect: 'a machine that somebody has halted is started',
    file: 'agents/kubevirt/agent.ts',
    edits: [['if (before === undefined && isHalted(vm)) throw', "if (before === '' && isHalted(vm)) throw"]],
    killedBy: byTest(KUBEVIRT_AGENT, 'does not start what somebody else has halted'),
  },
  {
    name: 'kubevirt no witness',
    defect: 'a pod is ended without a finalizer that keeps its end to be read',
    file: 'agents/kubevirt/agent.ts',
    edits: [['for (const pod of alive) await setWitness(call, pod);', '']],
    killedBy: byTest(KUBEVIRT_AGENT, 'ends the machine, keeps the pod to be seen, and believes its kubelet'),
  },
  {
    name: 'kubevirt pod of another uid',
    defect: 'a launcher pod that took the name of the one that was seen is deleted',
    file: 'agents/kubevirt/agent.ts',
    edits: [['...(uid === undefined ? {} : { uid }),', '']],
    killedBy: byTest(KUBEVIRT_AGENT, 'ends the pods that it saw, and none that took the name of one'),
  },
];
