import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { firstCredentials, isYes, namedSource, type Found } from '../shared/cloud/credentials.ts';
import { yamlValue } from '../shared/cloud/yaml.ts';
import { member } from '../shared/web/web-client.ts';
import { HTTPS_PORT, placeText } from '../shared/web/place.ts';
import type { Trust } from '../shared/web/trusted-socket.ts';
import type { OvirtSettings } from './parameters.ts';
import { placeOf, type EnginePlace } from './place.ts';

/** Who we are, and to which engine. */
export interface Login {
  place: EnginePlace;
  username: string;
  password: string;
  trust: Trust;
  /** What a person should know where the engine is not trusted. */
  hint: string;
}

interface Offer {
  url: string | undefined;
  username: string | undefined;
  password: string | undefined;
  caFile: string | undefined;
  caBundle: string | undefined;
  isInsecure: boolean;
  /** Names of what the offer may lack, for messages. */
  of: { url: string; username: string; password: string };
}

type LoginFound = Found<Login>;

const HOW_TO_TRUST =
  "the engine's own authority is at /ovirt-engine/services/pki-resource?resource=ca-certificate&format=X509-PEM-CA: give it as ca, or name its file in OVIRT_CAFILE";

/** A password leaves only for the engine that its own source names: whoever may write `ip` into a ConfigMap could have it sent to himself. */
export class Logins {
  readonly #settings: OvirtSettings;
  readonly #host: HostEnvironment;

  constructor(settings: OvirtSettings, host: HostEnvironment) {
    this.#settings = settings;
    this.#host = host;
  }

  /** The first that is complete; rejects `Misconfigured` with all that was tried. */
  async find(call: Call<CallTarget>): Promise<Login> {
    const { credentials } = await firstCredentials(call, [
      namedSource('parameters', () => this.#ofParameters()),
      namedSource('environment OVIRT_*', () => this.#ofEnvironment()),
      namedSource('ovirt-config.yaml', () => this.#ofFile(call)),
    ]);
    return credentials;
  }

  #ofParameters(): LoginFound {
    const { place, user, trust } = this.#settings;
    if (user === undefined) return { absent: 'username and password are not set' };
    if (place === undefined) return { absent: 'ip is not set' };
    return { credentials: { place, ...user, trust, hint: HOW_TO_TRUST } };
  }

  /** As Ansible's `ovirt_auth` and oVirt's Go client read it. */
  #ofEnvironment(): Promise<LoginFound> | LoginFound {
    const variable = (name: string): string | undefined => this.#host.variable(name);
    return this.#accepted({
      url: variable('OVIRT_URL') ?? variable('OVIRT_HOSTNAME'),
      username: variable('OVIRT_USERNAME'),
      password: variable('OVIRT_PASSWORD'),
      caFile: variable('OVIRT_CAFILE'),
      caBundle: variable('OVIRT_CA_BUNDLE'),
      isInsecure: isYes(variable('OVIRT_INSECURE')),
      of: { url: 'OVIRT_URL', username: 'OVIRT_USERNAME', password: 'OVIRT_PASSWORD' },
    });
  }

  /** As the installer of OpenShift writes it, and as the keys of its Secret `ovirt-credentials` are. */
  async #ofFile(call: Call<CallTarget>): Promise<LoginFound> {
    const home = this.#host.variable('HOME');
    const path = this.#host.variable('OVIRT_CONFIG') ?? (home === undefined ? undefined : `${home}/.ovirt/ovirt-config.yaml`);
    if (path === undefined) return { absent: 'neither OVIRT_CONFIG nor HOME is set' };
    const text = await this.#host.readFile(path);
    if (text === undefined) return { absent: `there is no ${path}` };
    const values = yamlValue(text);
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw call.error('Misconfigured', `${path} is no YAML with keys such as ovirt_url`);
    const value = (key: string): string | undefined => plainText(member(values, key));
    return this.#accepted({
      url: value('ovirt_url'),
      username: value('ovirt_username'),
      password: value('ovirt_password'),
      caFile: value('ovirt_cafile'),
      caBundle: value('ovirt_ca_bundle'),
      isInsecure: isYes(value('ovirt_insecure')),
      of: { url: `ovirt_url in ${path}`, username: `ovirt_username in ${path}`, password: `ovirt_password in ${path}` },
    });
  }

  async #accepted(offer: Offer): Promise<LoginFound> {
    const { place: wanted, user } = this.#settings;
    if (offer.url === undefined) return { absent: `${offer.of.url} is not set` };
    const place = placeOf(offer.url);
    if (place === undefined) return { absent: `${offer.of.url} names no host` };
    if (wanted !== undefined && !isSame(wanted, place)) return { absent: `${offer.of.url} names ${placeText(place, HTTPS_PORT)}` };
    const { username, password } = user ?? offer;
    if (username === undefined) return { absent: `${offer.of.username} is not set` };
    if (password === undefined) return { absent: `${offer.of.password} is not set` };
    return { credentials: { place, username, password, ...(await this.#trusted(offer)) } };
  }

  /** What a method says of trust goes first; an `insecure` of others is never followed. */
  async #trusted({ caFile, caBundle, isInsecure, of }: Offer): Promise<Pick<Login, 'trust' | 'hint'>> {
    const { trust } = this.#settings;
    if (trust.insecure || trust.ca !== undefined || trust.fingerprint !== undefined) return { trust, hint: HOW_TO_TRUST };
    const ofFile = caFile === undefined ? undefined : await this.#host.readFile(caFile);
    const certificates = [caBundle?.replaceAll('\\n', '\n'), ofFile].filter((text) => text !== undefined);
    const hints = [
      ...(caFile !== undefined && ofFile === undefined ? [`there is no ${caFile}`] : []),
      ...(isInsecure ? [`the insecure flag beside ${of.url} is not followed: only ssl_insecure=yes is`] : []),
    ];
    return {
      trust: { ...trust, ca: certificates.length === 0 ? undefined : certificates.join('\n') },
      hint: [...hints, HOW_TO_TRUST].join('; '),
    };
  }
}

function plainText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function isSame(left: EnginePlace, right: EnginePlace): boolean {
  return left.host === right.host && left.port === right.port;
}
