import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What an operator watches, in Prometheus' terms. One registry a service. */
export class Metrics {
  readonly registry = new Registry();

  readonly decisions = new Counter({
    name: 'anvil_decisions_total',
    help: 'Commands that were answered with a decision, by step and rule.',
    labelNames: ['step', 'rule'],
    registers: [this.registry],
  });

  readonly appends = new Histogram({
    name: 'anvil_append_seconds',
    help: 'Time that the event store took for an append of a command.',
    buckets: [0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.25, 1, 10],
    registers: [this.registry],
  });

  readonly conflicts = new Counter({
    name: 'anvil_append_conflicts_total',
    help: 'Appends that another instance was faster than; each was decided again.',
    registers: [this.registry],
  });

  readonly folds = new Counter({
    name: 'anvil_folds_total',
    help: 'States that commands and queries began from: kept in memory, from a stored snapshot, or from the start of the stream.',
    labelNames: ['from'],
    registers: [this.registry],
  });

  readonly cachedStreams = new Gauge({
    name: 'anvil_cached_streams',
    help: 'Streams whose state is kept in memory.',
    registers: [this.registry],
  });

  readonly leading = new Gauge({
    name: 'anvil_leading',
    help: '1 while this instance runs the projections and the saga.',
    registers: [this.registry],
  });

  readonly lagEvents = new Gauge({
    name: 'anvil_projection_lag_events',
    help: 'Events of files that the read models have not seen, counted up to 1,000.',
    registers: [this.registry],
  });

  readonly lagSeconds = new Gauge({
    name: 'anvil_projection_lag_seconds',
    help: 'Age of the oldest event of a file that the read models have not seen.',
    registers: [this.registry],
  });

  readonly parkedEvents = new Gauge({
    name: 'anvil_parked_events',
    help: 'Events that a projection or the saga could not take in, one a file at most; later ones of the file wait behind it.',
    labelNames: ['follower'],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}
