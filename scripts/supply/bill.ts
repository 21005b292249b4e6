import { createHash } from 'node:crypto';
import type { LockedPackage } from './locked-packages.ts';

/** Name, version and what it is of the program itself. */
interface Product {
  name: string;
  version: string;
  license: string;
  dependencies: Readonly<Record<string, string>>;
}

interface Component {
  type: 'application' | 'library' | 'platform';
  'bom-ref': string;
  name: string;
  version: string;
  purl?: string;
  hashes?: { alg: 'SHA-512'; content: string }[];
  licenses?: { license: { id: string } }[];
}

/** The same lock file gives the same text: no time, no chance. */
export function billOfMaterials(product: Product, packages: readonly LockedPackage[]): string {
  const shipped = packages.filter(({ isDevelopment, isOptional }) => !isDevelopment && !isOptional);
  const root = component('application', product.name, product.version, product.license);
  const needs = (one: LockedPackage): string[] => one.needs.flatMap((name) => refOf(resolve(one.path, name, shipped)));
  const components = shipped.map((one) => ({ ...component('library', one.name, one.version, one.licence), hashes: hashOf(one.integrity) }));
  const dependencies = [
    { ref: root['bom-ref'], dependsOn: Object.keys(product.dependencies).flatMap((name) => refOf(resolve('', name, shipped))) },
    ...shipped.map((one) => ({ ref: purl(one.name, one.version), dependsOn: needs(one) })),
  ];
  const content = { metadata: { component: root }, components, dependencies };
  const serial = uuidOf(JSON.stringify(content));
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serial,
    version: 1,
  };
  return `${JSON.stringify({ ...bill, ...content }, undefined, 2)}\n`;
}

function component(type: Component['type'], name: string, version: string, licence: string): Component {
  const reference = purl(name, version);
  return { type, 'bom-ref': reference, name, version, purl: reference, licenses: [{ license: { id: licence } }] };
}

function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function hashOf(integrity: string): { alg: 'SHA-512'; content: string }[] {
  return [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }];
}

/** As Node finds it: in the folder of whoever needs it, then in those above. What is optional may be missing. */
function resolve(from: string, name: string, packages: readonly LockedPackage[]): LockedPackage | undefined {
  const nearest = packages.find(({ path }) => path === (from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`));
  if (nearest !== undefined || from === '') return nearest;
  const above = from.lastIndexOf('/node_modules/');
  return resolve(above === -1 ? '' : from.slice(0, above), name, packages);
}

function refOf(found: LockedPackage | undefined): string[] {
  return found === undefined ? [] : [purl(found.name, found.version)];
}

/** Of version 5 in shape: by the content alone. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
