import { describe, expect, it } from 'vitest';

import { ipmi } from './definition.ts';
import { deviceKeyOf, parseSettings, sessionKey, type IpmiSettings } from './parameters.ts';
import { shellEnvironment, shellParameters } from './ipmitool/program.ts';

const COMPLETE = { ip: '192.0.2.10', username: 'admin', password: 's3cret' };

function settings(changes: Record<string, string> = {}): IpmiSettings {
  const parsed = parseSettings({ ...COMPLETE, ...changes });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  return parsed;
}

describe('the parameters', () => {
  it('have the defaults of IPMI 2.0 and of fence_ipmilan, but a cipher suite that is never probed', () => {
    expect(settings()).toEqual({
      transports: ['native', 'ipmitool'],
      verifiesWithOther: false,
      host: '192.0.2.10',
      port: 623,
      username: 'admin',
      password: 's3cret',
      cipher: '17',
      privilege: 'administrator',
      kg: undefined,
      pinnedGuid: undefined,
      bootMaxMs: 180_000,
      timeoutSeconds: 1,
      family: undefined,
    });
  });

  it('are known by the names of ClusterLabs too', () => {
    const old = {
      ipaddr: 'BMC-1',
      login: 'admin',
      passwd: 's3cret',
      lanplus: '1',
      cipher: '3',
      privlvl: 'OPERATOR',
      inet4_only: 'yes',
      'ipmitool-timeout': '2',
    };
    expect(parseSettings(old)).toMatchObject({ host: 'bmc-1', cipher: '3', privilege: 'operator', family: 4, timeoutSeconds: 2 });
    expect(ipmi.check(old, true)).toEqual([]);
  });

  it('may leave what comes from a Secret to the Secret', () => {
    expect(ipmi.check({ ip: '192.0.2.10' }, false)).toEqual([]);
    expect(ipmi.check({ ip: '192.0.2.10' }, true).map(({ parameter }) => parameter)).toEqual(['username', 'password']);
    expect(ipmi.check({}, false).map(({ parameter }) => parameter)).toEqual(['ip']);
  });

  const SECRETS: [name: string, value: string][] = [
    ['password', 'a\rb'],
    ['password', 'a\u007fb'],
    ['password', 'twenty-one bytes long'],
    ['password', 'ééééééééééé'],
    ['kg', 'é'],
    ['kg', 'a\tb'],
  ];

  it.each<[name: string, value: string]>([
    ['ip', '-I'],
    ['ip', '192.0.2.10 -P x'],
    ['ip', 'bmc\n'],
    ['ip', 'https://bmc'],
    ['ip', ''.padEnd(300, 'a')],
    ['ipport', '0'],
    ['ipport', '65536'],
    ['ipport', '623 '],
    ['username', 'a\nb'],
    ['username', 'seventeen-bytes-x'],
    ['cipher', '0'],
    ['cipher', '1'],
    ['cipher', '18'],
    ['privlvl', 'root'],
    ['hexadecimal_kg', '0x00'],
    ['transport', 'lan'],
    ['verify_with', 'yes'],
    ['hexadecimal_kg', '61626'],
    ['guid', '1234'],
    ['ipmitool_timeout', '0'],
    ['ipmitool_timeout', '60'],
    ['inet4_only', 'maybe'],
    ['lanplus', '0'],
    ['lanplus', 'perhaps'],
    ['method', 'cycle'],
    ['auth', 'md5'],
    ['target', '0x20'],
    ...SECRETS,
  ])('refuse %s=%j', (name, value) => {
    const parameters = { ...COMPLETE, [name]: value };
    expect(ipmi.check(parameters, true).map(({ parameter }) => parameter)).toEqual(expect.arrayContaining([name]));
    expect(parseSettings(parameters)).toHaveProperty('problems');
  });

  it.each(SECRETS)('do not tell the %s that they refuse, %j', (name, value) => {
    const parameters = { ...COMPLETE, [name]: value };
    const told = JSON.stringify([ipmi.check(parameters, true), parseSettings(parameters)]);
    expect(told).not.toContain(value);
    expect(told).not.toContain(JSON.stringify(value).slice(1, -1));
  });

  it.each([
    ['ip', 'fe80::1%eth0'],
    ['ip', '[2001:db8::1]'],
    ['ip', 'bmc-1.example.org'],
    ['username', '-x'],
    ['password', '-P "x" $(y) \\'],
    ['password', 'päss wörd'],
    ['kg', 'twenty bytes exactly'],
    ['cipher', '3'],
    ['method', 'onoff'],
    ['lanplus', 'yes'],
  ])('accept %s=%j', (name, value) => {
    expect(ipmi.check({ ...COMPLETE, [name]: value }, true)).toEqual([]);
  });

  it('refuse two keys, and two address families', () => {
    expect(ipmi.check({ ...COMPLETE, kg: 'a', hexadecimal_kg: '61' }, true)).toHaveLength(1);
    expect(ipmi.check({ ...COMPLETE, inet4_only: '1', inet6_only: '1' }, true)).toHaveLength(1);
    expect(parseSettings({ ...COMPLETE, inet4_only: '1', inet6_only: '1' })).toHaveProperty('problems');
  });

  it('say which transports can serve them, in order', () => {
    expect(settings({ transport: 'native' }).transports).toEqual(['native']);
    expect(settings({ transport: 'ipmitool' }).transports).toEqual(['ipmitool']);
    expect(settings({ cipher: '8' }).transports).toEqual(['ipmitool']);
    expect(settings({ hexadecimal_kg: '0xff00' }).transports).toEqual(['native']);
    expect(settings({ verify_with: 'other', transport: 'ipmitool' })).toMatchObject({ transports: ['ipmitool'], verifiesWithOther: true });
  });

  it.each([
    [{ transport: 'native', cipher: '8' }, 'transport', 'set cipher=17'],
    [{ transport: 'ipmitool', hexadecimal_kg: 'ff' }, 'transport', 'printable'],
    [{ verify_with: 'other', cipher: '12' }, 'verify_with', 'set cipher=17'],
    [{ verify_with: 'other', hexadecimal_kg: 'ff' }, 'verify_with', 'printable'],
    [{ hexadecimal_kg: 'ff', cipher: '12' }, 'cipher', 'ipmitool only'],
  ])('refuse %j, which no transport can do', (parameters, name, words) => {
    const problems = ipmi.check({ ...COMPLETE, ...parameters }, true);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ parameter: name });
    expect(problems[0]?.message).toContain(words);
    expect(parseSettings({ ...COMPLETE, ...parameters })).toHaveProperty('problems');
  });

  it('mark as secret what must never be stored or shown', () => {
    const secret = ipmi.describe().filter((description) => description.secret);
    expect(secret.map(({ name }) => name)).toEqual(['password', 'kg', 'hexadecimal_kg']);
  });
});

describe('the device key', () => {
  it.each([
    [{ ip: 'BMC' }, 'bmc:623'],
    [{ ipaddr: '192.0.2.10', ipport: '06230' }, '192.0.2.10:6230'],
    [{ ip: '2001:DB8::1' }, '[2001:db8::1]:623'],
    [{ ip: '[2001:db8::1]' }, '[2001:db8::1]:623'],
  ])('of %j is %s, without any secret', (parameters, key) => {
    expect(deviceKeyOf(parameters)).toBe(key);
  });

  it('is not what keeps sessions apart: credentials are', () => {
    expect(sessionKey(settings())).not.toBe(sessionKey(settings({ password: 'other' })));
    expect(sessionKey(settings())).toBe(sessionKey(settings({ ipport: '623' })));
    expect(sessionKey(settings())).not.toContain('s3cret');
  });
});

describe('what everybody on the machine sees of a shell', () => {
  it('is where, who and how, but neither password nor key', () => {
    const line = shellParameters(settings({ kg: 'k3y', inet6_only: 'yes', privlvl: 'operator' }));
    expect(line.join(' ')).toBe('-I lanplus -H 192.0.2.10 -p 623 -U admin -C 17 -L OPERATOR -N 1 -R 2 -6 -Y shell');
    expect(shellEnvironment('/usr/bin')).toEqual({ PATH: '/usr/bin', LANG: 'C', LC_ALL: 'C', HOME: '/nonexistent', INPUTRC: '/dev/null' });
  });
});
