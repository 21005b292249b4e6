import type { PowerState } from '../../src/ports/agents.ts';
import { parseXml, type XmlElement } from '../shared/xml.ts';
import { mappedVolumes, type AttachedVolume } from './attachments.ts';
import { child, items, tagsOf, textOf } from './elements.ts';
import { mappedInterfaces, type MappedInterface } from './interfaces.ts';

/** One instance, as DescribeInstances shows it (EC2 API reference, version 2016-11-15). */
export interface Ec2Instance {
  id: string;
  state: PowerState;
  /** `state=stopped (80)`. */
  shown: string;
  isTerminated: boolean;
  /** Terminated, or on its way there, from which nothing leads back. */
  isEnding: boolean;
  /** The Auto Scaling group that it belongs to. */
  group: string | undefined;
  addresses: readonly string[];
  name: string | undefined;
  /** Volumes, as the instance shows them. */
  volumes: readonly AttachedVolume[];
  /** Network interfaces, as the instance shows them. */
  interfaces: readonly MappedInterface[];
  /** Device of its root; undefined where it does not say. */
  rootDevice: string | undefined;
  /** What an operator has to know of it, in words. */
  remarks: readonly string[];
}

/** Low byte of the code; the high one is AWS' own and is to be ignored. */
const STATES: Readonly<Record<number, PowerState>> = { 0: 'pending', 16: 'on', 32: 'pending', 48: 'off', 64: 'pending', 80: 'off' };
const SHUTTING_DOWN = 32;
const TERMINATED = 48;
const STOPPED = 80;

/** Codes of StateReason (EC2 API reference). */
const HIBERNATED = 'Client.UserInitiatedHibernate';
const STOPPED_BY_API = 'Client.UserInitiatedShutdown';

/** Undefined where the answer is no well-formed XML, or says nothing of instances: one that is not shown by it is not thereby gone. */
export function instancesIn(text: string): { instances: readonly Ec2Instance[]; nextToken: string | undefined } | undefined {
  const root = parseXml(text);
  if (root?.name !== 'DescribeInstancesResponse' || child(root, 'reservationSet') === undefined) return undefined;
  const reservations = items(root, 'reservationSet');
  const instances = reservations.flatMap((reservation) => items(reservation, 'instancesSet').map(instanceOf));
  return { instances, nextToken: textOf(root, 'nextToken') };
}

function instanceOf(element: XmlElement): Ec2Instance {
  const state = child(element, 'instanceState');
  const code = textOf(state, 'code');
  const name = textOf(state, 'name');
  // Null, a word, an empty text: no code at all, and never 0.
  const number = code !== undefined && /^\d{1,6}$/.test(code) ? Number(code) & 0xff : undefined;
  const hibernation = number === STOPPED ? hibernationOf(element) : undefined;
  const tags = tagsOf(element);
  return {
    id: textOf(element, 'instanceId') ?? '',
    state: number === undefined || hibernation !== undefined ? 'unknown' : (STATES[number] ?? 'unknown'),
    shown: `state=${name ?? '(none)'} (${code ?? '(none)'})${hibernation === undefined ? '' : `; ${hibernation}`}`,
    isTerminated: number === TERMINATED,
    isEnding: number === TERMINATED || number === SHUTTING_DOWN,
    group: tags.get('aws:autoscaling:groupName'),
    addresses: addressesOf(element),
    name: tags.get('Name'),
    volumes: mappedVolumes(element),
    interfaces: mappedInterfaces(element),
    rootDevice: textOf(element, 'rootDeviceName'),
    remarks: remarksOf(element, tags),
  };
}

/**
 * The memory of a hibernated instance is kept, and its processes go on at the next start, with what they were about to write (EC2 user guide, "Hibernate
 * your instance"). One that may hibernate counts as stopped only where the API stopped it (StateReason), as a fence does: a shutdown from within may be one.
 * A spot instance may without `HibernationOptions`: `InstanceInterruptionBehavior` of its request is not shown here, and no reason tells a hibernation by an
 * interruption from a stop (EC2 API reference, SpotMarketOptions and StateReason).
 */
function hibernationOf(element: XmlElement): string | undefined {
  const reason = textOf(child(element, 'stateReason'), 'code');
  const mayHibernate = isSpot(element) || textOf(child(element, 'hibernationOptions'), 'configured') === 'true';
  if (reason !== HIBERNATED && (!mayHibernate || reason === STOPPED_BY_API)) return undefined;
  return `${reason ?? '(no reason)'}: it may be hibernated, and would go on where it was; start it and stop it, or terminate it`;
}

function isSpot(element: XmlElement): boolean {
  return textOf(element, 'instanceLifecycle') === 'spot';
}

function addressesOf(element: XmlElement): string[] {
  const interfaces = items(element, 'networkInterfaceSet');
  const found = interfaces.flatMap((one) => [
    ...items(one, 'privateIpAddressesSet').map((address) => textOf(address, 'privateIpAddress')),
    ...items(one, 'ipv6AddressesSet').map((address) => textOf(address, 'ipv6Address')),
    textOf(one, 'privateIpAddress'),
  ]);
  return [...new Set([textOf(element, 'privateIpAddress'), ...found])].filter((address): address is string => address !== undefined);
}

function remarksOf(element: XmlElement, tags: ReadonlyMap<string, string>): string[] {
  const group = tags.get('aws:autoscaling:groupName');
  return [
    ...(group === undefined ? [] : [`the Auto Scaling group ${group} may replace it once it is stopped`]),
    ...(isSpot(element) ? ['a spot instance: only a persistent request lets it be stopped'] : []),
    ...(textOf(element, 'rootDeviceType') === 'instance-store' ? ['its root is an instance store: it cannot be stopped, only terminated'] : []),
  ];
}

export interface Ec2Failure {
  code: string;
  message: string;
}

/** The first error of an answer of EC2 (`Response/Errors/Error`) or STS (`ErrorResponse/Error`). */
export function failureIn(text: string): Ec2Failure | undefined {
  const root = parseXml(text);
  const error = child(child(root, 'Errors'), 'Error') ?? child(root, 'Error');
  const code = textOf(error, 'Code');
  return code === undefined ? undefined : { code, message: textOf(error, 'Message') ?? '' };
}

/** Of StopInstances, StartInstances and TerminateInstances: what the instance came from and goes to. */
export function changeIn(text: string): string | undefined {
  const root = parseXml(text);
  const [item] = items(root, 'instancesSet');
  const [from, to] = ['previousState', 'currentState'].map((name) => textOf(child(item, name), 'name'));
  return item === undefined || to === undefined ? undefined : `${from ?? '(none)'} to ${to}`;
}

/** Of DescribeInstanceAttribute; undefined where the answer does not say. */
export function isProtectedIn(text: string): boolean | undefined {
  const value = textOf(child(parseXml(text), 'disableApiTermination'), 'value');
  return value === 'true' ? true : value === 'false' ? false : undefined;
}

/** Keys that STS gave, and when they end. */
export function sessionIn(text: string): { accessKeyId: string; secretAccessKey: string; sessionToken: string; expiresAtMs: number } | undefined {
  const root = parseXml(text);
  const result = root?.children.find(({ name }) => name.endsWith('Result'));
  const found = child(result, 'Credentials');
  const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map((name) => textOf(found, name));
  const expiresAtMs = Date.parse(textOf(found, 'Expiration') ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined || Number.isNaN(expiresAtMs)) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken, expiresAtMs };
}
