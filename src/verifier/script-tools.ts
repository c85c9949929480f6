import { biome } from './biome.js';
import { eslint } from './eslint.js';
import { goGrammars } from './go.js';
import { jest } from './jest.js';
import { jsReports } from './js-reports.js';
import { junit } from './junit-xml.js';
import { mocha } from './mocha.js';
import { mypy } from './mypy.js';
import { node } from './node.js';
import { nodeTests } from './node-test.js';
import { npm } from './npm.js';
import { pip } from './pip.js';
import { pnpmYarn } from './pnpm-yarn.js';
import { pytest } from './pytest.js';
import { pytestReport } from './pytest-report.js';
import { python } from './python.js';
import { ruff } from './ruff.js';
import { sarif } from './sarif.js';
import { familyOf } from './scan.js';
import { tap } from './tap.js';
import { typescriptInside } from './typescript-inside.js';
import { unittest } from './unittest.js';
import { vitest } from './vitest.js';

/**
 * Tools whose outputs run into each other. A line belongs to the first that claims it: reports before text, package managers and
 * runners before linters, and last the languages that all of them run.
 */
export const scriptTools = familyOf(
  [
    junit,
    sarif,
    pytestReport,
    jsReports,
    npm,
    pnpmYarn,
    pip,
    pytest,
    unittest,
    vitest,
    jest,
    mocha,
    nodeTests,
    tap,
    ...goGrammars,
    eslint,
    biome,
    mypy,
    ruff,
    typescriptInside,
    node,
    python,
  ],
  ['cargo', 'rustc', 'rustup', 'cross', 'javac', 'gcc', 'g++', 'cc', 'c++', 'clang', 'clang++', 'rspec', 'phpunit', 'swift'],
);
