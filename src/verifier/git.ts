import { causeOf } from './infra.js';
import { emptyReading, type InfraEvidence, type Reading, type ToolFamily } from './types.js';

/** git's last words. Messages of curl inside stay English in every locale, after the quoted address that git puts before them. */
const OWN_LINE =
  /^(?:fatal|ssh|git@\S{1,200}|remote|error): |'(?:https?|ssh|git|file):\/\/[^']{1,500}'\s?[:：]|^\S{1,100}: Permission denied \(/;

export const gitCauseOf = (line: string): InfraEvidence | null => {
  if (!OWN_LINE.test(line.slice(0, 700))) return null;
  const kind = causeOf(line);
  return kind === null ? null : { kind, tool: 'git', line: line.trim().slice(0, 400), sure: true };
};

const read = (lines: readonly string[]): Reading => {
  const reading = emptyReading('git');
  lines.forEach((line, at) => {
    const cause = gitCauseOf(line);
    if (cause !== null) reading.infra.push(cause);
    const patch = /^error: (?:(.{1,300}): patch does not apply|patch failed: (.{1,300}):\d+|corrupt patch at )/.exec(line);
    if (patch === null) return;
    reading.summary = 'failed';
    const file = patch[1] ?? patch[2] ?? null;
    const corrupt = line.startsWith('error: corrupt');
    reading.findings.push({
      tool: 'git',
      pattern: corrupt ? 'git_corrupt_patch' : 'git_patch_does_not_apply',
      code: null,
      category: 'patch_apply',
      file,
      place: file ?? '',
      identity: corrupt ? 'corrupt patch' : 'patch does not apply',
      owner: null,
      messages: [line],
      at,
    });
  });
  return reading;
};

export const git: ToolFamily = {
  owns: (words, lines) => words.has('git') || (!words.has('cargo') && lines.some((line) => line.startsWith('fatal: '))),
  read,
};
