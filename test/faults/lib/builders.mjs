import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { refusedCalls } from './refusals.mjs';
import { cargoText, PATTERNS, size, text } from './texts.mjs';

const MODEL = 'builder-9b';
const FRONTIER = 'frontier-1';
/** What ends by itself while everything is looked at would look like something lost; a run of 200 kills outlasts the lease of a default. */
const LEASE_SECONDS = 86_400;

/** One simulated builder: takes a task, works on it as it is told, and sometimes behaves as builders do. */
export class Builder {
  constructor({ client, ledger, random, files, loadOf, name }) {
    Object.assign(this, { client, ledger, random, files, loadOf, name });
    this.works = 0;
  }

  async work(stopped) {
    while (!stopped()) {
      this.works += 1;
      const load = this.loadOf();
      if (load === 'long' && this.random.chance(0.85)) await this.keepFailing();
      else if (load === 'leases' && this.random.chance(0.4)) await this.walkAway();
      else await this.task(load);
      if (this.random.chance(0.3)) await this.repeatSomething();
      if (this.random.chance(0.1)) for (const call of refusedCalls(this)) await this.command(call);
    }
  }

  /** Every command goes through here: with a key, and repeated until answered. */
  command({ giveUp = 0, ...call }) {
    return this.client.until(this.ledger.begin({ method: 'POST', key: call.key ?? randomUUID(), ...call }), { giveUp });
  }

  open(file, taskId, extra = {}) {
    const description = `Do ${taskId} in ${file.targetFile}`;
    const body = {
      ...file,
      task: { id: taskId, description },
      model: MODEL,
      frontier: FRONTIER,
      budget: 4,
      leaseSeconds: LEASE_SECONDS,
      ...extra,
    };
    return this.command({ what: `open ${taskId}`, kind: 'open', path: '/v1/dispatches', body, file, giveUp: 0.05 });
  }

  async task(load) {
    const file = this.random.pick(this.files.some);
    const taskId = this.random.chance(0.7) ? `task-${this.name}-${this.works}` : `task-shared-${this.random.between(1, 5)}`;
    const other = this.random.pick(this.files.some);
    const several = this.random.chance(0.2) && other !== file ? { targetFiles: [file.targetFile, other.targetFile] } : {};
    const opened = await this.open(file, taskId, { force: this.random.chance(0.4), ...several });
    if (opened === null) return;
    const { dispatchId, proposal, next } = opened.body;
    if (dispatchId === null) {
      if (proposal) await this.resolve(file, proposal.proposalId);
      return;
    }
    await this.attempts(file, dispatchId, taskId, load, next);
  }

  async attempts(file, dispatchId, taskId, load, first) {
    for (let [attempt, next] = [1, first]; attempt <= 5; attempt += 1) {
      const path = `/v1/dispatches/${dispatchId}`;
      if (this.random.chance(0.06)) {
        const body = { reason: 'had enough' };
        await this.command({ what: `abandon ${dispatchId}`, kind: 'abandon', path: `${path}/abandon`, body, file });
        return;
      }
      if (this.random.chance(0.15))
        await this.command({ what: `heartbeat ${dispatchId}`, kind: 'heartbeat', path: `${path}/heartbeat`, body: {}, file });
      const byFrontier = next.step === 'escalate';
      const body = { ...this.outcome(`${taskId} ${attempt}`, load), ...(byFrontier && { model: FRONTIER }) };
      const [what, kind] = byFrontier ? ['frontier outcome', 'frontier-outcomes'] : ['attempt', 'attempts'];
      const answer = await this.command({ what: `${what} of ${dispatchId}`, kind, path: `${path}/${kind}`, body, file, giveUp: 0.05 });
      if (answer === null || answer.status >= 400) return;
      const { proposal } = answer.body;
      if (proposal && this.random.chance(0.7)) await this.resolve(file, proposal.proposalId);
      next = answer.body.next;
      if (next.terminal) return;
    }
  }

  /** What a generation brought: judged by the caller or by what the verifier said. */
  outcome(what, load) {
    const marker = `${what} ${randomUUID()}`;
    const texts = { output: text(this.random, marker, size(this.random, load)) };
    if (this.random.chance(0.5))
      texts.diff = `--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-old\n+${text(this.random, marker, 3_000)}\n`;
    if (this.random.chance(0.2)) texts.prompt = text(this.random, `prompt of ${marker}`, 2_600);
    const roll = this.random.next();
    const code = this.random.pick(PATTERNS);
    if (roll < 0.35) return { ...texts, verdict: 'pass' };
    if (roll < 0.38) return { ...texts, verdict: 'blocked', infraKind: 'lock' };
    if (roll < 0.7) return { ...texts, verifier: { tool: 'cargo', exitCode: 101, stderr: cargoText(this.random, code, marker) } };
    return { ...texts, verdict: 'fail', patterns: this.random.chance(0.3) ? [code, this.random.pick(PATTERNS)] : [code] };
  }

  /** Another builder may have been faster, or a newer output has taken its place. */
  resolve(file, proposalId) {
    const body = { resolution: this.random.pick(['accepted', 'rejected']) };
    const path = `/v1/proposals/${proposalId}/resolve`;
    return this.command({ what: `resolve ${proposalId}`, kind: 'resolve', path, body, file, mayBeRefused: true });
  }

  /** Many small attempts on one file, whose stream gets long. */
  async keepFailing() {
    const file = this.files.long;
    const opened = await this.open(file, `long-${this.name}-${this.works}`, { force: true, budget: 1000 });
    if (!opened?.body.dispatchId) return;
    const path = `/v1/dispatches/${opened.body.dispatchId}`;
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const body = { output: `// ${randomUUID()}`, verdict: 'fail', patterns: [this.random.pick(PATTERNS)] };
      await this.command({ what: 'attempt on the long file', kind: 'attempts', path: `${path}/attempts`, body, file });
    }
    await this.command({ what: 'abandon', kind: 'abandon', path: `${path}/abandon`, body: {}, file });
  }

  /** A builder that is gone: its lease runs out, and the result that it had after all comes late. */
  async walkAway() {
    const file = this.random.pick(this.files.some);
    const taskId = `away-${this.name}-${this.works}`;
    const opened = await this.open(file, taskId, { leaseSeconds: 1, force: true });
    if (!opened?.body.dispatchId) return;
    await sleep(this.random.between(900, 2_500));
    const path = `/v1/dispatches/${opened.body.dispatchId}/attempts`;
    await this.command({ what: `attempt that may be late`, kind: 'attempts', path, body: this.outcome(taskId, 'mixed'), file });
  }

  /** An old call once more, under its key: it must be answered as it was. */
  async repeatSomething() {
    const { calls } = this.ledger;
    const entry = this.random.chance(0.5) ? calls.at(-this.random.between(1, Math.min(60, calls.length))) : this.random.pick(calls);
    // What the stream's whole length is read for is repeated seldom.
    if (entry?.state !== 'acknowledged' || (entry.file === this.files.long && this.random.chance(0.95))) return;
    await this.client.until(entry);
  }
}
