import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const REFUSALS = 'src/config/refusals.test.ts';

/** Defects of what is told of a plan before its node fails. */
export const PLAN_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'anonymous way to a storage',
    defect: 'a port of another host in use, by a mistyped plug, is closed and counts as the revocation of the storage of a node that writes on',
    file: 'src/domain/plan.ts',
    edits: [["return method.kind === 'power' || (method.storage !== undefined && switchesOff(method));", "return method.kind === 'power';"]],
    killedBy: byTest('src/dispatch/revocation.test.ts', 'are not closed, for that may be another’s, and would prove nothing'),
  },
  {
    name: 'identity of one method for all',
    defect: 'a way to a storage that says identity=verified is closed unseen where the node says unverified',
    file: 'src/domain/plan.ts',
    edits: [["(method.identity ?? plan.identity) === 'unverified'", "plan.identity === 'unverified' || method.identity === 'unverified'"]],
    killedBy: byTest('src/config/refusals.test.ts', 'is refused where it says verified, whatever the node says'),
  },
  {
    name: 'anonymous outlet is fine',
    defect: 'a device that shows nobody whose machine it switches is ok for validate and refused by the fence',
    file: 'src/config/refusals.ts',
    edits: [['if (why !== undefined) return [{ method,', 'if (why === null) return [{ method,']],
    killedBy: byTest(REFUSALS, 'an outlet that shows nobody whose it is, where identity is demanded'),
  },
  {
    name: 'plug not looked at',
    defect: 'a plug that every call refuses is found when the node fails',
    file: 'src/config/refusals.ts',
    edits: [['if (plugMessage !== undefined)', 'if (plugMessage === null)']],
    killedBy: byTest(REFUSALS, 'a PDU without a plug'),
  },
  {
    name: 'spare level spoils all',
    defect: 'a level that is refused keeps the others from being tried',
    file: 'src/config/refusals.ts',
    edits: [['refused.every((', 'refused.some((']],
    killedBy: byTest(REFUSALS, 'by a warning only where another level is left: it goes on being fenced by that'),
  },
  {
    name: 'recovery keeps from fencing',
    defect: 'a delay that matters only after the off keeps a node from being fenced',
    file: 'src/config/setting-reader.ts',
    edits: [['if (this.#isLenient)', 'if (!this.#isLenient)']],
    killedBy: byTest(REFUSALS, 'keeps nobody from being fenced: ready_timeout=x'),
  },
  {
    name: 'bad delay in use',
    defect: 'a healthy_delay that breaks its rule is told and used',
    file: 'src/config/resolve-plan.ts',
    edits: [['timing: safeAfterOff(written.timing, clusterTiming)', 'timing: written.timing']],
    killedBy: byTest(REFUSALS, 'keeps nobody from being fenced: healthy_delay=5s'),
  },
  {
    name: 'dash is another key',
    defect: 'power-timeout is another key than power_timeout',
    file: 'src/config/properties.ts',
    edits: [["key.replaceAll('-', '_')", 'key']],
    killedBy: byTest(REFUSALS, 'dashes and underscores are one: power-timeout is power_timeout'),
  },
  {
    name: 'fenced against its word',
    defect: 'a node of which its configuration says that nobody is to fence it is fenced',
    file: 'src/domain/health.ts',
    edits: [["if (plan.trigger === 'never') return false;", '']],
    killedBy: byTest('src/domain/never-fenced.test.ts', 'fails, and no fence of it begins; nobody waits to look again'),
  },
  {
    name: 'read by nobody in silence',
    defect: 'a ConfigMap whose name nobody reads is ok for validate',
    file: 'src/config/stray-configs.ts',
    edits: [['if (isMeant) problems.error(', 'if (isMeant === undefined) problems.error(']],
    killedBy: byTest('test/installation/mistakes.test.ts', 'error: fence-conf- instead of fence-config-'),
  },
  {
    name: 'an address read as octal',
    defect: 'an address with a leading zero or a number too many is taken for a host name',
    file: 'agents/shared/address/host-text.ts',
    edits: [['return isIP(text) === 4;', 'return true;']],
    killedBy: byTest('test/installation/mistakes.test.ts', 'error: an address that programs read as octal'),
  },
  {
    name: 'on at another BMC',
    defect: 'off at one BMC and on at another is ok for validate',
    file: 'src/config/plan-checks.ts',
    edits: [['&& isOfAnother(method, methods, offs)', '&& offs === undefined']],
    killedBy: byTest('test/installation/mistakes.test.ts', 'error: off at one BMC, on at another'),
  },
  {
    name: 'first level vanishes',
    defect: 'power_management.1 is accepted and read by nobody',
    file: 'src/config/properties.ts',
    edits: [[".replace(FIRST_LEVEL, '$1')", '']],
    killedBy: byTest('src/config/keys-are-read.test.ts', 'power_management.1 is level 1, however it is spelt'),
  },
  {
    name: 'level beyond the last',
    defect: 'a level that nobody reads is accepted in silence',
    file: 'src/config/node-settings.ts',
    edits: [['if (!isRead) problems.error(where', 'if (isRead === undefined) problems.error(where']],
    killedBy: byTest('src/config/keys-are-read.test.ts', 'power_management.9 is no level, which is an error and no silence'),
  },
  {
    name: 'mended and still broken',
    defect: 'a device path whose configuration was mended waits for its turn',
    file: 'src/controllers/probes/controller.ts',
    edits: [['if (isReconfigured) this.#hurry(nowMs);', '']],
    killedBy: byTest('src/controllers/probes/controller.test.ts', 'read a broken path again as soon as the configuration has changed, and only that'),
  },
  {
    name: 'never looks fenceable',
    defect: 'the report of a node whose ConfigMap says fence=never later on does not say so',
    file: 'src/controllers/fence/report.ts',
    edits: [[' && known?.fence === fence.fence', '']],
    killedBy: byTest('src/controllers/fence/report.test.ts', 'is said to be so by its report, until its ConfigMap says otherwise'),
  },
  {
    name: 'default in silence',
    defect: 'a setting that could not be used is replaced by its default without an Event',
    file: 'src/controllers/fence/report.ts',
    edits: [['if (defaulted !== undefined && !sameProblems)', 'if (defaulted === undefined && !sameProblems)']],
    killedBy: byTest('src/controllers/fence/report.test.ts', 'is told on the Node by FenceSettingIgnored, once, when it arises'),
  },
  {
    name: 'fenceable counted twice',
    defect: 'a node that can be fenced again goes on being counted among those that can not',
    file: 'src/controllers/fence/fenceable.ts',
    edits: [['if (before !== undefined) this.#counts[before] -= 1;', '']],
    killedBy: byTest('src/controllers/fence/fenceable.test.ts', 'counts every node once, under the worst of what stands against it'),
  },
];
