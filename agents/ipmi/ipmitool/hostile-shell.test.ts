import { afterEach, describe, expect, it } from 'vitest';

import { type Target } from '../../../src/ports/agents.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { IpmiAgent } from '../agent.ts';
import { fakeIpmitool, type FakeAnswers } from '../testing/fake-ipmitool.ts';
import { PASSWORD, read, until } from '../testing/ipmi-simulator.ts';
import { failure } from '../testing/failure.ts';

const cleanUp: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

function start(answers: FakeAnswers) {
  const fake = fakeIpmitool(answers);
  const agent = new IpmiAgent(new SystemClock(), { path: fake.path });
  cleanUp.push(
    () => fake.dispose(),
    () => agent.close(),
  );
  const target = (changes: Partial<Target> = {}): Target => ({
    plug: '',
    device: 'bmc:623',
    parameters: { transport: 'ipmitool', ip: '192.0.2.10', username: 'admin', password: PASSWORD },
    identity: { node: 'worker-1' },
    signal: new AbortController().signal,
    deadlineMs: 20_000,
    beforeSend: () => undefined,
    ...changes,
  });
  return { agent, fake, target };
}

describe('a shell that misbehaves', { timeout: 60_000 }, () => {
  it.each([
    ['two answers', 'echo " 01 00 00"; echo " 00 00 00"'],
    ['an off inside an error line', 'echo "Error: 00 00 00"'],
    ['half an answer', 'echo " 00 00 0"'],
    ['an off with blanks before it', 'echo "   00 00 00"'],
    ['an off with something behind it', 'echo " 00 00 00?"'],
    ['an off beside an error', 'echo Unable to establish; echo " 00 00 00"'],
    ['nothing', 'true'],
    ['words instead of bytes', 'echo Chassis Power is off'],
    ['an off that is written over something else', 'printf "x\\r 00 00 00\\n"'],
    ['a control character in the answer', 'printf " 00 00 00\\a\\n"'],
  ])('reads unknown for %s', async (_what, status) => {
    const { agent, target } = start({ status });
    expect((await agent.read(target())).state).toBe('unknown');
  });

  it('reads through what a line editor writes beside the words', async () => {
    const { agent, target } = start({ status: 'printf "\\033[?2004l 00 00 00\\r\\n\\033[?2004h"' });
    expect((await agent.read(target())).state).toBe('off');
  });

  it('reads once more in a fresh shell when the first one dies in the middle', async () => {
    const { agent, fake, target } = start({ status: '[ "$n" = 1 ] && exit 1; echo " 00 00 00"' });
    expect((await agent.read(target())).state).toBe('off');
    expect(fake.commands().filter((command) => command === 'login')).toHaveLength(2);
  });

  it('gives a read up when the second shell dies too', async () => {
    const { agent, fake, target } = start({ status: 'exit 1' });
    expect(await failure(agent.read(target()))).toMatchObject({ kind: 'Unreachable' });
    expect(fake.commands().filter((command) => command === 'login')).toHaveLength(2);
  });

  it.each([
    ['dies in the middle', 'exit 1'],
    ['answers something else', 'echo Chassis Power is off'],
    ['says that it switched on', 'echo Chassis Power Control: Up/On'],
    ['gets no answer', 'echo Unable to set Chassis Power Control to Down/Off'],
    ['is told that the BMC is busy', 'echo Set Chassis Power Control to Down/Off failed: Node busy'],
  ])('never sends an off again, and calls it unclear, when the shell %s', async (_what, off) => {
    const { agent, fake, target } = start({ off });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'unclear' });
    await agent.read(target());
    expect(fake.commands().filter((command) => command === 'power off')).toHaveLength(1);
  });

  it('calls an off unclear whose answer did not come in time, and kills the shell', async () => {
    const { agent, target } = start({ off: 'sleep 1000' });
    const outcome = await agent.set(target({ deadlineMs: 1_500 }), 'off');
    expect(outcome).toMatchObject({ result: 'unclear' });
    expect(outcome.detail).toContain('1500 ms');
    expect(await agent.read(target())).toMatchObject({ state: 'on' });
  });

  it('sends no off where the identity was not answered', async () => {
    const { agent, fake, target } = start({ guid: 'echo "Unable to send RAW command (channel=0x0 netfn=0x6 lun=0x0 cmd=0x37)"' });
    expect(await failure(agent.set(target(), 'off'))).toMatchObject({ kind: 'Unreachable' });
    expect(fake.commands()).not.toContain('power off');
  });

  it('switches, with the identity unverified, where the BMC knows no GUID', async () => {
    const { agent, target } = start({ guid: 'echo "Unable to send RAW command (channel=0x0 netfn=0x6 lun=0x0 cmd=0x37 rsp=0xc1): Invalid command"' });
    const reading = await agent.read(target({ identity: { node: 'worker-1', systemUUID: 'a1234567-89ab-cdef-a123-456789000001' } }));
    expect(reading).toMatchObject({ state: 'on', identity: 'unverified' });
    expect(reading.detail).toContain('Invalid command');
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
  });

  it('stops listening to a shell that does not stop talking', async () => {
    const { agent, target } = start({ status: 'yes " 00 00 00"' });
    const error = await failure(agent.read(target()));
    expect(error).toMatchObject({ kind: 'Unreachable' });
    expect(error.message).toContain('65536');
  });

  it('does not take words that nobody asked for as the next answer', async () => {
    const { agent, fake, target } = start({
      status: 'echo $$ >>"${0%/*}/log"; [ "$n" = 1 ] && (sleep 0.3; echo " 00 00 00"; printf "ipmitool> ") & echo " 01 00 00"',
    });
    expect((await agent.read(target())).state).toBe('on');
    const shell = Number(fake.commands().at(-1));
    await until(() => read(`/proc/${shell}/cmdline`) === '', 'the end of the shell');
    expect((await agent.read(target())).state).toBe('on');
    expect(fake.commands().filter((command) => command === 'login')).toHaveLength(2);
  });

  it('does not show a password that the shell repeats', async () => {
    const { agent, target } = start({ login: 'printf "Password: "; read -r password; echo "Error: wrong password $password"; exit 1' });
    const error = await failure(agent.read(target()));
    expect(error.message).not.toContain(PASSWORD);
    expect(error.message).toContain('***');
  });

  it('types no password where none is asked for', async () => {
    const { agent, target } = start({ login: 'read -r password; echo "heard $password"; exit 1' });
    expect(await failure(agent.read(target({ deadlineMs: 1_500 })))).toMatchObject({ kind: 'Timeout' });
  });

  it('names the package when ipmitool is not installed', async () => {
    const { target } = start({});
    const agent = new IpmiAgent(new SystemClock(), { path: '/nonexistent' });
    const error = await failure(agent.read(target()));
    expect(error).toMatchObject({ kind: 'Misconfigured' });
    expect(error.message).toContain('apt-get install -y --no-install-recommends ipmitool');
  });

  it("names the file when ipmitool's list of enterprise numbers is missing", async () => {
    const { agent, target } = start({
      login: 'echo "IANA PEN registry open failed: No such file or directory"; echo "Failed to initialize the OEM info dictionary"; exit 1',
    });
    const error = await failure(agent.read(target()));
    expect(error).toMatchObject({ kind: 'Misconfigured' });
    expect(error.message).toContain('/usr/share/misc/enterprise-numbers.txt');
  });

  it('types the key at the prompt for it, then the password', async () => {
    const login =
      'stty -echo; printf "Key: "; read -r key; printf "\\nPassword: "; read -r password; stty echo; echo; [ "$key" = "k e y" ] || exit 1';
    const { agent, target } = start({ login });
    const { parameters } = target();
    expect(await agent.read(target({ parameters: { ...parameters, hexadecimal_kg: '0x6b20652079' } }))).toMatchObject({ state: 'on' });
    expect(await agent.read(target({ parameters: { ...parameters, kg: 'k e y' } }))).toMatchObject({ state: 'on' });
  });
});
