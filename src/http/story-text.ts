import type { StoryAnswer } from '../catalogue/upkeep-answers.js';

/** A story as Markdown that reads well as plain text too: a line for each step, its decision's grounds below it. */
export function storyText(story: StoryAnswer): string {
  const { dispatchId, repo, targetFile, taskId, status, outcome, steps, nextCursor } = story;
  const lines = [
    `# Dispatch ${dispatchId}`,
    '',
    `File ${targetFile} in ${repo}, task ${taskId}: ${status}${outcome === null ? '' : `, ${outcome}`}.`,
    '',
    ...steps.flatMap(({ at, says, event, decision, afterClosing }) => [
      `- ${at} [${event.revision}]${afterClosing ? ' (after closing)' : ''} ${says}`,
      ...(decision === undefined ? [] : groundsOf(decision).map((line) => `  - ${line}`)),
    ]),
  ];
  if (nextCursor !== null) lines.push('', `More from cursor=${nextCursor} on.`);
  return `${lines.join('\n')}\n`;
}

function groundsOf({ known, evidence, policy }: NonNullable<StoryAnswer['steps'][number]['decision']>): string[] {
  const signals = known?.signals.map(({ configuration, kind, pattern }) => `${pattern ?? kind} for ${configuration}`) ?? [];
  return [
    ...(known === null
      ? []
      : [
          `known at revision ${known.revision}: ${known.passed} passed, ${known.failed} failed, ${known.blocked} blocked` +
            `${known.budget === null ? '' : `; ${known.attemptsSpent} of ${known.budget} attempts spent`}` +
            `${signals.length === 0 ? '' : `; signals: ${signals.join(', ')}`}`,
        ]),
    ...(evidence.length === 0 ? [] : [`evidence: ${evidence.join(', ')}`]),
    `policy: ${policy}`,
  ];
}
