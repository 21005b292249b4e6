import { AgentError, type Outcome, type PortState } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { AccountSource } from '../shared/cloud/accounts.ts';
import type { InstanceView, PathAccount } from '../shared/cloud/instance.ts';
import { sentOnce } from '../shared/cloud/repeat.ts';
import { failureIn, type Ec2Instance } from './answers.ts';
import { Ec2Api, factsOf, type Action } from './ec2-api.ts';
import { GROUPS_TAG, interfacesIn, isGroup, securityGroupsIn, TRUNK_TAG, type AttachedInterface, type SecurityGroup } from './interfaces.ts';
import { groupSettings, type GroupSettings } from './parameters.ts';

/** As many as the value of a tag holds (EC2 user guide, "Tag restrictions": 256 characters). An interface has five groups unless a quota was raised. */
const GROUPS_MAX = 12;
/** More interfaces than these pages show are no answer. */
const PAGES_MAX = 5;

interface GroupsView extends InstanceView<PortState> {
  /** Those at the instance, then those of pods that are reached through one of them. */
  interfaces: readonly AttachedInterface[];
  /** Why the group of isolation isolates nothing. */
  problem: string | undefined;
}

export const groupCloud: AccountSource<GroupSettings, PathAccount<GroupsView>> = {
  isPublic: true,
  settingsOf: groupSettings,
  open: (settings, reach) => new GroupAccount(new Ec2Api(settings, reach), settings.group),
};

/** Network interfaces of instances: closed while each of them has the group of isolation, and no other. */
class GroupAccount implements PathAccount<GroupsView> {
  readonly #api: Ec2Api;
  readonly #group: string;

  constructor(api: Ec2Api, group: string) {
    this.#api = api;
    this.#group = group;
  }

  async read(call: Call): Promise<GroupsView> {
    // None of them needs another, and a set comes after them within one deadline.
    const [instance, [attached, branches], found] = await Promise.all([
      this.#api.instance(call),
      this.#interfaces(call, call.target.plug),
      this.#groupOrProblem(call),
    ]);
    const interfaces = [...attached, ...branches];
    const problem = typeof found === 'string' ? found : problemOf(found, interfaces);
    const doubt = doubtOf(instance, attached, branches);
    const shown = interfaces.map(({ id, groups }) => `${id} ${groups.length === 0 ? '(no group)' : groups.join('+')}`).join(', ');
    const wouldRefuse = call.target.isProbe === true ? await this.#wouldRefuse(call, interfaces, problem) : undefined;
    return {
      id: instance.id,
      state: doubt === undefined ? this.#stateOf(instance, interfaces, problem) : 'unknown',
      detail: [doubt, problem, shown].filter((words) => words !== undefined).join(': '),
      machine: factsOf(call, instance),
      interfaces,
      problem,
      ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    };
  }

  async set(call: Call, view: GroupsView, state: 'open' | 'closed'): Promise<Outcome> {
    if (view.state === 'unknown') throw call.error('Unreachable', `${view.detail}; nothing was sent`);
    return state === 'closed' ? this.#isolate(call, view) : this.#restore(call, view);
  }

  close(): Promise<void> {
    this.#api.close();
    return Promise.resolve();
  }

  /** What each interface has is written to its tag before it is changed: nothing else knows it after a crash. */
  async #isolate(call: Call, { interfaces, problem }: GroupsView): Promise<Outcome> {
    if (problem !== undefined) throw call.error('Misconfigured', problem);
    const due = interfaces.filter((one) => !this.#isIsolated(one));
    if (due.length === 0) return { result: 'accepted', detail: 'every interface is isolated; nothing was sent', isSent: false };
    const crowded = due.find(({ groups }) => groups.length > GROUPS_MAX);
    if (crowded !== undefined) throw call.error('Misconfigured', `${crowded.id} has more than ${GROUPS_MAX} groups, which no tag can hold`);
    const outcomes: Outcome[] = [];
    for (const one of due) {
      const noted = await this.#send(call, one.id, note(one));
      if (noted.result !== 'accepted') return { result: 'unclear', detail: `${noted.detail}: its groups may not be noted, and stay` };
      outcomes.push(await this.#send(call, one.id, groupsTo(one.id, [this.#group])));
    }
    return together(outcomes);
  }

  /** Exactly what was noted; where nothing is noted, nothing is guessed. */
  async #restore(call: Call, { interfaces }: GroupsView): Promise<Outcome> {
    const due = interfaces.filter((one) => this.#isIsolated(one));
    const unknown = due.find(({ before }) => before === undefined);
    if (unknown !== undefined)
      throw call.error('Misconfigured', `${unknown.id} has no tag ${GROUPS_TAG} that says which groups it had: give it its groups by hand`);
    const outcomes: Outcome[] = [];
    for (const { id, before = [] } of due) {
      const given = await this.#send(call, id, groupsTo(id, before));
      outcomes.push(given);
      if (given.result === 'accepted') outcomes.push({ ...given, detail: await this.#forget(call, id) });
    }
    return together(outcomes);
  }

  /** A tag that stays says nothing wrong until others isolate the interface: it is told, and nothing fails by it. */
  async #forget(call: Call, id: string): Promise<string> {
    try {
      const { detail } = await this.#send(call, id, { action: 'DeleteTags', parameters: { 'ResourceId.1': id, 'Tag.1.Key': GROUPS_TAG } });
      return detail;
    } catch (error) {
      if (!(error instanceof AgentError) || error.kind === 'NotSent') throw error;
      return `the tag ${GROUPS_TAG} of ${id} stays: ${error.facts.answered}`;
    }
  }

  #send(call: Call, id: string, action: Action): Promise<Outcome> {
    const gate = (): void => call.target.beforeSend();
    return sentOnce(call, async () => {
      const answer = await this.#api.ask(call, action, gate);
      if (answer.status === 200) return { result: 'accepted', detail: `${id}: ${action.action}` };
      const failure = failureIn(answer.text);
      if (failure === undefined || answer.status >= 500) return { result: 'unclear', detail: `${id}: ${action.action}: HTTP ${answer.status}` };
      throw this.#api.refusal(call, answer);
    });
  }

  /** By both witnesses; some isolated and others not is on its way to either, as is what a group with rules isolates: it may be opened, and is not closed. */
  #stateOf({ interfaces: mapped }: Ec2Instance, interfaces: readonly AttachedInterface[], problem: string | undefined): PortState {
    const isolated = [...mapped, ...interfaces].map((one) => this.#isIsolated(one));
    if (isolated.every(Boolean) && problem === undefined) return 'closed';
    return isolated.some(Boolean) ? 'pending' : 'open';
  }

  #isIsolated({ groups }: { groups: readonly string[] }): boolean {
    return groups.length === 1 && groups[0] === this.#group;
  }

  /** The group of isolation; in words where EC2 does not show it. */
  async #groupOrProblem(call: Call): Promise<SecurityGroup | string> {
    try {
      const asked = { action: 'DescribeSecurityGroups', parameters: { 'GroupId.1': this.#group } };
      const [group, ...others] = await this.#api.read(call, asked, securityGroupsIn);
      return group?.id === this.#group && others.length === 0 ? group : `group ${this.#group} is not shown`;
    } catch (error) {
      if (error instanceof AgentError && error.kind === 'Refused') return error.facts.answered;
      throw error;
    }
  }

  async #wouldRefuse(call: Call, interfaces: readonly AttachedInterface[], problem: string | undefined): Promise<string | undefined> {
    const [first] = interfaces;
    const missing = first === undefined ? undefined : await this.#api.wouldRefuse(call, [note(first), groupsTo(first.id, [this.#group])]);
    const words = [problem, missing].filter((one) => one !== undefined);
    return words.length === 0 ? undefined : words.join('; ');
  }

  /** Those at the instance, and those of pods behind them. */
  async #interfaces(call: Call, instance: string): Promise<readonly [AttachedInterface[], AttachedInterface[]]> {
    const attached = await this.#listed(call, 'attachment.instance-id', instance);
    const trunks = attached.filter(({ isTrunk }) => isTrunk);
    const branches = await Promise.all(trunks.map(({ id }) => this.#listed(call, `tag:${TRUNK_TAG}`, id)));
    return [attached, branches.flat()];
  }

  async #listed(call: Call, name: string, value: string): Promise<AttachedInterface[]> {
    const found: AttachedInterface[] = [];
    let token: string | undefined;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const filter = { 'Filter.1.Name': name, 'Filter.1.Value.1': value };
      const parameters = { ...filter, ...(token === undefined ? {} : { NextToken: token }) };
      const listed = await this.#api.read(call, { action: 'DescribeNetworkInterfaces', parameters }, interfacesIn);
      found.push(...listed.interfaces);
      token = listed.nextToken;
      if (token === undefined) return found;
    }
    throw call.error('Unreachable', `more than ${PAGES_MAX} pages of interfaces of one instance`);
  }
}

function note({ id, groups }: AttachedInterface): Action {
  return { action: 'CreateTags', parameters: { 'ResourceId.1': id, 'Tag.1.Key': GROUPS_TAG, 'Tag.1.Value': groups.join(' ') } };
}

function groupsTo(id: string, groups: readonly string[]): Action {
  const listed = Object.fromEntries(groups.map((group, index) => [`SecurityGroupId.${index + 1}`, group]));
  return { action: 'ModifyNetworkInterfaceAttribute', parameters: { NetworkInterfaceId: id, ...listed } };
}

function together(outcomes: readonly Outcome[]): Outcome {
  const result = outcomes.every((one) => one.result === 'accepted') ? 'accepted' : 'unclear';
  return { result, detail: outcomes.map(({ detail }) => detail).join(', ') };
}

/** Why a group isolates nothing, in words. */
function problemOf({ id, rules, vpc: own }: SecurityGroup, interfaces: readonly AttachedInterface[]): string | undefined {
  if (rules === undefined) return `the rules of group ${id} are not shown: what it lets through is not known`;
  if (rules > 0) return `group ${id} has ${rules} rules: take them out, also the one for all that goes out; it has to let nothing through`;
  const foreign = interfaces.find(({ vpc }) => vpc !== own);
  return foreign === undefined ? undefined : `group ${id} is of ${own}, and ${foreign.id} of ${foreign.vpc}: it has to be of the same VPC`;
}

/** Why the list of interfaces, or what it says, is not to be believed. */
function doubtOf(
  { interfaces: mapped }: Ec2Instance,
  attached: readonly AttachedInterface[],
  branches: readonly AttachedInterface[],
): string | undefined {
  const [shown, listed] = [mapped, attached].map((list) => list.map(({ id }) => id).toSorted());
  if (attached.length === 0 || shown?.join() !== listed?.join())
    return `the instance shows the interfaces ${shown?.join(', ') ?? ''}, DescribeNetworkInterfaces others`;
  const odd = [...mapped, ...attached, ...branches].find(({ groups }) => groups.length === 0 || !groups.every(isGroup));
  return odd === undefined ? undefined : `no security groups of ${odd.id}`;
}
