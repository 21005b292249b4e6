import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapsOf, pathsOfList, pathsOfTree } from './multipath.ts';

// Written for this test after the format that multipath(8), multipathd(8) and Red Hat's "DM Multipath" describe; not recorded.
const TREE = `mpatha (360000000000000000e00000000010001) dm-2 ACME,Array
size=10G features='1 queue_if_no_path' hwhandler='1 alua' wp=rw
|-+- policy='service-time 0' prio=50 status=active
| \`- 3:0:0:1 sdb 8:16 active ready running
\`-+- policy='service-time 0' prio=10 status=enabled
  \`- 4:0:0:1 sdc 8:32 failed faulty offline
3600000000000000000e00000000010002 dm-3 ACME,Array
size=20G features='0' hwhandler='0' wp=rw
\`-+- policy='service-time 0' prio=0 status=enabled
  |- 3:0:0:2 sdd 8:48 failed faulty running
  |- #:#:#:# sdx 8:96 failed undef unknown
  \`- 4:0:0:2 sde 8:64 active i/o pending running
`;
const OLD_TREE = `mpath1 (3600d0230003228bc000339414edb8101) [size=10 GB][features="0"][hwhandler="0"]
\\_ round-robin 0 [prio=1][active]
 \\_ 2:0:0:6 sdb 8:16 [active][ready]
\\_ round-robin 0 [prio=1][enabled]
 \\_ 3:0:0:6 sdc 8:64 [failed][faulty]
`;
const LIST = `multipath dev dm_st chk_st dev_st
mpatha    sdb active ready     running
mpatha    sdc failed faulty    offline
mpathb    sdd active ghost     running
mpathb    sde active i/o timeout running
[orphan]  sdf undef  undef     unknown
`;

describe('multipath', () => {
  it('-ll lists maps and the paths that can be used', () => {
    expect(mapsOf(pathsOfTree(TREE))).toEqual([
      { name: 'mpatha', usable: 1, paths: 2 },
      { name: '3600000000000000000e00000000010002', usable: 0, paths: 3 },
    ]);
  });

  it('-ll of old versions is read too', () => {
    expect(pathsOfTree(OLD_TREE)).toEqual([
      { map: 'mpath1', device: 'sdb', isUsable: true },
      { map: 'mpath1', device: 'sdc', isUsable: false },
    ]);
  });

  it('daemon lists paths, of which orphans are none', () => {
    expect(mapsOf(pathsOfList(LIST))).toEqual([
      { name: 'mpatha', usable: 1, paths: 2 },
      { name: 'mpathb', usable: 1, paths: 2 },
    ]);
  });

  it('takes no path for usable that it cannot read, whatever the text', () => {
    const line = fc.array(
      fc.constantFrom('|', '`', '-', ' ', '3:0:0:1', 'sdb', '8:16', 'active', 'ready', 'failed', 'faulty', 'mpatha', '(3600)', 'dm-0', '\n'),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(line, (words) => {
        const text = words.join('');
        for (const { device, isUsable } of [...pathsOfTree(text), ...pathsOfList(text)])
          expect(device !== '' && (!isUsable || text.includes('ready'))).toBe(true);
        expect(mapsOf(pathsOfTree(text)).every(({ usable, paths }) => usable <= paths)).toBe(true);
      }),
    );
  });

  it('reads nothing out of any other text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        const text = Buffer.from(bytes).toString('latin1');
        expect([...pathsOfTree(text), ...pathsOfList(text)].every(({ device }) => text.includes(device))).toBe(true);
      }),
    );
  });
});
