import { EmulatedInterfaces } from './aws-interfaces.ts';
import { EmulatedVolumes } from './aws-volumes.ts';
import type { CloudAnswer, CloudProtocol, CloudRequest } from './cloud-server.ts';
import type { CloudKind, CloudService, CloudServiceOptions } from './cloud-service.ts';
import { EmulatedInstance, type InstancePhase } from './emulated-instance.ts';
import { ServedCloud } from './served-cloud.ts';

/**
 * EC2, STS and Auto Scaling as their API references describe them (EC2 2016-11-15, STS 2011-06-15, Auto Scaling 2011-01-01), as far as an instance is read,
 * stopped, started and terminated, its volumes detached and its security groups changed. Signatures are not computed: the access key, the
 * session token and the age of the request are checked. moto, which the agent's own tests use beside, checks none of these.
 */
export const ACCESS_KEY = 'AKIAEMULATEDCLOUD000';
const STATES: Readonly<Record<InstancePhase, readonly [code: number, name: string]>> = {
  starting: [0, 'pending'],
  running: [16, 'running'],
  stopping: [64, 'stopping'],
  stopped: [80, 'stopped'],
};
const ENDS = { deleting: [32, 'shutting-down'], deleted: [48, 'terminated'] } as const;
const SKEW_MAX_MS = 15 * 60_000;
const ZONE = 'eu-central-1a';

function instanceId(index: number, generation = 0): string {
  return `i-${(0x0abc0000 + generation * 0x1000 + index).toString(16).padStart(17, '0')}`;
}

/** Set by tests beside the faults that all clouds share. */
export interface AwsOddities {
  /** Code of the reason for the state. */
  stateReason?: string;
  /** It was launched so that it may hibernate. */
  mayHibernate?: true;
  /** It belongs to this Auto Scaling group. */
  group?: string;
  /** DisableApiTermination. */
  isProtected?: true;
  /** About an hour after its end an instance is not shown any more. */
  forgetsDeleted?: true;
  /** Further elements of the instance, as XML. */
  elements?: string;
  /** It does what a dry run asks for, as an endpoint of somebody else might. */
  ignoresDryRun?: true;
}

export function odditiesOf(service: CloudService): AwsOddities {
  if (!(service instanceof Ec2)) throw new Error('no emulated EC2');
  return service.oddities;
}

export function volumesOf(service: CloudService): EmulatedVolumes {
  if (!(service instanceof Ec2)) throw new Error('no emulated EC2');
  return service.volumes;
}

export function interfacesOf(service: CloudService): EmulatedInterfaces {
  if (!(service instanceof Ec2)) throw new Error('no emulated EC2');
  return service.interfaces;
}

/** Of network interfaces and their groups. */
const OF_INTERFACES = /^(?:DescribeNetworkInterfaces|DescribeSecurityGroups|ModifyNetworkInterfaceAttribute|CreateTags|DeleteTags)$/;

export const awsCloud: CloudKind = {
  providerID: (_machine, index) => `aws:///${ZONE}/${instanceId(index)}`,
  start: (options) => Ec2.start(options),
};

class Ec2 extends ServedCloud implements CloudProtocol {
  override readonly instances: readonly EmulatedInstance[];
  readonly oddities: AwsOddities = {};
  readonly secret: string;
  readonly volumes: EmulatedVolumes;
  readonly interfaces: EmulatedInterfaces;
  readonly #options: CloudServiceOptions;
  /** Session tokens that are taken. */
  readonly #tokens = new Set<string>();

  private constructor(options: CloudServiceOptions) {
    super();
    this.#options = options;
    this.secret = `secret-${options.random.uuid()}`;
    this.instances = options.machines.map((machine, index) => new EmulatedInstance(instanceId(index), machine, options.clock, () => this.faults));
    this.volumes = new EmulatedVolumes(this.instances, options.clock, () => this.faults);
    this.interfaces = new EmulatedInterfaces(this.instances, options.clock, () => this.faults);
  }

  static async start(options: CloudServiceOptions): Promise<Ec2> {
    const ec2 = new Ec2(options);
    await ec2.serve(ec2, options);
    return ec2;
  }

  override get variables(): Readonly<Record<string, string>> {
    return { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: this.secret, AWS_ENDPOINT_URL: this.url, AWS_EC2_METADATA_DISABLED: 'true' };
  }

  protected override forget(): void {
    this.#tokens.clear();
  }

  override async close(): Promise<void> {
    this.volumes.close();
    this.interfaces.close();
    await super.close();
  }

  nameOf({ body }: CloudRequest): string {
    const form = new URLSearchParams(body);
    const action = form.get('Action') ?? '(none)';
    const isGraceful = action === 'StopInstances' && form.get('SkipOsShutdown') !== 'true';
    return `${action}${form.get('DryRun') === 'true' ? ' DryRun' : ''}${isGraceful ? ' after its shutdown' : ''}`;
  }

  isSet(name: string): boolean {
    return /^(?:StopInstances|StartInstances|TerminateInstance(?:s|InAutoScalingGroup)|DetachVolume|ModifyNetworkInterfaceAttribute)(?! DryRun)/.test(
      name,
    );
  }

  failure({ status, code, message }: { status: number; code: string; message: string }): CloudAnswer {
    const errors = `<Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors>`;
    return xml(status, `<Response>${errors}<RequestID>emulated</RequestID></Response>`);
  }

  tooOften(): CloudAnswer {
    return this.failure({ status: 503, code: 'RequestLimitExceeded', message: 'Request limit exceeded.' });
  }

  answer(request: CloudRequest, name: string): CloudAnswer {
    const form = new URLSearchParams(request.body);
    const action = form.get('Action') ?? '';
    if (action.startsWith('AssumeRole')) return this.#session(action, form, request);
    const refused = this.#refused(request);
    if (refused !== undefined) return refused;
    if (action === 'DescribeInstances' && form.get('InstanceId.1') === null) return this.#described(this.instances);
    if (OF_INTERFACES.test(action)) return this.#ofInterfaces(form, name);
    if (action === 'DescribeVolumes') return xml(200, this.volumes.describe(form));
    const asked = form.get('InstanceId.1') ?? form.get('InstanceId') ?? '';
    const instance = this.instances.find(({ id }) => this.#shownId(id) === asked);
    if (instance === undefined || (instance.isDeleted && this.oddities.forgetsDeleted === true)) {
      const message = `The instance ID '${asked}' does not exist`;
      return this.failure({ status: 400, code: 'InvalidInstanceID.NotFound', message });
    }
    if (name.includes('DryRun') && this.oddities.ignoresDryRun !== true) return this.#dryRun();
    if (action === 'DescribeInstances') return this.#described([instance]);
    if (action === 'DescribeInstanceAttribute')
      return xml(
        200,
        `<DescribeInstanceAttributeResponse><disableApiTermination><value>${this.oddities.isProtected === true}</value></disableApiTermination></DescribeInstanceAttributeResponse>`,
      );
    return action === 'DetachVolume' ? this.#detached(instance, form) : this.#changed(action, instance, form);
  }

  /** A replaced instance has another id, for good. */
  #shownId(id: string): string {
    return this.faults.isReplaced === true ? id.replace('0abc', '0abd') : id;
  }

  #refused({ headers }: CloudRequest): CloudAnswer | undefined {
    const authorization = headers['authorization'] ?? '';
    const date = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(headers['x-amz-date'] ?? '');
    const at = date === null ? Number.NaN : Date.parse(`${date[1]}-${date[2]}-${date[3]}T${date[4]}:${date[5]}:${date[6]}Z`);
    const now = Date.now() + (this.faults.aheadMs ?? 0);
    const token = headers['x-amz-security-token'];
    if (this.faults.refusesLogin === true || !authorization.startsWith('AWS4-HMAC-SHA256 Credential='))
      return this.failure({ status: 401, code: 'AuthFailure', message: 'AWS was not able to validate the provided access credentials' });
    if (Number.isNaN(at) || Math.abs(now - at) > SKEW_MAX_MS)
      return this.failure({ status: 400, code: 'RequestExpired', message: 'Request has expired.' });
    if (token !== undefined && !this.#tokens.has(token))
      return this.failure({ status: 400, code: 'ExpiredToken', message: 'The provided token has expired.' });
    if (token === undefined && !authorization.includes(`Credential=${ACCESS_KEY}/`))
      return this.failure({ status: 401, code: 'InvalidClientTokenId', message: 'The security token included in the request is invalid.' });
    return undefined;
  }

  #session(action: string, form: URLSearchParams, request: CloudRequest): CloudAnswer {
    const refused = action === 'AssumeRole' ? this.#refused(request) : undefined;
    if (refused !== undefined) return refused;
    if (action === 'AssumeRoleWithWebIdentity' && form.get('WebIdentityToken') === 'refused')
      return xml(
        400,
        '<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>No OpenIDConnect provider found</Message></Error></ErrorResponse>',
      );
    const token = `session-${this.#options.random.uuid()}`;
    this.#tokens.add(token);
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const credentials = `<AccessKeyId>ASIAEMULATEDCLOUD000</AccessKeyId><SecretAccessKey>${this.secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>${expires}</Expiration>`;
    return xml(200, `<${action}Response><${action}Result><Credentials>${credentials}</Credentials></${action}Result></${action}Response>`);
  }

  #described(instances: readonly EmulatedInstance[]): CloudAnswer {
    const items = instances.map((instance) => this.#item(instance)).join('');
    return xml(
      200,
      `<DescribeInstancesResponse><reservationSet><item><instancesSet>${items}</instancesSet></item></reservationSet></DescribeInstancesResponse>`,
    );
  }

  #item(instance: EmulatedInstance): string {
    const { id, machine } = instance;
    const { shows, isReplaced } = this.faults;
    const [code, name] = stateOf(instance);
    const state = shows === undefined ? `<code>${code}</code><name>${name}</name>` : shows === null ? '<code/><name/>' : `<code>${shows}</code>`;
    const { stateReason, mayHibernate, group, elements = '' } = this.oddities;
    const tag = group === undefined ? '' : `<item><key>aws:autoscaling:groupName</key><value>${group}</value></item>`;
    const reason = stateReason === undefined ? '' : `<stateReason><code>${stateReason}</code></stateReason>`;
    const hibernation = `<hibernationOptions><configured>${mayHibernate === true}</configured></hibernationOptions>`;
    const address = isReplaced === true ? '10.99.99.99' : machine.address;
    const network = this.interfaces.setOf(id, address);
    return `<item><instanceId>${this.#shownId(id)}</instanceId>${shows === 'absent' ? '' : `<instanceState>${state}</instanceState>`}<privateIpAddress>${address}</privateIpAddress>${network}${reason}${hibernation}${this.volumes.mappingOf(id)}${elements}<rootDeviceType>ebs</rootDeviceType><tagSet><item><key>Name</key><value>${machine.node}</value></item>${tag}</tagSet></item>`;
  }

  #ofInterfaces(form: URLSearchParams, name: string): CloudAnswer {
    if (name.includes('DryRun') && this.oddities.ignoresDryRun !== true) return this.#dryRun();
    const answer = this.interfaces.answer(form, this.instances);
    return 'body' in answer ? xml(200, answer.body) : this.failure({ status: 400, ...answer });
  }

  #dryRun(): CloudAnswer {
    return this.failure({ status: 412, code: 'DryRunOperation', message: 'Request would have succeeded, but DryRun flag is set.' });
  }

  #detached(instance: EmulatedInstance, form: URLSearchParams): CloudAnswer {
    const id = form.get('VolumeId') ?? '';
    const attachment = this.volumes.detach(id, instance, form.get('Force') === 'true');
    if (attachment === undefined)
      return this.failure({ status: 400, code: 'IncorrectState', message: `Volume '${id}' is in the 'available' state.` });
    const { device, status } = attachment;
    return xml(
      200,
      `<DetachVolumeResponse><volumeId>${id}</volumeId><instanceId>${instance.id}</instanceId><device>${device}</device><status>${status}</status></DetachVolumeResponse>`,
    );
  }

  /** Auto Scaling does not ask for the termination protection of EC2. */
  #endedByGroup(instance: EmulatedInstance, form: URLSearchParams): CloudAnswer {
    if (this.oddities.group === undefined || form.get('ShouldDecrementDesiredCapacity') !== 'false') {
      const body = '<Error><Code>ValidationError</Code><Message>Instance Id not found, or the capacity would shrink</Message></Error>';
      return xml(400, `<ErrorResponse>${body}</ErrorResponse>`);
    }
    instance.delete();
    const activity = '<Activity><StatusCode>InProgress</StatusCode></Activity>';
    const body = `<TerminateInstanceInAutoScalingGroupResult>${activity}</TerminateInstanceInAutoScalingGroupResult>`;
    return xml(200, `<TerminateInstanceInAutoScalingGroupResponse>${body}</TerminateInstanceInAutoScalingGroupResponse>`);
  }

  #changed(action: string, instance: EmulatedInstance, form: URLSearchParams): CloudAnswer {
    const before = stateOf(instance);
    if (action === 'TerminateInstances' && this.oddities.isProtected === true) {
      const message = `The instance '${instance.id}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.`;
      return this.failure({ status: 400, code: 'OperationNotPermitted', message });
    }
    if (action === 'TerminateInstanceInAutoScalingGroup') return this.#endedByGroup(instance, form);
    if (action === 'StopInstances' && form.get('Force') === 'true') instance.stop();
    else if (action === 'StartInstances') instance.start();
    else if (action === 'TerminateInstances') instance.delete();
    else {
      instance.told();
      return this.failure({ status: 400, code: 'InvalidAction', message: `${action} is not emulated, or not by force` });
    }
    const shown = (tag: string, [code, word]: readonly [number, string]): string => `<${tag}><code>${code}</code><name>${word}</name></${tag}>`;
    const item = `<item><instanceId>${instance.id}</instanceId>${shown('currentState', stateOf(instance))}${shown('previousState', before)}</item>`;
    return xml(200, `<${action}Response><instancesSet>${item}</instancesSet></${action}Response>`);
  }
}

function stateOf({ phase, end }: EmulatedInstance): readonly [code: number, name: string] {
  return end === undefined ? STATES[phase] : ENDS[end];
}

function xml(status: number, body: string): CloudAnswer {
  return { status, headers: { 'Content-Type': 'text/xml;charset=UTF-8' }, body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}` };
}
