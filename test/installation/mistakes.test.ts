import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { standardRegistry } from '../../agents/registry.ts';
import { rightsElsewhere } from '../../src/cli/program-rights.ts';
import { inputFromFiles } from '../../src/cli/validate/files.ts';
import { validate } from '../../src/cli/validate/validation.ts';

/** Sixty mistakes of a first hour, and what `nodefence validate -f` answers to each. */

interface Manifest {
  kind: string;
  metadata: { name: string; namespace?: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

type Files = Record<string, Manifest>;

const BASE: Files = {
  node: {
    kind: 'ConfigMap',
    metadata: { name: 'fence-config-worker-1' },
    data: {
      'config.properties': 'isolation=mark-unschedulable\npower_management=bmc-off bmc-on\nrecovery=mark-schedulable',
      'fence-method-bmc-off': 'template=fence-method-template-bmc\nip=192.0.2.11\naction=off',
      'fence-method-bmc-on': 'template=fence-method-template-bmc\nip=192.0.2.11\naction=on',
    },
  },
  template: {
    kind: 'ConfigMap',
    metadata: { name: 'fence-method-template-bmc' },
    data: { 'template.properties': 'agent_name=redfish\nsecret=bmc-login' },
  },
  secret: { kind: 'Secret', metadata: { name: 'bmc-login' }, stringData: { username: 'fence', password: 'change-me' } },
};

type Change = (files: Files) => void;

const dataOf = (files: Files, file: string): Record<string, string> => {
  const data = files[file]?.data ?? files[file]?.stringData;
  if (data === undefined) throw new Error(`there is no ${file}`);
  return data;
};

/** One text replaced in one key; it has to be there. */
function put(file: string, key: string, from: string, to: string): Change {
  return (files) => {
    const data = dataOf(files, file);
    const text = data[key] ?? '';
    if (!text.includes(from)) throw new Error(`${key} does not hold ${from}`);
    data[key] = text.replace(from, to);
  };
}
const line = (text: string): Change => put('node', 'config.properties', 'isolation=', `${text}\nisolation=`);
const off = (from: string, to: string): Change => put('node', 'fence-method-bmc-off', from, to);
const both =
  (from: string, to: string): Change =>
  (files) => {
    for (const key of ['fence-method-bmc-off', 'fence-method-bmc-on']) put('node', key, from, to)(files);
  };
const template = (from: string, to: string): Change => put('template', 'template.properties', from, to);
const rename =
  (file: string, name: string): Change =>
  (files) => {
    const found = files[file];
    if (found !== undefined) found.metadata.name = name;
  };
const moved =
  (file: string): Change =>
  (files) => {
    const found = files[file];
    if (found !== undefined) found.metadata.namespace = 'default';
  };
const without =
  (...names: string[]): Change =>
  (files) => {
    for (const name of names) Reflect.deleteProperty(files, name);
  };
const more =
  (name: string, data: Record<string, string>): Change =>
  (files) => {
    files[name] = { kind: 'ConfigMap', metadata: { name }, data };
  };
const only =
  (manifest: Manifest): Change =>
  (files) => {
    without('node', 'template', 'secret')(files);
    files['only'] = manifest;
  };
const all =
  (...changes: Change[]): Change =>
  (files) => {
    for (const change of changes) change(files);
  };
const PDU = (plugs: string): Record<string, string> => ({
  'config.properties': `power_management=pdu-off pdu-on\nidentity=unverified\nsupplies=1`,
  'fence-method-pdu-off': `agent_name=pdu\nip=192.0.2.20\ncommunity=c\n${plugs}\naction=off`,
  'fence-method-pdu-on': `agent_name=pdu\nip=192.0.2.20\ncommunity=c\n${plugs}\naction=on`,
});
const SCRIPT = 'plug=1\naction=off\nstorage=s\nstorage_match=nfs:192.0.2.40\nclosed_match=x\nopen_match=y %plug%';

type Row = [mistake: string, change: Change, answer: string];

const ERRORS: readonly Row[] = [
  [
    'the ConfigMap stands in another namespace',
    moved('node'),
    'ConfigMap fence-config-worker-1 is of namespace default, and only nodefence-system is read',
  ],
  ['the Secret stands in another namespace', moved('secret'), 'Secret bmc-login is of namespace default, and only nodefence-system is read'],
  [
    'fence-conf- instead of fence-config-',
    rename('node', 'fence-conf-worker-1'),
    'nobody reads a ConfigMap of this name: did you mean fence-config-worker-1?',
  ],
  ['fence_config written in one word', rename('node', 'fenceconfig-worker-1'), 'nobody reads a ConfigMap of this name: fence-config-<node>'],
  [
    'a policy under another prefix',
    more('fence-polcy-rate', { 'config.properties': 'max=3' }),
    'nobody reads a ConfigMap of this name: did you mean fence-policy-rate?',
  ],
  [
    'the cluster’s ConfigMap under another name',
    more('fence-cluster-conf', { 'config.properties': 'profile=fast' }),
    'nobody reads a ConfigMap of this name: did you mean fence-cluster-config?',
  ],
  ['a ConfigMap of something else', only({ kind: 'ConfigMap', metadata: { name: 'web' }, data: { a: 'b' } }), 'holds nothing of fencing'],
  [
    'a Deployment',
    only({ kind: 'Deployment', metadata: { name: 'web' } }),
    'holds no ConfigMap: name the files or folders of your fence configuration',
  ],
  [
    'no key config.properties',
    (files) => delete dataOf(files, 'node')['config.properties'],
    'has no key config.properties: put the steps under that key',
  ],
  ['a line without =', line('power_management bmc-off'), 'is not key=value; write key=value'],
  [
    'a level 0',
    line('power_management.0=bmc-off'),
    'power_management.0 is no level: write power_management, then power_management.2 to power_management.8',
  ],
  ['a level 9', line('power_management.9=bmc-off'), 'power_management.9 is no level'],
  ['level 3 without level 2', line('power_management.3=bmc-off'), 'power_management.3 has no power_management.2 before it'],
  ['a method that is not there', put('node', 'config.properties', 'bmc-off', 'bmc-of'), 'method bmc-of does not exist'],
  ['a method that is not there, spelt alike', put('node', 'config.properties', 'bmc-off', 'bmc-of'), 'or did you mean bmc-off?'],
  [
    'a step that needs no method, misspelt',
    put('node', 'config.properties', 'mark-unschedulable', 'mark-unschedulabel'),
    'or did you mean mark-unschedulable?',
  ],
  ['a template that is not there', both('template-bmc', 'template-bcm'), 'template fence-method-template-bcm does not exist'],
  ['an agent that nobody has', template('agent_name=redfish', 'agent_name=redfsh'), 'unknown agent redfsh: did you mean redfish?'],
  ['an agent of a later version', template('agent_name=redfish', 'agent_name=delete-node'), 'agent delete-node is not part of this version'],
  [
    'a template that is not there, spelt alike',
    off('template-bmc', 'tempate-bmc'),
    'template fence-method-tempate-bmc does not exist: did you mean fence-method-template-bmc?',
  ],
  ['no agent', template('agent_name=redfish\n', ''), 'agent_name is missing, here and in the template'],
  ['no action', off('\naction=off', ''), 'action is missing: write action= with one of'],
  ['an action that does not fence', off('action=off', 'action=status'), 'action status does not fence with agent redfish'],
  [
    'off at one BMC, on at another',
    put('node', 'fence-method-bmc-on', '192.0.2.11', '192.0.2.12'),
    'bmc-off switches 192.0.2.11:443 off, and bmc-on switches 192.0.2.12:443 on: name the same device and plug in both',
  ],
  ['on before off', put('node', 'config.properties', 'bmc-off bmc-on', 'bmc-on bmc-off'), 'before it is switched off: write the off first'],
  ['the same off twice', put('node', 'config.properties', 'bmc-off bmc-on', 'bmc-off bmc-off bmc-on'), 'names method bmc-off twice'],
  [
    'an off in recovery',
    put('node', 'config.properties', 'recovery=mark-schedulable', 'recovery=mark-schedulable bmc-off'),
    'recovery may not switch off',
  ],
  ['an off in isolation', put('node', 'config.properties', 'isolation=mark-unschedulable', 'isolation=bmc-off'), 'isolation may not switch power'],
  ['no address', both('ip=192.0.2.11\n', ''), 'ip is missing'],
  ['an address with a scheme', both('ip=192.0.2.11', 'ip=https://192.0.2.11'), 'ip must be'],
  ['an address with a number that is too large', both('192.0.2.11', '192.0.2.311'), 'ip must be'],
  ['an address that programs read as octal', both('192.0.2.11', '192.0.2.011'), 'ip must be'],
  ['an address with a number too few', both('192.0.2.11', '192.0.2'), 'ip must be'],
  ['a port that is none', off('action=off', 'ipport=99999\naction=off'), 'ipport must be'],
  [
    'no Secret, and none named',
    template('\nsecret=bmc-login', ''),
    'password is missing: Password. (no secret= is written, and there is no Secret secret-fence-method-bmc-off-worker-1)',
  ],
  ['a Secret that is not there', without('secret'), 'Secret bmc-login does not exist: create it in the fence namespace, or mend the name'],
  ['a Secret without password', (files) => delete dataOf(files, 'secret')['password'], '(Secret bmc-login has no such key: it has username)'],
  [
    'a login under a key of another name',
    all(
      (files) => delete dataOf(files, 'secret')['username'],
      (files) => (dataOf(files, 'secret')['user'] = 'fence'),
    ),
    'username is missing: Login name. (Secret bmc-login has no such key: it has password, user)',
  ],
  [
    'a Secret without a key',
    all(
      (files) => delete dataOf(files, 'secret')['username'],
      (files) => delete dataOf(files, 'secret')['password'],
    ),
    'password is missing: Password. (Secret bmc-login has no such key: it has none)',
  ],
  ['an empty password', (files) => (dataOf(files, 'secret')['password'] = ''), 'password is missing'],
  ['a time without a unit that is known', line('power_timeout=90sec'), 'power_timeout=90sec must be a duration'],
  ['a proof that does not exist', line('minimum_evidence=ping'), 'minimum_evidence ping must be of'],
  ['a release that does not exist', line('release=now'), 'release=now must be'],
  ['fence=nevr', line('fence=nevr'), 'fence=nevr must be one of auto, never'],
  [
    'a whole cluster that is never fenced',
    more('fence-cluster-config', { 'config.properties': 'fence=never' }),
    'fence= belongs in the ConfigMap of a node or a group',
  ],
  ['one plug of two nodes', more('fence-config-worker-2', dataOf(structuredClone(BASE), 'node')), 'is also switched for node worker-'],
  ['a PDU without plug', more('fence-config-worker-2', PDU('')), 'would be refused by every fence'],
  [
    'more supplies than plugs',
    all(more('fence-config-worker-2', PDU('plug=1')), put('fence-config-worker-2', 'config.properties', 'supplies=1', 'supplies=2')),
    'supplies=2, but 1 plug(s) are switched off',
  ],
  [
    'a policy that does not exist',
    more('fence-cluster-config', { 'config.properties': 'policies=rat' }),
    'policy rat does not exist: did you mean rate?',
  ],
  [
    'a program by its path',
    all(
      more('fence-method-shut', { 'method.properties': `agent_name=storage\nclose_command=/bin/sh -c x\nstate_command=ls\n${SCRIPT}` }),
      put('node', 'config.properties', 'mark-unschedulable', 'mark-unschedulable shut'),
    ),
    'close_command cannot run: /bin/sh is a path',
  ],
];

const WARNINGS: readonly Row[] = [
  [
    'power_managment_level=',
    line('power_managment_level=1'),
    'unknown key power_managment_level: did you mean power_management, or power_management.2 for its next level?',
  ],
  ['a key that is spelt wrong', line('power_timout=90s'), 'unknown key power_timout: did you mean power_timeout?'],
  [
    'a parameter that is spelt wrong',
    off('action=off', 'ssl_fingerprnt=x\naction=off'),
    'agent redfish has no parameter ssl_fingerprnt: did you mean ssl_fingerprint?',
  ],
  ['ssl_insecure=yes', template('secret=', 'ssl_insecure=yes\nsecret='), 'ssl_insecure=yes believes any certificate'],
  ['a password in a ConfigMap', off('action=off', 'password=x\naction=off'), 'password is set here and in Secret bmc-login'],
  [
    'a program that the image has to have',
    all(
      more('fence-method-shut', { 'method.properties': `agent_name=storage\nclose_command=filer x\nstate_command=filer\n${SCRIPT}` }),
      put('node', 'config.properties', 'mark-unschedulable', 'mark-unschedulable shut'),
    ),
    'runs where the controller runs: filer has to be in the folder that --programs of the controller names: not looked for from here',
  ],
  [
    'a key of a ConfigMap that nobody reads',
    (files) => (dataOf(files, 'node')['power_management'] = 'bmc-off bmc-on'),
    'nobody reads a key of this name: steps stand under config.properties, a method under fence-method-<method>',
  ],
  [
    'the key of a method that is spelt wrong',
    (files) => (dataOf(files, 'node')['fence-methd-bmc-reset'] = 'action=off'),
    'nobody reads a key of this name: did you mean fence-method-bmc-reset?',
  ],
  [
    'the key of the cluster that is spelt wrong',
    more('fence-cluster-config', { 'config.properties': '', 'config.propertes': 'profile=fast' }),
    'nobody reads a key of this name: did you mean config.properties?',
  ],
  ['a step given twice', line('power_management=bmc-off'), 'duplicate key power_management: replaces line'],
];

describe('sixty mistakes in a configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-mistakes-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function answers(change: Change): string[] {
    const files = structuredClone(BASE);
    change(files);
    const file = join(folder, 'fence.json');
    writeFileSync(file, JSON.stringify({ kind: 'List', items: Object.values(files) }));
    const { report } = validate(inputFromFiles([file], 'nodefence-system'), standardRegistry(rightsElsewhere(undefined)), []);
    return report.problems.map(({ severity, message }) => `${severity}: ${message}`);
  }

  it('are sixty, none of them twice', () => {
    expect(new Set([...ERRORS, ...WARNINGS].map(([mistake]) => mistake)).size).toBe(60);
  });

  it('are none where there is none', () => {
    expect(answers(() => undefined)).toEqual([]);
  });

  it.each(ERRORS)('error: %s', (_mistake, change, answer) => {
    const errors = answers(change).filter((text) => text.startsWith('error: '));
    expect(
      errors.filter((text) => text.includes(answer)),
      errors.join('\n'),
    ).not.toEqual([]);
  });

  it.each(WARNINGS)('warning: %s', (_mistake, change, answer) => {
    const found = answers(change);
    expect(
      found.filter((text) => text.startsWith('warning: ') && text.includes(answer)),
      found.join('\n'),
    ).not.toEqual([]);
    expect(found.filter((text) => text.startsWith('error: '))).toEqual([]);
  });

  it('a node that nobody is to fence is no mistake, now or ever', () => {
    expect(answers(only({ kind: 'ConfigMap', metadata: { name: 'fence-config-worker-1' }, data: { 'config.properties': 'fence=never' } }))).toEqual(
      [],
    );
  });

  it('a file in which nothing is understood is one, beside others', () => {
    const [good, strange] = [join(folder, 'good.json'), join(folder, 'strange.json')];
    writeFileSync(good, JSON.stringify({ kind: 'List', items: Object.values(BASE) }));
    writeFileSync(strange, JSON.stringify({ kind: 'Service', metadata: { name: 'web' } }));
    const { report } = validate(inputFromFiles([good, strange], 'nodefence-system'), standardRegistry(), []);
    expect(report.problems).toMatchObject([
      { severity: 'error', file: strange, message: expect.stringContaining('nothing in it was understood') as string },
    ]);
  });
});
