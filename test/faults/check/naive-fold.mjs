/** The read models again, from domain.md and api.md, over the events of one file in order: slow, plain, and of the product's making nothing. */
export function naiveFold(file, events) {
  const model = { file, histogram: new Map(), dispatches: new Map(), proposals: new Map(), pairs: [] };
  const memory = { attempts: new Map(), failedOfDispatch: new Map(), failedOfTask: new Map(), prompts: new Map() };
  for (const event of events) {
    countPatterns(model, event);
    followDispatch(model, event);
    followProposal(model, event);
    derivePair(model, memory, event);
  }
  return model;
}

function countPatterns({ histogram, file }, { type, data }) {
  if (type !== 'VerdictReached' || data.verdict !== 'fail') return;
  const distinct = new Map(data.patterns.map((pattern) => [pattern.code ?? pattern.pattern, pattern]));
  for (const [identity, { pattern, code, category }] of distinct) {
    const key = JSON.stringify([identity, data.seat, data.model]);
    const row = histogram.get(key) ?? {
      ...file,
      pattern,
      code,
      category,
      seat: data.seat,
      model: data.model,
      attempts: 0,
      firstSeen: data.at,
    };
    histogram.set(key, { ...row, attempts: row.attempts + 1, lastSeen: data.at });
  }
}

function followDispatch({ dispatches }, { type, data }) {
  if (type === 'DispatchOpened') {
    const { dispatchId, repo, targetFile, taskId, model, frontier, budget, cold, leaseUntil, at } = data;
    const opened = { dispatchId, repo, targetFile, taskId, model, frontier, budget, cold, leaseUntil, openedAt: at };
    dispatches.set(dispatchId, { ...opened, attempts: 0, status: 'open', outcome: null, step: null, rule: null, closedAt: null });
    return;
  }
  const dispatch = dispatches.get(data.dispatchId);
  if (dispatch === undefined) return;
  if (type === 'AttemptRecorded' && data.seat === 'builder') dispatch.attempts += 1;
  if (['AttemptRecorded', 'LeaseRenewed', 'HistoryInjected'].includes(type) && data.leaseUntil !== null)
    dispatch.leaseUntil = data.leaseUntil;
  if (type === 'NextStepDecided') Object.assign(dispatch, { step: data.step, rule: data.rule });
  if (type === 'DispatchClosed') Object.assign(dispatch, { status: 'closed', outcome: data.outcome, closedAt: data.at });
}

function followProposal({ proposals }, { type, data }) {
  if (type === 'ProposalStaged') {
    const { proposalId, dispatchId, attemptId, taskId, seat, output, diff, at } = data;
    proposals.set(proposalId, {
      proposalId,
      dispatchId,
      attemptId,
      taskId,
      seat,
      output,
      diff,
      status: 'pending',
      stagedAt: at,
      resolvedAt: null,
    });
  }
  if (type === 'ProposalResolved') Object.assign(proposals.get(data.proposalId), { status: data.resolution, resolvedAt: data.at });
}

/** Chosen: what passed. Rejected: the builder's last failure of the dispatch, for a frontier's pass else the task's newest earlier one. */
function derivePair(model, memory, { type, data, eventId }) {
  const { attemptId, dispatchId, taskId } = data;
  if (type === 'DispatchOpened') memory.prompts.set(dispatchId, data.prompt ?? data.description);
  if (type === 'AttemptRecorded') memory.attempts.set(attemptId, { output: data.output, prompt: data.prompt });
  if (type === 'VerdictReached') {
    const attempt = memory.attempts.get(attemptId);
    attempt.verdictEventId = eventId;
    if (data.seat === 'builder' && data.verdict === 'fail') {
      const failed = { attemptId, verdictEventId: eventId, output: attempt.output };
      // Only a dispatch that was opened here has a memory of its own; imported attempts have none.
      if (memory.prompts.has(dispatchId)) memory.failedOfDispatch.set(dispatchId, failed);
      memory.failedOfTask.set(taskId, failed);
    }
    if (data.seat === 'builder' && data.verdict === 'pass')
      pair(model, memory, data, memory.failedOfDispatch.get(dispatchId), 'self_correction');
  }
  if (type === 'FrontierOutcomeRecorded' && data.verdict === 'pass') {
    const failed = memory.failedOfDispatch.get(dispatchId) ?? memory.failedOfTask.get(taskId);
    pair(model, memory, data, failed, data.ledBy?.kind === 'per_file' ? 'multi_pattern' : 'single_pattern');
  }
}

function pair({ pairs }, { attempts, prompts }, { attemptId, dispatchId, taskId, at }, failed, kind) {
  const chosen = attempts.get(attemptId);
  if (failed === undefined || JSON.stringify(chosen.output) === JSON.stringify(failed.output)) return;
  pairs.push({
    ...{ chosenAttemptId: attemptId, rejectedAttemptId: failed.attemptId, dispatchId, taskId, kind, at },
    ...{ chosenVerdictEventId: chosen.verdictEventId, rejectedVerdictEventId: failed.verdictEventId },
    ...{ chosen: chosen.output, rejected: failed.output, prompt: chosen.prompt ?? prompts.get(dispatchId) ?? null },
  });
}
