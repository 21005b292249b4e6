import type { DummyRuleMap } from 'oxlint';
import { HIDDEN_MEMBERS } from './hidden-members.ts';

// What is installed is what ships: whoever needs our kinds or roles takes the files of config/ (src/testbed/shipped), and makes none from the code.
const MESSAGE = 'install the files of config/ (src/testbed/shipped), so that what is tested is what is installed';

/** Where a CustomResourceDefinition or a role of ours could be made by another way. */
export const INSTALLING = ['src/{drill,testbed}/**/*.ts', '**/*.test.ts', 'test/**/*.ts'];

/** They compare what is in memory with files, fields or rights, or spoil and mend what was installed; they create nothing. */
export const COMPARING = [
  'src/manifests/**',
  'src/config/resolve-plan.test.ts',
  'src/controllers/self-check/schema-gaps.test.ts',
  'src/testbed/shipped/shipped.test.ts',
  'src/kube/pod-log.test.ts',
  'test/chart/chart.test.ts',
  'test/installation/*.test.ts',
  'test/installation/rights.ts',
  'test/laws/schema-faults.ts',
  'test/node-remediation/manifests.test.ts',
  'test/self-check/*.ts',
  'test/*/rights.test.ts',
];

const OURS = String.raw`/^(ha\.k8s\.io|machine\.sapcloud\.io)$/`;

export const shippedRules: DummyRuleMap = {
  'nodefence/syntax': [
    'error',
    [
      HIDDEN_MEMBERS,
      ...[
        `ObjectExpression:has(> Property[key.name='versions']) > Property[key.name='group'] > Literal[value=${OURS}]`,
        "ObjectExpression:has(> Property[key.name='rules']) > Property[key.name='metadata'] Property[key.name='name'] > Literal[value=/^nodefence/]",
      ].map((selector) => ({ selector, message: MESSAGE })),
    ],
  ],
};

export const memoryRules: DummyRuleMap = {
  'no-restricted-imports': [
    'error',
    {
      patterns: [
        {
          group: ['**/manifests/*'],
          importNamePattern:
            '_DEFINITIONS?$|_ACCESS$|_GUARD$|^FLOW_CONTROL$|^(MANIFEST_FILES|OPTIONAL_FILES|RIGHTS)$|^(installation|overlayObjects)$',
          message: MESSAGE,
        },
      ],
    },
  ],
};
