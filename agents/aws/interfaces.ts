import { parseXml, type XmlElement } from '../shared/xml.ts';
import { child, items, tagsOf, textOf } from './elements.ts';

/** The tag by which an interface that was isolated says which groups it had. */
export const GROUPS_TAG = 'nodefence/groups';

/**
 * By it the VPC resource controller of EKS says of the interface of a pod with security groups of its own (`branch`) through which one of the instance (`trunk`) it
 * is reached. No attachment leads to it. Source: aws/amazon-vpc-resource-controller-k8s.
 */
export const TRUNK_TAG = 'vpcresources.k8s.aws/trunk-eni-id';

/** A network interface at an instance, as DescribeNetworkInterfaces shows it. */
export interface AttachedInterface {
  id: string;
  vpc: string;
  /** Ids of its security groups. */
  groups: readonly string[];
  /** The groups that it had before it was isolated, as its tag says; undefined where there is no tag, or none that says so. */
  before: readonly string[] | undefined;
  /** Others may be reached through it. */
  isTrunk: boolean;
}

/** The same as the instance shows it. */
export interface MappedInterface {
  id: string;
  groups: readonly string[];
}

const GROUP = /^sg-[0-9a-f]{8,17}$/;

export function isGroup(text: string): boolean {
  return GROUP.test(text);
}

export function mappedInterfaces(instance: XmlElement): MappedInterface[] {
  return items(instance, 'networkInterfaceSet').map((element) => ({ id: textOf(element, 'networkInterfaceId') ?? '', groups: groupsOf(element) }));
}

/** Undefined where the answer is none of EC2. */
export function interfacesIn(text: string): { interfaces: readonly AttachedInterface[]; nextToken: string | undefined } | undefined {
  const root = parseXml(text);
  if (root?.name !== 'DescribeNetworkInterfacesResponse' || child(root, 'networkInterfaceSet') === undefined) return undefined;
  const interfaces = items(root, 'networkInterfaceSet').map((element) => ({
    id: textOf(element, 'networkInterfaceId') ?? '',
    vpc: textOf(element, 'vpcId') ?? '',
    groups: groupsOf(element),
    before: remembered(tagsOf(element).get(GROUPS_TAG)),
    isTrunk: textOf(element, 'interfaceType') === 'trunk',
  }));
  return { interfaces, nextToken: textOf(root, 'nextToken') };
}

/** A tag that anybody may have written is believed only where it is a list of groups and nothing else. */
function remembered(tag: string | undefined): readonly string[] | undefined {
  const groups = tag?.split(' ') ?? [];
  return groups.length > 0 && groups.every(isGroup) ? groups : undefined;
}

function groupsOf(element: XmlElement): string[] {
  return items(element, 'groupSet').map((group) => textOf(group, 'groupId') ?? '');
}

export interface SecurityGroup {
  id: string;
  vpc: string;
  /** Rules for what comes in, and for what goes out; undefined where one of these lists is not shown: what is not shown is not empty. */
  rules: number | undefined;
}

/** Undefined where the answer is none of EC2. */
export function securityGroupsIn(text: string): readonly SecurityGroup[] | undefined {
  const root = parseXml(text);
  if (root?.name !== 'DescribeSecurityGroupsResponse') return undefined;
  return items(root, 'securityGroupInfo').map((element) => ({
    id: textOf(element, 'groupId') ?? '',
    vpc: textOf(element, 'vpcId') ?? '',
    rules: rulesOf(element),
  }));
}

/** Whatever stands in a list is a rule. */
function rulesOf(group: XmlElement): number | undefined {
  const lists = ['ipPermissions', 'ipPermissionsEgress'].map((name) => child(group, name)?.children.length);
  return lists.reduce((sum, length) => (sum === undefined || length === undefined ? undefined : sum + length), 0);
}
