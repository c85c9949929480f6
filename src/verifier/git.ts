import type { Category } from './categories.js';
import { causeOf } from './infra.js';
import { emptyReading, type Finding, type InfraEvidence, type Reading, type ToolFamily } from './types.js';

/** git's last words. Messages of curl inside stay English in every locale, after the quoted address that git puts before them. */
const OWN_LINE =
  /^(?:fatal|ssh|git@\S{1,200}|remote|error): |'(?:https?|ssh|git|file):\/\/[^']{1,500}'\s?[:：]|^\S{1,100}: Permission denied \(/;

export const gitCauseOf = (line: string): InfraEvidence | null => {
  if (!OWN_LINE.test(line.slice(0, 700))) return null;
  const kind = causeOf(line);
  return kind === null ? null : { kind, tool: 'git', line: line.trim().slice(0, 400), sure: true };
};

/** What git, and patch, say of a change or a repository that is not as the command wants it. A name in the first group is a file's. */
const FAULTS: readonly (readonly [RegExp, string, Category, string])[] = [
  [
    /^error: (?:(.{1,300}): patch does not apply|patch failed: (.{1,300}):\d+)/,
    'git_patch_does_not_apply',
    'patch_apply',
    'patch does not apply',
  ],
  [
    /^error: (?:corrupt patch at |patch fragment without header|git diff header lacks)/,
    'git_corrupt_patch',
    'patch_apply',
    'corrupt patch',
  ],
  [/^error: (?:No valid patches in input|unrecognized input)/, 'git_no_valid_patches', 'patch_apply', 'no valid patches'],
  [
    /^error: (.{1,300}): (?:already exists in (?:working directory|index)|does not exist in index|No such file or directory)$/,
    'git_patch_wrong_file',
    'patch_apply',
    'wrong file',
  ],
  [/^CONFLICT \(.{1,60}\): .{0,60}?(?: in |: )(\S.{0,300}?)(?: deleted in .{1,200})?$/, 'git_merge_conflict', 'vcs', 'conflict'],
  [/^error: could not apply [0-9a-f]{4,40}/, 'git_merge_conflict', 'vcs', 'conflict'],
  [/^fatal: not a git repository/, 'git_not_a_repository', 'vcs', 'not a repository'],
  [
    /^(?:fatal|remote|ERROR): (?:repository '.{1,300}' not found|Repository not found)/,
    'git_repository_not_found',
    'vcs',
    'repository not found',
  ],
  [
    /^(?:error: pathspec '(.{1,300})' did not match|fatal: (?:bad revision|ambiguous argument|invalid reference|couldn't find remote ref|Remote branch .{1,200} not found))/,
    'git_unknown_revision',
    'vcs',
    'unknown revision or path',
  ],
  [/^ ! \[(?:remote )?rejected\]|^error: failed to push some refs/, 'git_push_rejected', 'vcs', 'push rejected'],
  [/^error: Your local changes to the following files would be overwritten/, 'git_would_overwrite', 'vcs', 'would overwrite'],
  [/^(?:fatal: no submodule mapping|fatal: No url found for submodule path)/, 'git_submodule', 'vcs', 'submodule'],
];
const HUNK = /^Hunk #\d{1,6} FAILED at \d/;
const BROKEN_PATCH = /^patch: \*{4} (?:malformed patch|Only garbage was found)|^can't find file to patch at input line/;

const findingOf = (pattern: string, category: Category, file: string | null, identity: string, line: string, at: number): Finding => ({
  ...{ tool: pattern.startsWith('patch') ? 'patch' : 'git', pattern, code: null, category, file, place: file ?? '' },
  ...{ identity, owner: null, messages: [line.slice(0, 400)], at },
});

const read = (lines: readonly string[], words: ReadonlySet<string>): Reading => {
  const reading = emptyReading('git');
  let patching: string | null = null;
  lines.forEach((line, at) => {
    const cause = gitCauseOf(line);
    if (cause !== null) reading.infra.push({ ...cause, at });
    patching = /^patching file '?(\S.{0,300}?)'?$/.exec(line.slice(0, 400))?.[1] ?? patching;
    if (HUNK.test(line)) reading.findings.push(findingOf('patch_hunk_failed', 'patch_apply', patching, 'hunk failed', line, at));
    else if (BROKEN_PATCH.test(line)) reading.findings.push(findingOf('patch_malformed', 'patch_apply', null, 'malformed patch', line, at));
    // Only a patch that does not apply is told by the text alone; the rest any program may say.
    for (const [head, pattern, category, identity] of words.has('git') ? FAULTS : FAULTS.slice(0, 2)) {
      const match = cause === null ? head.exec(line.slice(0, 700)) : null;
      if (match === null) continue;
      reading.findings.push(findingOf(pattern, category, match[1] ?? match[2] ?? null, identity, line, at));
      break;
    }
  });
  if (reading.findings.length > 0) reading.summary = 'failed';
  return reading;
};

export const git: ToolFamily = {
  owns: (words, lines) =>
    words.has('git') || words.has('patch') || (!words.has('cargo') && lines.some((line) => line.startsWith('fatal: ') || HUNK.test(line))),
  read,
};
