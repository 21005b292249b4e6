import { describe, expect, it } from 'vitest';

import { callText } from './call-text.ts';
import type { FenceProgram } from './catalogue.ts';
import { parseMetadata } from './metadata.ts';
import { checkProgram, describeProgram } from './parameters.ts';

const parameter = (name: string, type: string, more = '', content = ''): string =>
  `<parameter name="${name}" ${more}><content type="${type}" ${content}>${type === 'select' ? '<option value="onoff"/><option value="cycle"/>' : ''}</content><shortdesc lang="en">${name}</shortdesc></parameter>`;

const METADATA = parseMetadata(
  `<resource-agent name="fence_x" shortdesc=""><parameters>${[
    parameter('action', 'string', 'required="1"'),
    parameter('ip', 'string', 'required="1" obsoletes="ipaddr"'),
    parameter('username', 'string', 'required="1" obsoletes="login"'),
    parameter('password', 'string'),
    parameter('password_script', 'string', 'obsoletes="passwd_script"'),
    parameter('plug', 'string', 'required="1" obsoletes="port"'),
    parameter('method', 'select', '', 'default="onoff"'),
    parameter('ssl', 'boolean', '', 'default="1"'),
    parameter('ssl_insecure', 'boolean'),
    parameter('missing_as_off', 'boolean'),
    parameter('power_wait', 'second'),
    parameter('retry_on', 'integer', '', 'default="1"'),
    parameter('delay', 'second'),
    parameter('quiet', 'boolean'),
  ].join('')}</parameters><actions><action name="on"/><action name="off"/><action name="reboot"/><action name="status"/></actions></resource-agent>`,
);
if (METADATA === undefined) throw new Error('the test has no metadata');
const metadata = METADATA;
const program = (name = 'fence_x'): FenceProgram => ({ name, metadata });
const COMPLETE = { ip: '192.0.2.1', username: 'admin', password: 's3cret' };
const problems = (parameters: Record<string, string>, withSecrets = true, name = 'fence_x'): string[] =>
  checkProgram(program(name), parameters, withSecrets).map((problem) => `${problem.parameter} ${problem.message}`);
const text = (parameters: Record<string, string>): string[] =>
  callText(metadata, { action: 'off', plug: '3', parameters: { ...COMPLETE, ...parameters }, powerTimeout: 5 })
    .split('\n')
    .slice(0, -1);

describe('what an agent is told', () => {
  it('is one line each, the action first, one plug, one sending of an on', () => {
    expect(text({})).toEqual(['action=off', 'plug=3', 'ip=192.0.2.1', 'username=admin', 'password=s3cret', 'retry_on=0', 'method=onoff']);
  });

  it('has no boolean that is false: agents ask whether it is there, not what it says', () => {
    expect(text({ ssl_insecure: 'no' }).join()).not.toContain('ssl_insecure');
    expect(text({ ssl_insecure: 'yes' })).toContain('ssl_insecure=1');
  });

  it.each([
    ['a quoted word', '"quoted"', '""quoted""'],
    ['blanks at the ends', ' blank ', '" blank "'],
    ['signs', '#a=b c"', '#a=b c"'],
  ])('keeps %s, of which the library takes one pair of quotes off', (_what, password, line) => {
    expect(text({ password })).toContain(`password=${line}`);
  });

  it('leaves out what is for people, what delays and what repeats', () => {
    expect(text({ delay: '30', quiet: 'yes', retry_on: '5', action: 'on', plug: '7' })).toEqual(text({}));
  });
});

describe('a configuration', () => {
  it('is complete', () => {
    expect(problems(COMPLETE)).toEqual([]);
    expect(problems({ ipaddr: 'x', login: 'y' })).toEqual([]);
  });

  it('lacks what is required; a name or password may follow from the Secret', () => {
    expect(problems({})).toEqual(['ip is missing: ip', 'username is missing: username']);
    expect(problems({ ip: 'x' }, false)).toEqual([]);
  });

  it.each([
    [{ ssl: 'no' }, 'ssl cannot be no: fence_x takes it for given, and any value for a yes'],
    [{ ssl_insecure: 'maybe' }, 'ssl_insecure must be yes or no (also true, false, on, off, 1, 0)'],
    [{ power_wait: 'long' }, 'power_wait must be a whole number'],
    [{ method: 'swing' }, 'method must be one of onoff, cycle'],
    [{ method: 'cycle' }, 'method must be onoff: a cycle inside the device gives no evidence of off'],
    [{ missing_as_off: '1' }, 'missing_as_off would call a machine off that was not found: remove the line'],
    [{ passwd_script: '/bin/x' }, 'password_script is a command of its own: put the password into a Secret'],
    [{ password: 'a\nb' }, 'password must be one line of at most 4096 characters'],
    [{ status_by: 'feeling' }, 'status_by must be words or code'],
    [{ accept_known_faults: 'sure' }, 'accept_known_faults must be yes or no'],
  ])('is refused: %j', (parameters, problem) => {
    expect(problems({ ...COMPLETE, ...parameters })).toEqual([problem]);
  });

  it.each([{ missing_as_off: 'no' }, { method: 'ONOFF' }, { power_wait: ' 4 ' }, { ssl: 'yes' }])('stands: %j', (parameters) => {
    expect(problems({ ...COMPLETE, ...parameters })).toEqual([]);
  });

  it('of a program whose off may be untrue, or that shows a secret, has to say that this is accepted', () => {
    const [problem, ...others] = problems(COMPLETE, true, 'fence_apc_snmp');
    expect(others).toEqual([]);
    expect(problem).toMatch(
      /^agent_name fence_apc_snmp cannot be trusted: .*not on, off.*; .*command line\. Name an agent of our own, or write accept_known_faults=yes$/,
    );
    expect(problems({ ...COMPLETE, accept_known_faults: 'yes' }, true, 'fence_apc_snmp')).toEqual([]);
  });

  it('of a program that cannot be read back is refused', () => {
    const blind: FenceProgram = { ...program(), metadata: { ...metadata, actions: new Set(['off', 'monitor']) } };
    expect(checkProgram(blind, COMPLETE, true)).toEqual([
      { parameter: 'agent_name', message: 'fence_x has no status and no on: what it did could not be read back' },
    ]);
    expect(checkProgram({ ...program(), metadata: undefined }, COMPLETE, true)).toHaveLength(1);
  });

  it('knows which parameters are secret', () => {
    const secret = describeProgram(program()).filter((described) => described.secret);
    expect(secret.map(({ name }) => name)).toEqual(['password']);
    expect(describeProgram(program()).find(({ name }) => name === 'username')).toMatchObject({ required: true, aliases: ['login'] });
  });
});
