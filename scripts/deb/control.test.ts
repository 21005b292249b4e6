import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { control, PRERM, unitOf, UNITS } from './control.ts';

const SYSTEMD = fileURLToPath(new URL('../../systemd/', import.meta.url));

describe('the Debian package', () => {
  it.each(['nodefence-controller.service', 'nodefence-node.service', 'nodefence-node-token.service'])(
    'has %s with its own places and nothing else changed',
    (name) => {
      const text = readFileSync(SYSTEMD + name, 'utf8');
      const unit = unitOf(text);
      expect(unit).toMatch(
        /^ExecStart=\/usr\/lib\/nodefence\/node (--lite-mode |--max-semi-space-size=2 )?\/usr\/lib\/nodefence\/dist\/src\/main\.js /m,
      );
      expect(unit).toMatch(/^Documentation=file:\/\/\/usr\/share\/doc\/nodefence\/(systemd\/README|[a-z-]+)\.md$/m);
      const others = (of: string): string[] => of.split('\n').filter((line) => !/^(ExecStart|Documentation)=/.test(line));
      expect(others(unit)).toEqual(others(text));
    },
  );

  it('has every unit of systemd/, and ends them all when it is removed', () => {
    expect([...UNITS].sort()).toEqual(readdirSync(SYSTEMD).filter((name) => /[.](?:service|timer)$/.test(name)));
    for (const unit of UNITS) expect(PRERM).toContain(` ${unit} `);
    expect(unitOf(readFileSync(`${SYSTEMD}nodefence-token.service`, 'utf8'))).toContain(
      'Documentation=file:///usr/share/doc/nodefence/systemd/README.md\n',
    );
  });

  it('refuses a unit that names a file which the package has elsewhere', () => {
    expect(() => unitOf('ExecStart=/opt/nodefence/other')).toThrow('/opt/nodefence');
  });

  it('is described as dpkg reads it', () => {
    const text = control({ version: '1.2.3', architecture: 'arm64', description: 'Fences.', installedKilobytes: 7 });
    expect(text).toContain('Version: 1.2.3\nArchitecture: arm64\n');
    expect(text).toMatch(/^Description: [^\n]+\n Fences\.\n$/m);
  });
});
