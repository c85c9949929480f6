import { name } from '../catalogue/primitives.js';
import { type Claim, claim as claimSchema } from '../catalogue/transfer.js';
import type { ImportAnswer } from '../catalogue/upkeep-answers.js';
import { canonicalJson } from '../domain/chain.js';
import { dispatchIdOf, fileIdOf, fileStream, sha256, uuidOf } from '../domain/ids.js';
import { type ClaimedDispatch, importClaim } from '../domain/import-claim.js';
import { patternFromCaller } from '../verifier/patterns.js';
import { InvalidField } from './errors.js';
import type { FileHistories } from './file-histories.js';
import { shortKey } from './file-history.js';
import type { CommandHandling } from './handle-command.js';
import { BadLine, linesOf, parseLine } from './lines.js';
import type { Payloads } from './payloads.js';
import type { EventLog } from './ports.js';

export interface ClaimsOf {
  repo: string;
  model: string;
  frontier?: string;
}

/** Takes claim records into the log, each as one dispatch, beside whatever is known of its file. */
export class ClaimImport {
  constructor(
    private readonly handling: CommandHandling,
    private readonly histories: FileHistories,
    private readonly payloads: Payloads,
    private readonly log: EventLog,
  ) {}

  /**
   * A claim is stored whole or not at all, and once: ids follow from what it says, from the models, and from how often the same was said
   * before it in this import. Throws {@link BadLine}, which says what was stored.
   */
  async take(chunks: AsyncIterable<Uint8Array>, of: ClaimsOf): Promise<ImportAnswer> {
    const seen = new Map<string, number>();
    const answer = { lines: 0, read: 0, stored: 0, found: 0 };
    try {
      for await (const line of linesOf(chunks)) {
        answer.lines = line.number;
        const claim = parseLine(line, claimSchema);
        if (claim.frontier_verdict != null && of.frontier === undefined)
          throw new InvalidField(
            'frontier',
            `is required: line ${line.number} has a frontier_verdict and does not say whose. ${told(answer)}`,
          );
        const said = sha256(canonicalJson([of.repo, of.model, of.frontier ?? null, claim])).slice(0, 20);
        const times = (seen.get(said) ?? 0) + 1;
        seen.set(said, times);
        answer.read += 1;
        if (await this.takeOne(claim, of, `${said}n${times}`)) answer.stored += 1;
        else answer.found += 1;
      }
    } catch (error) {
      if (error instanceof BadLine) error.stored = told(answer);
      throw error;
    }
    return { format: 'claims', ...answer, commit: await this.log.head() };
  }

  /** False where it was there before. */
  private async takeOne(claim: Claim, { repo, model, frontier }: ClaimsOf, unique: string): Promise<boolean> {
    const where = { repo, targetFile: claim.target_file };
    const fileId = fileIdOf(repo, claim.target_file);
    const stream = fileStream(fileId);
    const dispatchId = dispatchIdOf(fileId, unique);
    const idempotencyKey = `claim ${dispatchId}`;
    if (await this.histories.look(stream, ({ keys }) => keys.has(shortKey(idempotencyKey)))) return false;
    const texts = this.payloads.collect();
    const dispatch: ClaimedDispatch = {
      ...{ dispatchId, model, attempts: claim.attempts, passed: claim.final_verdict === 'pass' },
      taskId: name.safeParse(claim.task).success ? claim.task : sha256(claim.task),
      ...{ description: texts.keep(claim.task), descriptionHash: sha256(claim.task) },
      patterns: patternsOf(claim.error_pattern, claim.root_cause),
      infraKind: infraKindOf(claim.infra_error),
      frontier:
        claim.frontier_verdict == null ? null : { model: frontier!, verdict: claim.frontier_verdict, patterns: frontierPatterns(claim) },
    };
    await this.handling.handle({
      ...{ stream, where, dispatchId, texts },
      call: { actor: 'import', bodyHash: sha256(canonicalJson(claim)), idempotencyKey },
      commandId: () => uuidOf('claim', dispatchId),
      decide: (state, context) => importClaim(state, dispatch, context),
    });
    return true;
  }
}

function frontierPatterns(claim: Claim): ReturnType<typeof patternsOf> {
  return claim.frontier_verdict === 'fail' ? patternsOf(claim.frontier_error_pattern, null) : [];
}

/** The root cause names the category where the pattern's code does not. */
function patternsOf(text: string | null | undefined, rootCause: string | null | undefined) {
  const found = text == null ? null : patternFromCaller(text);
  if (found === null) return [];
  const { pattern, code, category, file } = found;
  const named =
    rootCause == null
      ? ''
      : rootCause
          .trim()
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, '_')
          .slice(0, 40);
  return [{ pattern, code, category: category === 'unknown' && named !== '' ? named : category, file }];
}

function infraKindOf(said: Claim['infra_error']): string | null {
  if (said == null || said === false || said === '') return null;
  return said === true || !name.safeParse(said).success ? 'unknown' : said;
}

function told({ stored, found }: { stored: number; found: number }): string {
  return `Of the claims before it, ${stored} were stored and ${found} were there already; the same claims may be sent again.`;
}
