import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const PLAN_CHECKS = 'src/config/plan-checks.test.ts';
const UNSAFE_VALUES = 'src/config/unsafe-values.test.ts';
const RESOLVE_PLAN = 'src/config/resolve-plan.test.ts';
const RESOLVE_PARAMETERS = 'src/config/resolve-parameters.test.ts';
const LIVE_PLANNER = 'src/config/live-planner.test.ts';

/** Defects of what plans are made of. */
export const CONFIG_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'switched off by its group',
    defect: 'a node whose power-management is emptied is switched off by the second level of its group',
    file: 'src/config/resolve-plan.ts',
    edits: [['layers.slice(0, first + 1)', 'layers']],
    killedBy: byTest(RESOLVE_PLAN, 'a step that a node empties has none of the further levels of its group either'),
  },
  {
    name: 'supplies uncompared',
    defect: 'a machine of which one supply is left on is planned as switched off',
    file: 'src/config/plan-checks.ts',
    edits: [['} else if (supplies !== plugs) {', '} else if (supplies < plugs) {']],
    killedBy: byTest(PLAN_CHECKS, 'must be all of the supplies, and a plan that does not say how many is warned of'),
  },
  {
    name: 'recovery switches off',
    defect: 'a recovery that switches the machine off is a plan',
    file: 'src/config/plan-checks.ts',
    edits: [
      ['recovery.filter((method) => switchesOff(method) ||', "recovery.filter((method) => (switchesOff(method) && method.action !== 'reboot') ||"],
    ],
    killedBy: byTest(UNSAFE_VALUES, 'reboot'),
  },
  {
    name: 'power in isolation',
    defect: 'an isolation that switches power is a plan: the release never sees the proof',
    file: 'src/config/plan-checks.ts',
    edits: [["kind === 'power' && action !== 'on')) {", "kind === 'power' && action === 'diag')) {"]],
    killedBy: byTest(RESOLVE_PLAN, 'power in isolation'),
  },
  {
    name: 'on before off',
    defect: 'a level that ends with the off of what it switched on is a plan',
    file: 'src/config/plan-checks.ts',
    edits: [["other.action === 'off' && plugKey(other) === key);", "other.action === 'diag' && plugKey(other) === key);"]],
    killedBy: byTest(RESOLVE_PLAN, 'on before off'),
  },
  {
    name: 'one plug of all machines',
    defect: 'two machines of one BMC count as one plug',
    file: 'src/config/plan-checks.ts',
    edits: [["['systems_uri', 'system_uuid', 'serial']", "['systems_uri', 'serial']"]],
    killedBy: byTest(UNSAFE_VALUES, 'machines that one BMC tells apart by system_uuid have a plug each'),
  },
  {
    name: 'admitted unlooked',
    defect: 'an off whose proof minimum_evidence does not admit is planned without a word',
    file: 'src/config/plan-checks.ts',
    edits: [['if (kind === undefined || admitted.includes(kind)) continue;', 'if (kind === undefined || admitted.length > 0) continue;']],
    killedBy: byTest(UNSAFE_VALUES, 'warns of a proof that minimum_evidence does not admit: the off would release nothing'),
  },
  {
    name: 'evidence of nothing',
    defect: 'a minimum_evidence that nobody can read admits every kind',
    file: 'src/config/node-settings.ts',
    edits: [
      [
        "must be of ${Object.keys(EVIDENCE_WORDS).join(', ')}`);\n    return strict;",
        "must be of ${Object.keys(EVIDENCE_WORDS).join(', ')}`);\n    return Object.values(EVIDENCE_WORDS).flat();",
      ],
    ],
    killedBy: byTest(UNSAFE_VALUES, 'never makes minimum_evidence admit more than read-back'),
  },
  {
    name: 'watchdog as read back',
    defect: 'a waited-for watchdog is admitted where read-back is asked for',
    file: 'src/config/node-keys.ts',
    edits: [["'host-off', 'storage-revoked', 'ack'];", "'host-off', 'storage-revoked', 'ack', 'watchdog'];"]],
    killedBy: byTest(RESOLVE_PLAN, 'becomes a plan without a problem'),
  },
  {
    name: 'identity lax',
    defect: 'without a word a device need not show whose machine it switches',
    file: 'src/config/node-settings.ts',
    edits: [
      ["reader.choice('identity', 'verified', ['verified', 'unverified'])", "reader.choice('identity', 'unverified', ['verified', 'unverified'])"],
    ],
    killedBy: byTest(RESOLVE_PLAN, 'becomes a plan without a problem'),
  },
  {
    name: 'restarts without end',
    defect: 'a node whose restarts help nothing is restarted for ever',
    file: 'src/config/node-settings.ts',
    edits: [["lenient.integer('max_restarts', 3,", "lenient.integer('max_restarts', -1,"]],
    killedBy: byTest(RESOLVE_PLAN, 'becomes a plan without a problem'),
  },
  {
    name: 'preserved by default',
    defect: 'a misspelt preserved= switches off what is to be preserved',
    file: 'src/config/node-settings.ts',
    edits: [["reader.choice('preserved', 'isolate-and-hold', PRESERVED_WORDS)", "reader.choice('preserved', 'power-off', PRESERVED_WORDS)"]],
    killedBy: byTest(UNSAFE_VALUES, 'never switches off what is to be preserved'),
  },
  {
    name: 'later layer wins',
    defect: 'the group wins over the node itself',
    file: 'src/config/setting-reader.ts',
    edits: [['this.#layers.find((layer) => layer.has(key))?.get(key);', 'this.#layers.findLast((layer) => layer.has(key))?.get(key);']],
    killedBy: byTest(RESOLVE_PLAN, 'is node over group over cluster, per key; an empty key means none, an absent one inherits'),
  },
  {
    name: 'duration of a year and a day',
    defect: 'a delay of centuries is taken',
    file: 'src/config/setting-reader.ts',
    edits: [['|| ms > maximumMs ?', '|| ms > Infinity ?']],
    killedBy: byTest(UNSAFE_VALUES, 'of a delay is one of more than a year, which would never be over'),
  },
  {
    name: 'minimum ignored',
    defect: 'an off that is to be stable for nothing is taken',
    file: 'src/config/setting-reader.ts',
    edits: [['ms === undefined || ms < minimumMs ||', 'ms === undefined || ms < 0 ||']],
    killedBy: byTest(UNSAFE_VALUES, 'a value that cannot be read is no value: off_stable=1ms lets the usual one stand, and is told'),
  },
  {
    name: 'two groups, the first',
    defect: 'of two groups that match a node the first counts',
    file: 'src/config/node-groups.ts',
    edits: [
      [
        'if (first === undefined || second === undefined) return layerOf(first, problems);',
        'if (first === undefined || second !== null) return layerOf(first, problems);',
      ],
    ],
    killedBy: byTest(RESOLVE_PLAN, 'refuses two groups that match one node, naming both'),
  },
  {
    name: 'shared plug declared',
    defect: 'a plug that serves two nodes is switched where shared= says so',
    file: 'src/config/plug-owners.ts',
    edits: [
      ['    problems.error(method.where, message, step);', '    if (!isDeclared(owners, node, method)) problems.error(method.where, message, step);'],
    ],
    killedBy: byTest(UNSAFE_VALUES, 'has no plug of two nodes, also where shared= says so: off for the one is off for the other'),
  },
  {
    name: 'secret frozen',
    defect: 'passwords of a ConfigMap are frozen into the NodeFence',
    file: 'src/config/merged-method.ts',
    edits: [['(secretNames.has(name) ? [] : [[name, value]])', '[[name, value]]']],
    killedBy: byTest(RESOLVE_PLAN, 'never holds a password, wherever it was written'),
  },
  {
    name: 'password for a group',
    defect: 'a password in the ConfigMap of a group is taken',
    file: 'src/config/plan-method.ts',
    edits: [['    exposed.length === 0 &&\n', '']],
    killedBy: byTest(UNSAFE_VALUES, 'has no method whose password everybody in the group could read'),
  },
  {
    name: 'missing Secret',
    defect: 'a method whose Secret is missing is planned',
    file: 'src/config/plan-method.ts',
    edits: [['    !isUndeclared &&\n    !isSecretMissing\n', '    !isUndeclared\n']],
    killedBy: byTest(UNSAFE_VALUES, 'has no method whose Secret is missing: the fence would find out at night'),
  },
  {
    name: 'one plug of several',
    defect: 'of several plugs of one method only the first is switched',
    file: 'src/config/plan-method.ts',
    edits: [["return distinct.length === 0 ? [''] : distinct;", "return distinct.length === 0 ? [''] : distinct.slice(0, 1);"]],
    killedBy: byTest(PLAN_CHECKS, 'become one method each, under names of their own'),
  },
  {
    name: 'guessed action',
    defect: 'a method without action= is read as off',
    file: 'src/config/plan-method.ts',
    edits: [
      [
        "problems.error(where, `action is missing: write action= with one of ${definition.actions.join(', ')}`);\n    return undefined;",
        "problems.warning(where, `action is missing`);\n    return 'off';",
      ],
    ],
    killedBy: byTest(RESOLVE_PLAN, 'a missing action'),
  },
  {
    name: 'off of an action',
    defect: 'off of an action agent is another word for run',
    file: 'src/config/plan-method.ts',
    edits: [
      [
        "definition.actions.includes(word) || (definition.kind !== 'action' &&",
        "definition.actions.includes(word) || (definition.kind !== 'fabric' &&",
      ],
    ],
    killedBy: byTest(RESOLVE_PLAN, 'the opposite of what an action agent does'),
  },
  {
    name: 'Secret loses',
    defect: 'the password of the ConfigMap wins over that of the Secret',
    file: 'src/config/resolve-parameters.ts',
    edits: [['if (name !== undefined) parameters[name] = value', 'if (name !== undefined) parameters[name] ??= value']],
    killedBy: byTest(RESOLVE_PARAMETERS, 'prefer the Secret, so that a rotation counts'),
  },
  {
    name: 'unchecked parameters',
    defect: 'parameters that lack what the Secret was to bring reach the agent',
    file: 'src/config/resolve-parameters.ts',
    edits: [['if (problem === undefined) return pinned;', 'if (problem === undefined || problem.message !== "") return pinned;']],
    killedBy: byTest(RESOLVE_PARAMETERS, 'are refused when one is missing, without naming a value'),
  },
  {
    name: 'stale plan by Secret',
    defect: 'a plan stays as it was although its Secret was taken away',
    file: 'src/config/plan-cache.ts',
    edits: [['(isUnchanged || holds(looks.secrets, node.name, (name) => keysWord(secretKeys?.(name)))) &&', '']],
    killedBy: byTest(LIVE_PLANNER, 'follows the ConfigMaps and the Secrets as they change'),
  },
  {
    name: 'login of before',
    defect: 'a Secret that was read once is given to whoever wants it later',
    file: 'src/config/live-planner.ts',
    edits: [['      this.#wanted.delete(name);\n', '']],
    killedBy: byTest(LIVE_PLANNER, 'a Secret of the live planner is read once for all that want it at once, and again for who comes later'),
  },
  {
    name: 'login for each fence',
    defect: 'in a storm every fence reads the Secret for itself',
    file: 'src/config/live-planner.ts',
    edits: [['this.#asked.get(name) ?? new SharedQuestion', 'new SharedQuestion']],
    killedBy: byTest(LIVE_PLANNER, 'is read three times for a thousand fences'),
  },
  {
    name: 'stale plan by its version',
    defect: 'a plan stays as it was although a Secret has changed since: what its ConfigMaps and Secrets say is not asked again',
    file: 'src/config/live-planner.ts',
    edits: [['sources.secrets?.onChange(() => {\n      this.#version += 1;', 'sources.secrets?.onChange(() => {\n      this.#version += 0;']],
    killedBy: byTest(LIVE_PLANNER, 'follows the ConfigMaps and the Secrets as they change'),
  },
  {
    name: 'stale plan by owners',
    defect: 'a plan stays as it was although another node names its plug now',
    file: 'src/config/plan-cache.ts',
    edits: [['holds(looks.owners, node.name, (plug) => ownersWord(plug, node.name, owners)) &&', '']],
    killedBy: byTest(LIVE_PLANNER, 'know when one of them gets the machine of another'),
  },
  {
    name: 'stale plan by label',
    defect: 'a plan stays as it was although a label that it was made of has changed',
    file: 'src/config/plan-cache.ts',
    edits: [['known.node.isSameIn(node) && isCurrent', 'isCurrent']],
    killedBy: byTest(LIVE_PLANNER, 'follows the labels that its plan is made of'),
  },
  {
    name: 'stale plug by label',
    defect: 'the owner of a plug stays as it was although the label that names it has changed',
    file: 'src/config/plug-index.ts',
    edits: [['before === now : before.isSameIn(now)', 'before === now : true']],
    killedBy: byTest(LIVE_PLANNER, 'are planned anew after a change of labels that plans are made of, and of no other'),
  },
  {
    name: 'look at all labels',
    defect: 'who looked at all labels is told of a change of none',
    file: 'src/config/seen-node.ts',
    edits: [['        this.#isWhole = true;\n', '']],
    killedBy: byTest('src/config/seen-node.test.ts', 'is not the same after a change of any label, where all were looked at'),
  },
  {
    name: 'switch by any word',
    defect: 'a daemon whose variable says that it shall not take its node down takes it down',
    file: 'src/cli/switch-variables.ts',
    edits: [["command.setOptionValueWithSource(name, isOn, 'env')", "command.setOptionValueWithSource(name, true, 'env')"]],
    killedBy: byTest('src/cli/switch-variables.test.ts', 'is what the variable says: "false"'),
  },
  {
    name: 'another device by its Secret',
    defect: 'a key of a Secret leads the off to another device than the one that the plan was checked with',
    file: 'src/config/device-names.ts',
    edits: [['definition.deviceKey({ ...shown, [name]: value }) !== planned;', 'planned === name;']],
    killedBy: byTest(RESOLVE_PARAMETERS, 'lead to the device of the plan, or nowhere, whatever the Secret says'),
  },
  {
    name: 'plug of a Secret',
    defect: 'a Secret says which plug is switched, and what is done to it',
    file: 'src/config/resolve-parameters.ts',
    edits: [['if (name !== undefined && OWN_KEYS.has(name)) continue;', '']],
    killedBy: byTest(RESOLVE_PARAMETERS, 'have no plug and no action of the Secret: those are the plan’s'),
  },
  {
    name: 'machine of two Nodes',
    defect: 'a machine that registered under two names, or was cloned, counts as verified: the off of the one switches the other',
    file: 'src/config/refusals.ts',
    edits: [["const ofUUID = systemUUID === '' ?", "const ofUUID = systemUUID !== '' ?"]],
    killedBy: byTest('src/config/refusals.test.ts', 'a machine that two Nodes claim: what is read of it is true of both'),
  },
  {
    name: 'machine of two Nodes, once',
    defect: 'that another Node claims the same machine is found out at a start only',
    file: 'src/config/plan-cache.ts',
    edits: [['found.machines.add(name, machines.nodeOf(name));', '']],
    killedBy: byTest(LIVE_PLANNER, 'has another plan from when that is there until it is gone'),
  },
  {
    name: 'login of other nodes',
    defect: 'a device of a group is given the password of a method that has the same name and stands elsewhere, for other nodes',
    file: 'src/config/live-planner.ts',
    edits: [['facts: this.#nodes.get(node), ', '']],
    killedBy: byTest(LIVE_PLANNER, 'is none of a method of that name which stands elsewhere: that is of other nodes'),
  },
];
