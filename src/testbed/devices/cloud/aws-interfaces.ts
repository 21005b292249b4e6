import type { Clock } from '../../../ports/clock.ts';
import type { EmulatedInstance } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';

/** A network interface at an instance; one of a pod (`branch`) is at none. */
export interface EmulatedInterface {
  id: string;
  type?: 'trunk' | 'branch';
  instance: string;
  vpc: string;
  groups: string[];
  tags: Record<string, string>;
}

export interface EmulatedGroup {
  id: string;
  vpc: string;
  /** Rules for either direction. */
  inbound: number;
  outbound: number;
}

export interface InterfaceOddities {
  /** What DescribeNetworkInterfaces leaves out. */
  leavesOut?: (one: EmulatedInterface) => boolean;
  /** The instance still shows these groups, of every interface. */
  instanceShows?: readonly string[];
  /** DescribeSecurityGroups leaves this list of rules out. */
  hidesRules?: 'ipPermissions' | 'ipPermissionsEgress';
}

/** Without any rule. */
export const ISOLATION_GROUP = 'sg-00000000a';
const VPC = 'vpc-0000000a';

/** Network interfaces and security groups of the emulated EC2: one interface with two groups for each instance. */
export class EmulatedInterfaces {
  readonly all: EmulatedInterface[];
  readonly groups: EmulatedGroup[] = [
    { id: ISOLATION_GROUP, vpc: VPC, inbound: 0, outbound: 0 },
    { id: 'sg-00000000b', vpc: VPC, inbound: 1, outbound: 1 },
    { id: 'sg-00000000c', vpc: VPC, inbound: 1, outbound: 0 },
    { id: 'sg-00000000d', vpc: VPC, inbound: 0, outbound: 1 },
    { id: 'sg-00000000e', vpc: 'vpc-0000000b', inbound: 0, outbound: 0 },
  ];
  readonly oddities: InterfaceOddities = {};
  readonly #clock: Clock;
  readonly #faults: () => CloudFaults;
  readonly #cancels = new Set<() => void>();

  constructor(instances: readonly EmulatedInstance[], clock: Clock, faults: () => CloudFaults) {
    this.#clock = clock;
    this.#faults = faults;
    this.all = instances.map(({ id }, index) => ({
      id: `eni-0000000${index}`,
      ...{ instance: id, vpc: VPC, tags: {} },
      groups: ['sg-00000000b', 'sg-00000000c'],
    }));
  }

  /** Does anything get through? */
  flows(instance: string): boolean {
    return this.all.some((one) => one.instance === instance && one.groups.join() !== ISOLATION_GROUP);
  }

  /** The way a fence leaves it. */
  isolate(instance: string, tag: string): void {
    for (const one of this.all.filter((each) => each.instance === instance)) {
      one.tags = { ...one.tags, [tag]: one.groups.join(' ') };
      one.groups = [ISOLATION_GROUP];
    }
  }

  /** The body of the answer; a word: the code of an error. */
  answer(form: URLSearchParams, instances: readonly EmulatedInstance[]): { body: string } | { code: string; message: string } {
    switch (form.get('Action')) {
      case 'DescribeNetworkInterfaces':
        return { body: this.#describe(form) };
      case 'DescribeSecurityGroups':
        return this.#describeGroups(form);
      case 'ModifyNetworkInterfaceAttribute':
        return this.#modify(form, instances);
      default:
        return this.#tag(form);
    }
  }

  /** Of DescribeInstances. */
  setOf(instance: string, address: string): string {
    const { instanceShows } = this.oddities;
    const items = this.all
      .filter((one) => one.instance === instance)
      .map(({ id, groups }) => {
        const own = `<privateIpAddressesSet><item><privateIpAddress>${address}</privateIpAddress></item></privateIpAddressesSet>`;
        return `<item><networkInterfaceId>${id}</networkInterfaceId>${own}${this.#groupSet(instanceShows ?? groups)}</item>`;
      });
    return `<networkInterfaceSet>${items.join('')}</networkInterfaceSet>`;
  }

  close(): void {
    for (const cancel of this.#cancels) cancel();
  }

  #describe(form: URLSearchParams): string {
    const [filter, value] = [form.get('Filter.1.Name') ?? '', form.get('Filter.1.Value.1')];
    const isMeant = ({ instance, tags }: EmulatedInterface): boolean => {
      if (filter.startsWith('tag:')) return tags[filter.slice('tag:'.length)] === value;
      return filter !== 'attachment.instance-id' || instance === value;
    };
    const found = this.all.filter((one) => this.oddities.leavesOut?.(one) !== true && isMeant(one));
    const items = found.map(({ id, vpc, groups, tags, type = 'interface' }) => {
      const tagged = Object.entries(tags).map(([key, value]) => `<item><key>${key}</key><value>${value}</value></item>`);
      return `<item><networkInterfaceId>${id}</networkInterfaceId><vpcId>${vpc}</vpcId><interfaceType>${type}</interfaceType>${this.#groupSet(groups)}<tagSet>${tagged.join('')}</tagSet></item>`;
    });
    return `<DescribeNetworkInterfacesResponse><networkInterfaceSet>${items.join('')}</networkInterfaceSet></DescribeNetworkInterfacesResponse>`;
  }

  #describeGroups(form: URLSearchParams): { body: string } | { code: string; message: string } {
    const asked = form.get('GroupId.1') ?? '';
    const group = this.groups.find(({ id }) => id === asked);
    if (group === undefined) return { code: 'InvalidGroup.NotFound', message: `The security group '${asked}' does not exist` };
    const rules = (count: number): string => '<item><ipProtocol>-1</ipProtocol></item>'.repeat(count);
    const lists = { ipPermissions: rules(group.inbound), ipPermissionsEgress: rules(group.outbound) };
    const shown = Object.entries(lists).filter(([list]) => list !== this.oddities.hidesRules);
    const permissions = shown.map(([list, content]) => `<${list}>${content}</${list}>`).join('');
    return {
      body: `<DescribeSecurityGroupsResponse><securityGroupInfo><item><groupId>${group.id}</groupId><vpcId>${group.vpc}</vpcId>${permissions}</item></securityGroupInfo></DescribeSecurityGroupsResponse>`,
    };
  }

  #modify(form: URLSearchParams, instances: readonly EmulatedInstance[]): { body: string } | { code: string; message: string } {
    const id = form.get('NetworkInterfaceId') ?? '';
    const found = this.all.find((one) => one.id === id);
    const groups = [...form].filter(([name]) => name.startsWith('SecurityGroupId.')).map(([, value]) => value);
    if (found === undefined) return { code: 'InvalidNetworkInterfaceID.NotFound', message: `The networkInterface ID '${id}' does not exist` };
    const instance = instances.find((one) => one.id === found.instance);
    instance?.commands.push({ wanted: groups.join() === ISOLATION_GROUP ? 'off' : 'on' });
    const { ignoresSet, stopMs = 0, restartsAfterMs } = this.#faults();
    if (ignoresSet === true || ignoresSet?.includes(found.instance) === true) return { body: done('ModifyNetworkInterfaceAttribute') };
    const before = found.groups;
    this.#later(stopMs, () => {
      found.groups = groups;
      if (restartsAfterMs !== undefined && groups.join() === ISOLATION_GROUP) this.#later(restartsAfterMs, () => (found.groups = before));
    });
    return { body: done('ModifyNetworkInterfaceAttribute') };
  }

  #tag(form: URLSearchParams): { body: string } | { code: string; message: string } {
    const [id, key, action] = ['ResourceId.1', 'Tag.1.Key', 'Action'].map((name) => form.get(name) ?? '');
    const found = this.all.find((one) => one.id === id);
    if (found === undefined) return { code: 'InvalidID', message: `The ID '${id ?? ''}' is not valid` };
    const { [key ?? '']: _old, ...rest } = found.tags;
    found.tags = action === 'CreateTags' ? { ...rest, [key ?? '']: form.get('Tag.1.Value') ?? '' } : rest;
    return { body: done(action ?? '') };
  }

  #groupSet(groups: readonly string[]): string {
    const { shows } = this.#faults();
    const shown = shows === undefined ? groups : shows === null || shows === 'absent' ? [] : [shows];
    return `<groupSet>${shown.map((id) => `<item><groupId>${id}</groupId></item>`).join('')}</groupSet>`;
  }

  #later(ms: number, action: () => void): void {
    const cancel = this.#clock.after(ms, () => {
      this.#cancels.delete(cancel);
      action();
    });
    this.#cancels.add(cancel);
  }
}

function done(action: string): string {
  return `<${action}Response><return>true</return></${action}Response>`;
}
